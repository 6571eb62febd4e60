#include "tr/base/fp16.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace tr {
namespace {

constexpr std::uint32_t infinity = 0x7c00;

static_assert(to_fp16(1.0F).bits == 0x3c00);
static_assert(to_fp16(65504.0F).bits == 0x7bff);
static_assert(to_fp16(0x1p-24F).bits == 1);
static_assert(to_float(Fp16{0xc000}) == -2.0F);
static_assert(to_float(Fp16{0x0400}) == 0x1p-14F);

Fp16 half_of(std::uint32_t bits) { return {static_cast<std::uint16_t>(bits)}; }

}  // namespace

TEST_CASE("each of the 2^16 numbers survives the way to float and back") {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const float wide = to_float(half_of(i));
    // A NaN comes back as a quiet one.
    const std::uint32_t expected = std::isnan(wide) ? i | 0x200U : i;
    REQUIRE(to_fp16(wide).bits == expected);
    REQUIRE(std::isnan(wide) == ((i & 0x7fffU) > infinity));
  }
}

TEST_CASE("between two neighbours the nearer one is taken, half way the even one") {
  for (const std::uint32_t sign : {0U, 0x8000U}) {
    for (std::uint32_t i = 0; i < infinity - 1; ++i) {
      const float low = to_float(half_of(sign | i));
      const float high = to_float(half_of(sign | (i + 1)));
      // Neighbours have at most 11 bits and their middle one more, so it is exact.
      const float middle = low + (high - low) / 2.0F;
      REQUIRE(to_fp16(middle).bits == (sign | (i + (i & 1U))));
      REQUIRE(to_fp16(std::nextafter(middle, low)).bits == (sign | i));
      REQUIRE(to_fp16(std::nextafter(middle, high)).bits == (sign | (i + 1)));
    }
  }
}

TEST_CASE("what lies beyond the largest number becomes infinite from half a step on, and infinity stays") {
  CHECK(to_fp16(65519.996F).bits == 0x7bff);
  CHECK(to_fp16(65520.0F).bits == infinity);
  CHECK(to_fp16(-std::numeric_limits<float>::max()).bits == (0x8000 | infinity));
  CHECK(to_fp16(std::numeric_limits<float>::infinity()).bits == infinity);
}

TEST_CASE("what lies below half the smallest number becomes a zero of its sign") {
  CHECK(to_fp16(0x1p-25F).bits == 0);
  CHECK(to_fp16(std::nextafter(0x1p-25F, 1.0F)).bits == 1);
  CHECK(to_fp16(-0x1p-26F).bits == 0x8000);
  CHECK(to_fp16(std::numeric_limits<float>::denorm_min()).bits == 0);
}

TEST_CASE("a NaN whose payload lies in the lower bits alone stays a NaN of the same sign") {
  for (const std::uint32_t bits : {0x7f800001U, 0xff800001U, 0x7fffffffU, 0x7fc00000U}) {
    const Fp16 value = to_fp16(std::bit_cast<float>(bits));
    CHECK(std::isnan(to_float(value)));
    CHECK((value.bits >> 15) == (bits >> 31));
  }
}

}  // namespace tr
