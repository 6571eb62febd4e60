#pragma once

#include <bit>
#include <cstdint>

namespace cuda_sim {

/// x in binary16: to nearest, ties to even; every NaN becomes 0x7fff, as the hardware's conversion has it.
constexpr std::uint16_t half_bits(float x) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  bits &= 0x7fffffffU;
  if (bits > 0x7f800000U) return 0x7fff;
  if (bits >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);  // 65520 and above
  const std::uint32_t exponent = bits >> 23;
  if (exponent < 102) return static_cast<std::uint16_t>(sign);  // below half the smallest subnormal number
  const bool subnormal = exponent < 113;
  const std::uint32_t from = subnormal ? (bits & 0x7fffffU) | 0x800000U : bits - (112U << 23);
  const std::uint32_t shift = subnormal ? 126 - exponent : 13;
  const std::uint32_t rest = from & ((1U << shift) - 1), tie = 1U << (shift - 1);
  std::uint32_t result = from >> shift;
  if (rest > tie || (rest == tie && (result & 1U) != 0)) ++result;
  return static_cast<std::uint16_t>(sign | result);
}

/// The binary16 number as float: exact.
constexpr float half_value(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16, exponent = (half >> 10) & 31U, fraction = half & 0x3ffU;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

/// x in bfloat16: to nearest, ties to even; every NaN becomes 0x7fff, as the hardware's conversion has it.
constexpr std::uint16_t bfloat16_bits(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

/// The bfloat16 number as float: exact.
constexpr float bfloat16_value(std::uint16_t bfloat16) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bfloat16) << 16);
}

}  // namespace cuda_sim
