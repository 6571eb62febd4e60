#include "tr/base/aligned.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>

#include "tr/base/error.h"

namespace tr {
namespace {

static_assert(align_up(0) == 0);
static_assert(align_up(1) == 256);
static_assert(align_up(256) == 256);
static_assert(align_up(257) == 512);

TEST_CASE("a buffer starts on its boundary and is zeroed") {
  for (std::size_t bytes : {std::size_t{1}, std::size_t{255}, std::size_t{256}, std::size_t{100000}}) {
    const AlignedBuffer buffer(bytes);
    CHECK(buffer.size() == bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % alignment == 0);
    CHECK(std::ranges::all_of(buffer.bytes(), [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST_CASE("memory that cannot be had is an error that names the size") {
  constexpr std::size_t bytes = std::numeric_limits<std::size_t>::max() / 4;
  CHECK_THROWS_AS(AlignedBuffer{bytes}, Error);
  try {
    const AlignedBuffer buffer(bytes);
  } catch (const Error& error) {
    CHECK(std::string_view(error.what()).find("4611686018427387903") != std::string_view::npos);
  }
}

}  // namespace
}  // namespace tr
