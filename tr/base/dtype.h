#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tr {

enum class DType : std::uint8_t { fp32, bf16, fp64, int32, uint8, fp16 };

constexpr std::size_t bytes_of(DType type) {
  switch (type) {
    case DType::fp32: return 4;
    case DType::bf16:
    case DType::fp16: return 2;
    case DType::fp64: return 8;
    case DType::int32: return 4;
    case DType::uint8: return 1;
  }
  return 0;
}

constexpr std::string_view name_of(DType type) {
  switch (type) {
    case DType::fp32: return "fp32";
    case DType::bf16: return "bf16";
    case DType::fp16: return "fp16";
    case DType::fp64: return "fp64";
    case DType::int32: return "int32";
    case DType::uint8: return "uint8";
  }
  return "?";
}

/// What a run computes in; masters, statistics, losses and moments stay fp32 in all. fp16 needs a GPU.
enum class Precision : std::uint8_t { fp32, bf16, fp16 };

/// The type of features, and of weights where they meet features.
constexpr DType feature_dtype(Precision precision) {
  switch (precision) {
    case Precision::fp32: return DType::fp32;
    case Precision::bf16: return DType::bf16;
    case Precision::fp16: return DType::fp16;
  }
  return DType::fp32;
}

constexpr std::string_view name_of(Precision precision) { return name_of(feature_dtype(precision)); }

}  // namespace tr
