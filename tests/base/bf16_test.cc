#include "tr/base/bf16.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace tr {
namespace {

float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

static_assert(to_bf16(1.0F).bits == 0x3f80);
static_assert(to_float(Bf16{0xc000}) == -2.0F);

TEST_CASE("each of the 2^16 numbers survives the way to float and back") {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const Bf16 value{static_cast<std::uint16_t>(i)};
    const float wide = to_float(value);
    // A NaN comes back as a quiet one.
    const std::uint32_t expected = std::isnan(wide) ? i | 0x40U : i;
    REQUIRE(to_bf16(wide).bits == expected);
  }
}

TEST_CASE("between two neighbours the nearer one is taken, half way the even one") {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    if ((i & 0x7fffU) >= 0x7f80U) continue;
    const std::uint32_t base = i << 16;
    const std::uint32_t even = i + (i & 1U);
    REQUIRE(to_bf16(float_of(base + 1)).bits == i);
    REQUIRE(to_bf16(float_of(base + 0x7fff)).bits == i);
    REQUIRE(to_bf16(float_of(base + 0x8000)).bits == even);
    REQUIRE(to_bf16(float_of(base + 0x8001)).bits == i + 1);
    REQUIRE(to_bf16(float_of(base + 0xffff)).bits == i + 1);
  }
}

TEST_CASE("what lies beyond the largest number becomes infinity, and infinity stays") {
  CHECK(to_bf16(std::numeric_limits<float>::max()).bits == 0x7f80);
  CHECK(to_bf16(-std::numeric_limits<float>::max()).bits == 0xff80);
  CHECK(to_bf16(std::numeric_limits<float>::infinity()).bits == 0x7f80);
  CHECK(to_bf16(-std::numeric_limits<float>::infinity()).bits == 0xff80);
}

TEST_CASE("a NaN whose payload lies in the lower half alone stays a NaN of the same sign") {
  for (std::uint32_t bits : {0x7f800001U, 0x7f80ffffU, 0xff800001U, 0x7fffffffU, 0xffffffffU, 0x7fc00000U}) {
    const Bf16 value = to_bf16(float_of(bits));
    CHECK(std::isnan(to_float(value)));
    CHECK((value.bits >> 15) == (bits >> 31));
  }
}

TEST_CASE("the sign of zero is kept") {
  CHECK(to_bf16(0.0F).bits == 0x0000);
  CHECK(to_bf16(-0.0F).bits == 0x8000);
}

}  // namespace
}  // namespace tr
