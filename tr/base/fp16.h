#pragma once

#include <bit>
#include <cstdint>

namespace tr {

/// A binary16 number of IEEE 754. A storage type; arithmetic happens in float.
struct Fp16 {
  std::uint16_t bits = 0;

  friend constexpr bool operator==(const Fp16&, const Fp16&) = default;
};

/// Rounds to nearest, ties to even; what is 65520 or more becomes infinite. A NaN stays a NaN: its payload is cut and
/// the quiet bit set.
constexpr Fp16 to_fp16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const auto signed_half = [sign](std::uint32_t half) { return Fp16{static_cast<std::uint16_t>(sign | half)}; };
  if (magnitude > 0x7f800000U) return signed_half(0x7e00U | ((magnitude >> 13) & 0x3ffU));
  if (magnitude >= 0x477ff000U) return signed_half(0x7c00U);
  constexpr std::uint32_t smallest_normal = 0x38800000U;
  if (magnitude >= smallest_normal) {
    const std::uint32_t round = 0xfffU + ((magnitude >> 13) & 1U);
    return signed_half((magnitude + round - 0x38000000U) >> 13);
  }
  // Below, a half counts units of 2^-24: the significand, shifted.
  const std::uint32_t shift = 126U - (magnitude >> 23);
  if (shift > 24U) return signed_half(0);
  const std::uint32_t significand = (magnitude & 0x7fffffU) | 0x800000U;
  const std::uint32_t units = significand >> shift;
  const std::uint32_t rest = significand & ((1U << shift) - 1U);
  const std::uint32_t middle = 1U << (shift - 1U);
  const bool up = rest > middle || (rest == middle && units % 2U == 1U);
  return signed_half(units + (up ? 1U : 0U));
}

constexpr float to_float(Fp16 value) {
  const std::uint32_t sign = std::uint32_t{value.bits & 0x8000U} << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 0x1fU;
  const std::uint32_t fraction = value.bits & 0x3ffU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  const std::uint32_t wide = exponent == 0x1fU ? 0xffU : exponent + 112U;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

}  // namespace tr
