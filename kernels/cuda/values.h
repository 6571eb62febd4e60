#pragma once

#include <cstdint>

namespace tr::cuda {

/// What a tensor of features, gradients or weights may consist of. Arithmetic is always in fp32.
enum class FloatType : std::uint8_t { fp32, bf16, fp16 };

constexpr std::int64_t bytes_of(FloatType type) { return type == FloatType::fp32 ? 4 : 2; }

/// Numbers in the device's memory, to read; null means absent. A kernel that takes any type needs one signature.
struct ConstValues {
  const void* data = nullptr;
  FloatType type = FloatType::fp32;
};

/// Numbers in the device's memory, to write; null means absent.
struct Values {
  void* data = nullptr;
  FloatType type = FloatType::fp32;

  // A kernel that changes numbers in place also reads them.
  constexpr operator ConstValues() const { return {data, type}; }  // NOLINT: meant to convert
};

}  // namespace tr::cuda
