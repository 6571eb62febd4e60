#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tr {

enum class DType : std::uint8_t { fp32, bf16, fp64, int32, uint8 };

constexpr std::size_t bytes_of(DType type) {
  switch (type) {
    case DType::fp32: return 4;
    case DType::bf16: return 2;
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
    case DType::fp64: return "fp64";
    case DType::int32: return "int32";
    case DType::uint8: return "uint8";
  }
  return "?";
}

/// What a run computes in; masters, statistics, losses and moments stay fp32 in both.
enum class Precision : std::uint8_t { fp32, bf16 };

constexpr std::string_view name_of(Precision precision) { return precision == Precision::fp32 ? "fp32" : "bf16"; }

}  // namespace tr
