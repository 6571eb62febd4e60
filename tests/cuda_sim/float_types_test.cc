#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace {

/// Checks the conversions of a 16-bit type against its definition: the nearest number, ties to the even bits.
template <class Back, class To>
void check_rounding(Back value, To bits, std::uint16_t infinity) {
  for (std::uint32_t at = 0; at < infinity; ++at) {
    const float here = value(static_cast<std::uint16_t>(at)), next = value(static_cast<std::uint16_t>(at + 1));
    REQUIRE(bits(here) == at);
    REQUIRE(bits(-here) == (at | 0x8000U));
    if (at + 1 == infinity) break;
    const float middle = static_cast<float>((static_cast<double>(here) + next) / 2);
    REQUIRE(bits(middle) == at + at % 2);
    REQUIRE(bits(std::nextafter(middle, 0.0F)) == at);
    REQUIRE(bits(std::nextafter(middle, next)) == at + 1);
  }
  const float largest = value(static_cast<std::uint16_t>(infinity - 1));
  CHECK(bits(std::numeric_limits<float>::infinity()) == infinity);
  CHECK(bits(largest) == infinity - 1);
  CHECK(bits(std::numeric_limits<float>::quiet_NaN()) == 0x7fff);
  CHECK(bits(-std::numeric_limits<float>::quiet_NaN()) == 0x7fff);
  CHECK(bits(std::bit_cast<float>(0x7f800001U)) == 0x7fff);
  CHECK(std::isnan(value(static_cast<std::uint16_t>(infinity + 1))));
}

}  // namespace

TEST_CASE("binary16 rounds to nearest even at every boundary and keeps NaN") {
  check_rounding([](std::uint16_t bits) { return __half2float(__ushort_as_half(bits)); },
                 [](float x) { return __half_as_ushort(__float2half_rn(x)); }, 0x7c00);
  CHECK(__half_as_ushort(__float2half_rn(65519.996F)) == 0x7bff);
  CHECK(__half_as_ushort(__float2half_rn(65520.0F)) == 0x7c00);
}

TEST_CASE("bfloat16 rounds to nearest even at every boundary and keeps NaN") {
  check_rounding([](std::uint16_t bits) { return __bfloat162float(__ushort_as_bfloat16(bits)); },
                 [](float x) { return __bfloat16_as_ushort(__float2bfloat16_rn(x)); }, 0x7f80);
}
