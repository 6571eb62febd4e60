#include "kernels/cpu/cast.h"

#include <doctest/doctest.h>

#include <bit>

#include "tests/kernels/cpu/testing.h"

namespace tr::cpu {

using testing::for_each_target;
using testing::infinity;
using testing::nan;
using testing::rounded;
using testing::widths;

TEST_CASE("rounding to bf16 agrees with to_bf16 around all 65536 boundaries") {
  std::vector<float> values;
  for (std::uint32_t upper = 0; upper < 0x10000U; ++upper) {
    // Exact, just above, just below and on the tie, just above the tie, and the last before the next number.
    for (std::uint32_t lower : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  }
  const std::vector<Bf16> expected = rounded(values);
  for_each_target([&](const std::string& target) {
    CAPTURE(target);
    std::vector<Bf16> result(values.size());
    cast_to_bf16(values.data(), result.data(), static_cast<std::int64_t>(values.size()));
    CHECK(result == expected);
  });
}

TEST_CASE("the tail of a cast is rounded like its body, and nothing is written beyond") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (int count : widths) {
      const std::vector<float> values(static_cast<std::size_t>(count), 1.00390625F);
      std::vector<Bf16> result(static_cast<std::size_t>(count) + 1, Bf16{0x1234});
      cast_to_bf16(values.data(), result.data(), count);
      CHECK(result.back() == Bf16{0x1234});
      result.pop_back();
      CHECK(result == rounded(values));
    }
  });
}

TEST_CASE("one infinity or NaN in any place is found, the largest and smallest numbers are not") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (std::size_t place = 0; place < 37; ++place) {
      for (float value : {3.4e38F, -3.4e38F, 1e-40F, 0.0F}) {
        std::vector<float> values(37, 1.0F);
        values[place] = value;
        CHECK(all_finite(values.data(), 37));
        CHECK(all_finite(rounded({value > 3.3e38F ? 3.3e38F : 1.0F}).data(), 1));
      }
      for (float value : {infinity, -infinity, nan, -nan}) {
        std::vector<float> values(37, 1.0F);
        values[place] = value;
        CHECK_FALSE(all_finite(values.data(), 37));
        CHECK_FALSE(all_finite(rounded(values).data(), 37));
      }
    }
    CHECK(all_finite(static_cast<const float*>(nullptr), 0));
  });
}

}  // namespace tr::cpu
