#include "tr/base/shape.h"

#include <doctest/doctest.h>

#include <cstdint>

namespace tr {
namespace {

static_assert(Shape{}.size() == 1);
static_assert(Shape{8, 28, 28, 3}.size() == 8 * 28 * 28 * 3);
static_assert(Shape{8, 28, 28, 3}.sample_size() == 28 * 28 * 3);
static_assert(Shape{8, 28, 28, 3}.with_rows(5) == Shape{5, 28, 28, 3});
static_assert(Shape{8, 1, 1, 3}.is_flat() && !Shape{8, 1, 2, 3}.is_flat() && !Shape{8, 2, 1, 3}.is_flat());

TEST_CASE("a size beyond 2^32 is counted in 64 bits") {
  volatile int rows = 3000000;
  const Shape shape{rows, 1, 1, 2000};
  CHECK(shape.size() == std::int64_t{6000000000});
  CHECK(Shape{1, 65536, 65536, 1}.sample_size() == std::int64_t{1} << 32);
}

}  // namespace
}  // namespace tr
