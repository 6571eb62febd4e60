#include "tr/algo/fill.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "tests/base/near.h"
#include "tests/golden/initializers.h"
#include "tr/base/error.h"
#include "tr/base/philox.h"

namespace tr {
namespace {

std::vector<float> filled(const Shape& krsc, InitConfig config, std::uint64_t seed = 1, std::uint32_t id = 0) {
  std::vector<float> values(static_cast<std::size_t>(krsc.size()), -7.0F);
  fill(values, krsc, config, seed, id);
  return values;
}

constexpr Shape field{64, 3, 3, 128};

// I7
TEST_CASE("every uniform number, the ends included, becomes a finite normal one inside the limits") {
  for (double u : {0.0, 0x1p-32, 0x1p-25, 0.5, 1.0 - 0x1p-24, 1.0 - 0x1p-25, 1.0 - 0x1p-53, 1.0}) {
    CHECK(std::abs(normal_from(u)) <= 5.42);
    CHECK(std::abs(truncated_normal_from(u)) <= 2.0);
  }
  CHECK(normal_from(0.5) == 0.0);
  CHECK(near(normal_from(0.975), 1.959963984540054, 1e-14));
  CHECK(near(truncated_normal_from(0.0), -2.0, 1e-14));
  CHECK(near(truncated_normal_from(1.0), 2.0, 1e-14));
  CHECK(std::abs(truncated_normal_from(0.5)) < 1e-15);
}

TEST_CASE("quantiles of the truncated normal are those of PyTorch's special functions") {
  for (const auto& right : golden::truncated_quantiles) {
    CAPTURE(right.probability);
    CHECK(std::abs(truncated_normal_from(right.probability) - right.quantile) < 1e-13);
  }
}

TEST_CASE("an element is made of the word of its index in the stream of its parameter") {
  const Shape shape{5, 1, 1, 7};
  const auto normal = filled(shape, {0.5F, InitKind::fixed_normal, FanMode::fan_in}, 3, 4);
  const auto even = filled(shape, {0.5F, InitKind::kaiming_uniform, FanMode::fan_in}, 3, 4);
  const RandomStream stream(3, Purpose::init, 4);
  for (std::size_t i = 0; i < normal.size(); ++i) {
    const double u = uniform(stream.bits(i));
    CHECK(normal[i] == static_cast<float>(0.5 * normal_from(u)));
    CHECK(near(even[i], 0.5 * std::sqrt(3.0 / 7.0) * (2.0 * u - 1.0), 1e-6));
  }
}

constexpr InitKind filling_kinds[] = {InitKind::zeros,           InitKind::constants,     InitKind::kaiming_normal,
                                      InitKind::kaiming_uniform, InitKind::xavier_normal, InitKind::xavier_uniform,
                                      InitKind::trunc_normal,    InitKind::fixed_normal};

TEST_CASE("parts filled apart, in any order, hold the bits of the whole") {
  for (InitKind kind : filling_kinds) {
    const Shape shape{10, 1, 1, 103};
    const InitConfig config{0.5F, kind, FanMode::fan_in};
    const auto whole = filled(shape, config, 5, 9);
    std::vector<float> parts(whole.size(), -7.0F);
    const std::vector<std::int64_t> cuts{0, 1, 2, 7, 8, 8, 500, 1023, 1030};
    for (std::size_t i = cuts.size() - 1; i > 0; --i) {
      const std::int64_t count = cuts[i] - cuts[i - 1];
      const auto part =
          std::span(parts).subspan(static_cast<std::size_t>(cuts[i - 1]), static_cast<std::size_t>(count));
      fill_part(part, cuts[i - 1], shape, config, 5, 9);
    }
    CAPTURE(name_of(kind));
    CHECK(parts == whole);
  }
}

/// Parts of [0, size) that cover it, in a random order.
std::vector<std::pair<std::size_t, std::size_t>> random_parts(std::size_t size, std::mt19937& random) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  for (std::size_t first = 0; first < size;) {
    const std::size_t count = std::min<std::size_t>(random() % 97, size - first);
    parts.emplace_back(first, count);
    first += count;
  }
  std::ranges::shuffle(parts, random);
  return parts;
}

TEST_CASE("draws depend neither on the number of threads nor on how the elements are shared out") {
  const Shape shape{8, 3, 3, 41};
  std::mt19937 random(11);
  for (InitKind kind : filling_kinds) {
    const InitConfig config{0.5F, kind, FanMode::fan_avg};
    const auto whole = filled(shape, config, 5, 9);
    for (std::size_t threads : {1, 2, 5}) {
      const auto parts = random_parts(whole.size(), random);
      std::vector<float> values(whole.size(), -7.0F);
      const auto work = [&](std::size_t thread) {
        for (std::size_t i = thread; i < parts.size(); i += threads) {
          const auto [first, count] = parts[i];
          fill_part(std::span(values).subspan(first, count), static_cast<std::int64_t>(first), shape, config, 5, 9);
        }
      };
      std::vector<std::thread> pool;
      for (std::size_t thread = 0; thread < threads; ++thread) pool.emplace_back(work, thread);
      for (std::thread& thread : pool) thread.join();
      CAPTURE(name_of(kind));
      CAPTURE(threads);
      CHECK(values == whole);
    }
  }
}

TEST_CASE("an element beyond 2^33 has a draw of its own") {
  const Shape huge{1 << 20, 1, 1, 1 << 15};
  const InitConfig config{1.0F, InitKind::fixed_normal, FanMode::fan_in};
  std::vector<float> first(8);
  std::vector<float> far(8);
  fill_part(first, 0, huge, config, 1, 0);
  fill_part(far, std::int64_t{1} << 34, huge, config, 1, 0);
  CHECK(first != far);
  CHECK(far[5] == static_cast<float>(normal_from(uniform(RandomStream(1, Purpose::init, 0).bits((1ULL << 34) + 5)))));
}

TEST_CASE("constants are exact, and none leaves the memory alone") {
  const Shape shape{3, 1, 1, 5};
  CHECK(filled(shape, {0.1F, InitKind::constants, FanMode::fan_in}) == std::vector<float>(15, 0.1F));
  CHECK(filled(shape, {9.0F, InitKind::zeros, FanMode::fan_in}) == std::vector<float>(15, 0.0F));
  CHECK(filled(shape, {9.0F, InitKind::none, FanMode::fan_in}) == std::vector<float>(15, -7.0F));
}

TEST_CASE("fans count the connections of a KRSC weight") {
  CHECK(fan_of(field, FanMode::fan_in) == 128 * 9);
  CHECK(fan_of(field, FanMode::fan_out) == 64 * 9);
  CHECK(fan_of(field, FanMode::fan_avg) == 96 * 9);
  CHECK(fan_of({3, 1, 1, 4}, FanMode::fan_avg) == 3.5);
  CHECK(fan_of({1 << 16, 1 << 8, 1 << 8, 1 << 16}, FanMode::fan_out) == 0x1p32);
}

TEST_CASE("groups divide the connections: C is stored divided, K is not") {
  CHECK(fan_of(field, FanMode::fan_in, 4) == 128 * 9);
  CHECK(fan_of(field, FanMode::fan_out, 4) == 16 * 9);
  CHECK(fan_of(field, FanMode::fan_avg, 4) == 72 * 9);
  constexpr Shape depthwise{96, 3, 3, 1};
  for (FanMode mode : {FanMode::fan_in, FanMode::fan_out, FanMode::fan_avg}) CHECK(fan_of(depthwise, mode, 96) == 9);
  CHECK(near(spread_of({1.0F, InitKind::kaiming_normal, FanMode::fan_out}, depthwise, 96), 1.0 / 3.0, 1e-15));
  CHECK(near(spread_of({1.0F, InitKind::xavier_uniform, FanMode::fan_in}, depthwise, 96), std::sqrt(1.0 / 3.0), 1e-15));

  const InitConfig config{1.0F, InitKind::kaiming_uniform, FanMode::fan_out};
  std::vector<float> together(static_cast<std::size_t>(depthwise.size()));
  std::vector<float> apart = together;
  fill(together, depthwise, config, 1, 0);
  fill(apart, depthwise, config, 1, 0, 96);
  for (std::size_t i = 0; i < apart.size(); ++i) CHECK(near(apart[i], together[i] * std::sqrt(96.0), 1e-6));
}

TEST_CASE("groups that do not divide the outputs, and weights without elements, have no fan") {
  static_assert(fan_of({96, 1, 1, 1}, FanMode::fan_out, 96) == 1.0);
  for (int bad : {0, -1, -32, 5, 97, 192}) CHECK_THROWS_AS(fan_of({96, 1, 1, 1}, FanMode::fan_in, bad), ValueError);
  CHECK_THROWS_WITH(fan_of({96, 1, 1, 1}, FanMode::fan_in, 5),
                    "groups is 5, legal is a positive divisor of the output channels");
  CHECK_THROWS_WITH_AS(fan_of({0, 3, 3, 1}, FanMode::fan_in), "a weight of 0x3x3x1 has no elements, so it has no fan",
                       ShapeError);
  CHECK_THROWS_AS(fan_of({1, 0, 1, 1}, FanMode::fan_in), ShapeError);
  CHECK_THROWS_AS(fan_of({1, 1, -1, 1}, FanMode::fan_in), ShapeError);
  CHECK_THROWS_AS(fan_of({1, 1, 1, 0}, FanMode::fan_in), ShapeError);
  CHECK_THROWS_AS(fan_of({1, 1, 1, 1}, static_cast<FanMode>(3)), ValueError);
}

TEST_CASE("what is no way to fill a tensor is rejected with the parameter") {
  std::vector<float> values(4, -7.0F);
  CHECK_THROWS_WITH_AS(fill(values, {4, 1, 1, 1}, {1.0F, InitKind::zero_gamma, FanMode::fan_in}, 1, 4),
                       "parameter 4 is to be filled by zero_gamma (kind 10), legal is none to fixed_normal",
                       ValueError);
  CHECK_THROWS_AS(fill(values, {4, 1, 1, 1}, {1.0F, InitKind::standard, FanMode::fan_in}, 1, 4), ValueError);
  CHECK_THROWS_AS(fill(values, {4, 1, 1, 1}, {1.0F, static_cast<InitKind>(50), FanMode::fan_in}, 1, 4), ValueError);
  CHECK(values == std::vector<float>(4, -7.0F));
}

TEST_CASE("a range outside the tensor, or one of another size, is an error that names the parameter") {
  std::vector<float> values(10);
  const InitConfig config{1.0F, InitKind::zeros, FanMode::fan_in};
  CHECK_THROWS_WITH_AS(fill(values, {3, 1, 1, 3}, config, 1, 4), "parameter 4 has 9 elements, there is room for 10",
                       ShapeError);
  CHECK_THROWS_AS(fill(values, {11, 1, 1, 1}, config, 1, 4), ShapeError);
  CHECK_THROWS_WITH_AS(fill_part(values, 5, {1, 1, 1, 14}, config, 1, 4),
                       "the elements 5 to 15 are asked of parameter 4, which has 14", ShapeError);
  CHECK_THROWS_AS(fill_part(values, -1, {1, 1, 1, 14}, config, 1, 4), ShapeError);
  CHECK_NOTHROW(fill_part(values, 4, {1, 1, 1, 14}, config, 1, 4));
}

}  // namespace
}  // namespace tr
