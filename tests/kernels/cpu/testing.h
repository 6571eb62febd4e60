#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/cpu/kernel.h"
#include "tr/base/bf16.h"

namespace tr::cpu::testing {

inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float infinity = std::numeric_limits<float>::infinity();

/// Row widths that take the vector body, its tail, or both, for every vector width.
inline const std::vector<int> widths = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 64, 513};

/// Normally distributed numbers, rounded to bf16 so that both types hold them exactly.
inline std::vector<float> random_values(std::int64_t count, unsigned seed, float sigma = 1.0F) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0F, sigma);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = to_float(to_bf16(normal(engine)));
  return values;
}

inline std::vector<Bf16> rounded(const std::vector<float>& values) {
  std::vector<Bf16> result;
  for (float v : values) result.push_back(to_bf16(v));
  return result;
}

inline std::vector<float> widened(const std::vector<Bf16>& values) {
  std::vector<float> result;
  for (Bf16 v : values) result.push_back(to_float(v));
  return result;
}

/// The largest distance between two vectors in units of `unit`; infinite where a number meets a NaN, or lengths differ.
template <class A, class B>
double distance(const std::vector<A>& a, const std::vector<B>& b, double unit) {
  if (a.size() != b.size()) return static_cast<double>(infinity);
  double worst = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a[i]);
    const auto y = static_cast<double>(b[i]);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double d = std::abs(x - y) / unit;
    worst = d > worst || std::isnan(d) ? d : worst;
    if (std::isnan(worst)) return static_cast<double>(infinity);
  }
  return worst;
}

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::fp32;
  if constexpr (std::is_same_v<T, Bf16>) return DType::bf16;
  if constexpr (std::is_same_v<T, double>) return DType::fp64;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::int32;
  return DType::uint8;
}

/// Where the gradients of all ranks start.
inline std::vector<const float*> addresses(const std::vector<std::vector<float>>& gradients) {
  std::vector<const float*> result;
  result.reserve(gradients.size());
  for (const auto& g : gradients) result.push_back(g.data());
  return result;
}

/// An operand over a vector. An empty one gets an address too, since only an absent operand has none.
template <class T>
Operand operand(std::vector<T>& values, const Shape& shape) {
  if (values.capacity() == 0) values.reserve(1);
  return {reinterpret_cast<std::byte*>(values.data()), shape, dtype_of<T>()};
}

/// Calls f(name) once for each instruction set that the kernels were compiled for and that this processor has.
void for_each_target(const std::function<void(const std::string&)>& f);

}  // namespace tr::cpu::testing
