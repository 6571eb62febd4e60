#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/cuda/status.h"
#include "kernels/cuda/values.h"
#include "tests/cuda_sim/control.h"
#include "tr/base/bf16.h"

namespace tr::cuda::testing {

inline constexpr FloatType float_types[] = {FloatType::fp32, FloatType::bf16, FloatType::fp16};

/// Starts the stand-in anew, and gives a stream; when it ends, nothing may have gone wrong.
class Simulated {
 public:
  Simulated() {
    cuda_sim::reset();
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
  }
  ~Simulated() {
    CHECK(cudaStreamSynchronize(stream_) == cudaSuccess);
    for (const std::string& finding : cuda_sim::findings()) {
      INFO(finding);
      CHECK(finding.empty());
    }
  }
  Simulated(const Simulated&) = delete;
  Simulated& operator=(const Simulated&) = delete;

  cudaStream_t stream() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// An array on the device; what stands behind it is watched.
template <class T>
class OnDevice {
 public:
  OnDevice(const Simulated& simulated, const std::vector<T>& values, std::size_t offset = 0)
      : stream_(simulated.stream()), size_(values.size()), offset_(offset) {
    std::vector<T> all(size_ + offset_ + guards, guard());
    for (std::size_t i = 0; i < size_; ++i) all[offset_ + i] = values[i];
    check(cudaMalloc(reinterpret_cast<void**>(&data_), all.size() * sizeof(T)), "an array");
    check(cudaMemcpy(data_, all.data(), all.size() * sizeof(T), cudaMemcpyHostToDevice), "an array");
  }
  OnDevice(const Simulated& simulated, T value) : OnDevice(simulated, std::vector<T>{value}) {}
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  T* data() const { return data_ + offset_; }
  std::vector<T> get() const {
    std::vector<T> all(size_ + offset_ + guards);
    check(cudaStreamSynchronize(stream_), "an array");
    check(cudaMemcpy(all.data(), data_, all.size() * sizeof(T), cudaMemcpyDeviceToHost), "an array");
    for (std::size_t i = offset_ + size_; i < all.size(); ++i) CHECK(all[i] == guard());
    return {all.begin() + static_cast<std::ptrdiff_t>(offset_),
            all.begin() + static_cast<std::ptrdiff_t>(offset_ + size_)};
  }
  T value() const { return get()[0]; }

 private:
  static constexpr std::size_t guards = 8;
  static T guard() { return T(77); }

  cudaStream_t stream_;
  T* data_ = nullptr;
  std::size_t size_;
  std::size_t offset_;
};

/// As it is stored in a type, and read again.
inline float rounded(float value, FloatType type) {
  if (type == FloatType::bf16) return to_float(to_bf16(value));
  if (type == FloatType::fp16) return __half2float(__float2half_rn(value));
  return value;
}

/// Numbers of any type on the device.
class Floats {
 public:
  Floats(const Simulated& simulated, FloatType type, const std::vector<float>& values, std::size_t offset = 0)
      : type_(type),
        wide_(simulated, type == FloatType::fp32 ? values : std::vector<float>{}, offset),
        narrow_(simulated, type == FloatType::fp32 ? std::vector<std::uint16_t>{} : bits_of(values, type), offset) {}

  Values values() const {
    return {type_ == FloatType::fp32 ? static_cast<void*>(wide_.data()) : static_cast<void*>(narrow_.data()), type_};
  }
  std::vector<float> get() const {
    if (type_ == FloatType::fp32) return wide_.get();
    std::vector<float> values;
    for (const std::uint16_t bits : narrow_.get()) {
      values.push_back(type_ == FloatType::bf16 ? to_float(Bf16{bits}) : __half2float(__ushort_as_half(bits)));
    }
    return values;
  }

 private:
  static std::vector<std::uint16_t> bits_of(const std::vector<float>& values, FloatType type) {
    std::vector<std::uint16_t> bits;
    for (const float v : values) {
      bits.push_back(type == FloatType::bf16 ? to_bf16(v).bits : __half_as_ushort(__float2half_rn(v)));
    }
    return bits;
  }

  FloatType type_;
  OnDevice<float> wide_;
  OnDevice<std::uint16_t> narrow_;
};

/// Normally distributed; every twentieth is special if asked for.
inline std::vector<float> random_floats(std::size_t count, unsigned seed, float sigma = 1.0F, bool special = false) {
  constexpr float specials[] = {NAN, INFINITY, -INFINITY, 0.0F, -0.0F, 1e38F, 1e-40F};
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0F, sigma);
  std::vector<float> values(count);
  for (float& v : values) v = special && generator() % 20 == 0 ? specials[generator() % 7] : normal(generator);
  return values;
}

inline std::vector<float> rounded(std::vector<float> values, FloatType type) {
  for (float& v : values) v = rounded(v, type);
  return values;
}

/// The same number, or both are NaN.
inline bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }
inline bool near(double a, double b, double relative, double absolute) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b)) + absolute;
}

/// Whether the arrays agree everywhere; says where they do not.
inline bool all_same(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (same(a[i], b[i])) continue;
    MESSAGE("element ", i, " is ", a[i], " and not ", b[i]);
    return false;
  }
  return true;
}
inline bool all_near(const std::vector<float>& a, const std::vector<float>& b, double relative, double absolute) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (near(a[i], b[i], relative, absolute)) continue;
    MESSAGE("element ", i, " is ", a[i], " and not ", b[i]);
    return false;
  }
  return true;
}

}  // namespace tr::cuda::testing
