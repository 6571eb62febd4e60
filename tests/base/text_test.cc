#include "tr/base/text.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "tr/base/shape.h"

namespace tr {

static_assert((TextBuilder() << "a" << 0 << -7 << 120).view() == "a0-7120");
static_assert(FixedText("abc").view() == "abc");
static_assert(FixedText("").empty());

TEST_CASE("numbers are written as std::to_string writes them") {
  for (std::int64_t v : {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
                         std::numeric_limits<std::int64_t>::max(), std::int64_t{10}, std::int64_t{99}}) {
    CHECK((TextBuilder() << v).view() == std::to_string(v));
  }
}

TEST_CASE("a text that does not fit is cut, never overrun") {
  TextBuilder text;
  for (int i = 0; i < 100; ++i) text << "0123456789";
  CHECK(text.size() == TextBuilder::capacity - 1);
}

TEST_CASE("a shape is written without the dimensions that say nothing") {
  TextBuilder text;
  append_sample_shape(text, {8, 28, 28, 1}) << " ";
  append_sample_shape(text, {8, 1, 1, 10});
  CHECK(text.view() == "28x28x1 10");
}

}  // namespace tr
