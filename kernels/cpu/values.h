#pragma once

#include "tr/base/bf16.h"
#include "tr/base/dtype.h"

namespace tr::cpu {

/// A pointer to numbers that are fp32 or bf16, to read; null means absent. Pointers of both types convert to it, so a
/// kernel that takes either needs one signature.
struct ConstValues {
  const void* data = nullptr;
  DType dtype = DType::fp32;

  constexpr ConstValues() = default;
  constexpr ConstValues(const float* values) : data(values) {}                     // NOLINT: meant to convert
  constexpr ConstValues(const Bf16* values) : data(values), dtype(DType::bf16) {}  // NOLINT: meant to convert
  constexpr ConstValues(const void* values, DType type) : data(values), dtype(type) {}
  constexpr explicit operator bool() const { return data != nullptr; }
};

/// A pointer to numbers that are fp32 or bf16, to write; null means absent.
struct Values {
  void* data = nullptr;
  DType dtype = DType::fp32;

  constexpr Values() = default;
  constexpr Values(float* values) : data(values) {}                     // NOLINT: meant to convert
  constexpr Values(Bf16* values) : data(values), dtype(DType::bf16) {}  // NOLINT: meant to convert
  constexpr Values(void* values, DType type) : data(values), dtype(type) {}
  constexpr explicit operator bool() const { return data != nullptr; }
};

}  // namespace tr::cpu
