#include "tr/algo/fill.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "tests/base/near.h"
#include "tr/base/error.h"

namespace tr {
namespace {

std::vector<float> filled(const Shape& krsc, InitConfig config, std::uint64_t seed = 1, std::uint32_t id = 0) {
  std::vector<float> values(static_cast<std::size_t>(krsc.size()), -7.0F);
  fill(values, krsc, config, seed, id);
  return values;
}

struct Moments {
  double mean;
  double deviation;
};

Moments moments_of(const std::vector<float>& values) {
  double sum = 0.0;
  double squares = 0.0;
  for (float v : values) {
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  const auto n = static_cast<double>(values.size());
  return {sum / n, std::sqrt(squares / n - sum / n * (sum / n))};
}

/// Kolmogorov-Smirnov: the largest distance between the sample's distribution and `cdf`, times √n. Above 1.95 once in
/// 1000 samples of that distribution; the draws are fixed, so the test does not waver.
double ks_distance(std::vector<float> values, const std::function<double(double)>& cdf) {
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = cdf(values[i]);
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, p - rank / n, (rank + 1.0) / n - p});
  }
  return distance * std::sqrt(n);
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }

constexpr Shape wide{200, 1, 1, 500};
constexpr Shape field{64, 3, 3, 128};

TEST_CASE("normal kinds have mean 0, their standard deviation and the shape of the bell") {
  for (InitKind kind : {InitKind::kaiming_normal, InitKind::xavier_normal, InitKind::fixed_normal}) {
    const InitConfig config{0.5F, kind, FanMode::fan_in};
    const double sigma = spread_of(config, wide);
    const auto values = filled(wide, config);
    CAPTURE(name_of(kind));
    CHECK(std::abs(moments_of(values).mean) < 4.0 * sigma / std::sqrt(1e5));
    CHECK(near(moments_of(values).deviation, sigma, 0.006));
    CHECK(ks_distance(values, [=](double x) { return normal_cdf(x / sigma); }) < 1.95);
    CHECK(std::ranges::max(values) > 4.0F * static_cast<float>(sigma));
  }
}

TEST_CASE("uniform kinds fill their interval evenly and stay inside") {
  for (InitKind kind : {InitKind::kaiming_uniform, InitKind::xavier_uniform}) {
    const InitConfig config{1.5F, kind, FanMode::fan_out};
    const double bound = spread_of(config, wide);
    const auto values = filled(wide, config);
    CAPTURE(name_of(kind));
    const auto [low, high] = std::ranges::minmax(values);
    CHECK(-bound < low);
    CHECK(high < bound);
    CHECK(low < -0.9999 * bound);
    CHECK(high > 0.9999 * bound);
    CHECK(std::abs(moments_of(values).mean) < 4.0 * bound / std::sqrt(3.0 * 1e5));
    CHECK(near(moments_of(values).deviation, bound / std::sqrt(3.0), 0.006));
    CHECK(ks_distance(values, [=](double x) { return (x / bound + 1.0) / 2.0; }) < 1.95);
  }
}

// I3
TEST_CASE("a truncated normal is drawn inside two deviations and not rescaled") {
  constexpr Shape shape{868, 3, 3, 128};
  static_assert(shape.size() > 999000 && fan_of(shape, FanMode::fan_in) == 1152.0);
  constexpr InitConfig config{2.0F, InitKind::trunc_normal, FanMode::fan_in};
  constexpr double sigma = spread_of(config, shape);
  static_assert(sigma > 0.04166666 && sigma < 0.04166667);
  const auto values = filled(shape, config);
  const auto [low, high] = std::ranges::minmax(values);
  CHECK(low >= static_cast<float>(-2.0 * sigma));
  CHECK(high <= static_cast<float>(2.0 * sigma));
  CHECK(low < -1.9999F * static_cast<float>(sigma));
  CHECK(std::abs(moments_of(values).mean) < 4.0 * 0.0366511 / 1000.0);
  CHECK(near(moments_of(values).deviation, 0.0366511, 0.003));
  const double below = normal_cdf(-2.0);
  const std::vector<float> part(values.begin(), values.begin() + 100000);
  CHECK(ks_distance(part, [=](double x) { return (normal_cdf(x / sigma) - below) / (1.0 - 2.0 * below); }) < 1.95);
}

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

// I9
TEST_CASE("two layers of one seed are independent of each other") {
  constexpr Shape square{512, 1, 1, 512};
  constexpr InitConfig config{1.0F, InitKind::kaiming_normal, FanMode::fan_in};
  const auto a = filled(square, config, 1, 0);
  for (const auto& b : {filled(square, config, 1, 1), filled(square, config, 2, 0)}) {
    double products = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) products += static_cast<double>(a[i]) * b[i];
    const double correlation =
        products / static_cast<double>(a.size()) / moments_of(a).deviation / moments_of(b).deviation;
    CHECK(std::abs(correlation) < 0.01);
  }
  // Another layer at the end is another id: it cannot reach the draws of the earlier ones.
  CHECK(filled(square, config, 1, 0) == a);
}

TEST_CASE("parts filled apart, in any order, hold the bits of the whole") {
  for (InitKind kind :
       {InitKind::zeros, InitKind::constants, InitKind::kaiming_normal, InitKind::kaiming_uniform,
        InitKind::xavier_normal, InitKind::xavier_uniform, InitKind::trunc_normal, InitKind::fixed_normal}) {
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

TEST_CASE("an element beyond 2^33 has a draw of its own") {
  const Shape huge{1 << 20, 1, 1, 1 << 15};
  const InitConfig config{1.0F, InitKind::fixed_normal, FanMode::fan_in};
  std::vector<float> first(8);
  std::vector<float> far(8);
  fill_part(first, 0, huge, config, 1, 0);
  fill_part(far, std::int64_t{1} << 34, huge, config, 1, 0);
  CHECK(first != far);
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
