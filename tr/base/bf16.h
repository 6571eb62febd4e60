#pragma once

#include <bit>
#include <cstdint>

namespace tr {

/// A bfloat16 number: the upper half of a binary32. A storage type; arithmetic happens in float.
struct Bf16 {
  std::uint16_t bits = 0;

  friend constexpr bool operator==(const Bf16&, const Bf16&) = default;
};

/// Rounds to nearest, ties to even. A NaN stays a NaN: its payload is cut and the quiet bit set, since cutting alone
/// could leave the bits of an infinity.
constexpr Bf16 to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return {static_cast<std::uint16_t>((bits >> 16) | 0x40U)};
  const std::uint32_t round = 0x7fffU + ((bits >> 16) & 1U);
  return {static_cast<std::uint16_t>((bits + round) >> 16)};
}

constexpr float to_float(Bf16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16); }

}  // namespace tr
