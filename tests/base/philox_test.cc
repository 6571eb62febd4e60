#include "tr/base/philox.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <initializer_list>

namespace tr {
namespace {

using Block = std::array<std::uint32_t, 4>;

// From kat_vectors of Random123, the reference implementation of the paper.
static_assert(philox({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
              Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

TEST_CASE("philox gives the published numbers at run time too") {
  volatile std::uint32_t word = 0x243f6a88;
  const Block counter{word, 0x85a308d3, 0x13198a2e, 0x03707344};
  CHECK(philox(counter, {0xa4093822, 0x299f31d0}) == Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a uniform number is never 0 and never 1, and its steps are 2^-24") {
  CHECK(uniform(0) == 0x1p-25);
  CHECK(uniform(255) == 0x1p-25);
  CHECK(uniform(256) == 0x3p-25);
  CHECK(uniform(0xffffffff) == 1.0 - 0x1p-25);
}

TEST_CASE("key and counter hold seed, element, step, purpose and id where the convention says") {
  const RandomStream stream(0x1122334455667788, Purpose::augment, 0xabcdef, 42);
  const Block expected = philox({0x89abcdef, 0x01234567, 42, 0x03abcdef}, {0x55667788, 0x11223344});
  CHECK(stream.block(0x0123456789abcdef) == expected);
  CHECK(RandomStream(7, Purpose::init, 3).block(5) == philox({5, 0, 0, 3}, {7, 0}));
}

TEST_CASE("the bits of an element are its word of the block") {
  const RandomStream stream(1, Purpose::shuffle, 2, 3);
  for (std::uint64_t element : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{4}, (std::uint64_t{1} << 40) + 2}) {
    CHECK(stream.bits(element) == stream.block(element / 4)[element % 4]);
  }
}

TEST_CASE("seed, purpose, id and step each change the draw") {
  const std::uint32_t base = RandomStream(1, Purpose::init, 0, 0).bits(0);
  CHECK(RandomStream(2, Purpose::init, 0, 0).bits(0) != base);
  CHECK(RandomStream(1 + (std::uint64_t{1} << 32), Purpose::init, 0, 0).bits(0) != base);
  CHECK(RandomStream(1, Purpose::dropout, 0, 0).bits(0) != base);
  CHECK(RandomStream(1, Purpose::init, 1, 0).bits(0) != base);
  CHECK(RandomStream(1, Purpose::init, 0, 1).bits(0) != base);
}

TEST_CASE("an id that would run into the purpose is rejected") {
  CHECK_NOTHROW(RandomStream(0, Purpose::init, 0xffffff));
  CHECK_THROWS_WITH_AS(RandomStream(0, Purpose::init, 0x1000000),
                       "the id of a random stream is 16777216, legal is 0 to 16777215", ValueError);
}

}  // namespace
}  // namespace tr
