#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <vector>

#include "tests/base/near.h"
#include "tests/golden/initializers.h"
#include "tr/algo/fill.h"
#include "tr/base/bf16.h"

namespace tr {
namespace {

std::vector<float> filled(const Shape& krsc, InitConfig config, std::uint64_t seed = 1, std::uint32_t id = 0) {
  std::vector<float> values(static_cast<std::size_t>(krsc.size()));
  fill(values, krsc, config, seed, id);
  return values;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }

/// The distribution that a kind draws from, for its spread_of() 1.
struct Distribution {
  bool is_uniform = false;
  double limit = 0.0;  ///< No draw is further from 0.
  double deviation = 0.0;

  double cdf(double x) const {
    if (is_uniform) return (x + 1.0) / 2.0;
    const double below = normal_cdf(-limit);
    return (normal_cdf(x) - below) / (1.0 - 2.0 * below);
  }
};

Distribution distribution_of(InitKind kind) {
  if (kind == InitKind::kaiming_uniform || kind == InitKind::xavier_uniform) return {true, 1.0, 1.0 / std::sqrt(3.0)};
  if (kind == InitKind::trunc_normal) return {false, 2.0, golden::truncated_deviation};
  return {false, 5.42, 1.0};
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

double correlation(const std::vector<float>& a, const std::vector<float>& b) {
  double products = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) products += static_cast<double>(a[i]) * b[i];
  return products / static_cast<double>(a.size()) / moments_of(a).deviation / moments_of(b).deviation;
}

/// Kolmogorov-Smirnov: the largest distance between the sorted sample's distribution and the right one, times √n.
double ks_distance(const std::vector<float>& values, const Distribution& right, double spread) {
  const auto n = static_cast<double>(values.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = right.cdf(values[i] / spread);
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, p - rank / n, (rank + 1.0) / n - p});
  }
  return distance * std::sqrt(n);
}

/// What one right sample in 1000 exceeds. The draws are fixed, so the test does not waver.
constexpr double ks_limit = 1.9495;

constexpr InitKind drawing_kinds[] = {InitKind::kaiming_normal, InitKind::kaiming_uniform, InitKind::xavier_normal,
                                      InitKind::xavier_uniform, InitKind::trunc_normal,    InitKind::fixed_normal};

void check_sample(std::vector<float> values, InitKind kind, double spread) {
  const Distribution right = distribution_of(kind);
  const auto n = static_cast<double>(values.size());
  const Moments moments = moments_of(values);
  CAPTURE(name_of(kind));
  CHECK(std::abs(moments.mean) < 3.29 * right.deviation * spread / std::sqrt(n));
  // Of these distributions the normal one has the largest fourth moment, so 1/√(2n) bounds this error of all.
  CHECK(near(moments.deviation, right.deviation * spread, 3.29 / std::sqrt(2.0 * n)));
  std::ranges::sort(values);
  CHECK(ks_distance(values, right, spread) < ks_limit);
  const float low = values.front();
  const float high = values.back();
  CHECK(low >= static_cast<float>(-right.limit * spread));
  CHECK(high <= static_cast<float>(right.limit * spread));
  // The tails are there. Of a million normal draws eight are expected on each side beyond 4.3 deviations; of the others
  // at least eleven so near an end, however many there are.
  const double reach = (right.limit > 5.0 ? 4.3 : (1.0 - 100.0 / n) * right.limit) * spread;
  CHECK(low < -reach);
  CHECK(high > reach);
}

TEST_CASE("a million draws of a fully connected weight have mean, deviation, bounds and distribution of their kind") {
  constexpr Shape krsc{800, 1, 1, 1250};
  static_assert(krsc.size() == 1000000);
  for (InitKind kind : drawing_kinds) {
    const InitConfig config{0.5F, kind, FanMode::fan_in};
    check_sample(filled(krsc, config), kind, spread_of(config, krsc));
  }
}

TEST_CASE("a million draws of a convolution's weight have mean, deviation, bounds and distribution of their kind") {
  constexpr Shape krsc{160, 5, 5, 250};
  static_assert(krsc.size() == 1000000);
  for (InitKind kind : drawing_kinds) {
    const InitConfig config{1.5F, kind, FanMode::fan_avg};
    check_sample(filled(krsc, config, 0x123456789abcdefULL, 54), kind, spread_of(config, krsc));
  }
}

TEST_CASE("the distance notices a deviation that is 1 % off, and a mean that is 0.5 % of a deviation off") {
  constexpr Shape krsc{1000, 1, 1, 1000};
  auto values = filled(krsc, {0.5F, InitKind::fixed_normal, FanMode::fan_in});
  const Distribution right = distribution_of(InitKind::fixed_normal);
  std::ranges::sort(values);
  CHECK(ks_distance(values, right, 0.505) > ks_limit);
  for (float& v : values) v += 0.0025F;
  CHECK(ks_distance(values, right, 0.5) > ks_limit);
}

// I3
TEST_CASE("a truncated normal is drawn inside two deviations and not rescaled") {
  constexpr Shape shape{868, 3, 3, 128};
  static_assert(shape.size() > 999000 && fan_of(shape, FanMode::fan_in) == 1152.0);
  constexpr InitConfig config{2.0F, InitKind::trunc_normal, FanMode::fan_in};
  constexpr double sigma = spread_of(config, shape);
  static_assert(sigma > 0.04166666 && sigma < 0.04166667);
  const auto values = filled(shape, config);
  check_sample(values, InitKind::trunc_normal, sigma);
  CHECK(near(moments_of(values).deviation, 0.0366511, 0.003));
  CHECK(!near(moments_of(values).deviation, sigma, 0.1));
}

// I3
TEST_CASE("neighbours: other fans and scales change σ alone, √(scale/fan)") {
  constexpr Shape shape{128, 3, 3, 128};
  for (FanMode fan : {FanMode::fan_in, FanMode::fan_out, FanMode::fan_avg}) {
    for (float scale : {0.01F, 1.0F, 1e6F}) {
      const InitConfig config{scale, InitKind::trunc_normal, fan};
      const double sigma = std::sqrt(static_cast<double>(scale) / 1152.0);
      CHECK(near(spread_of(config, shape), sigma, 1e-14));
      check_sample(filled(shape, config), InitKind::trunc_normal, sigma);
    }
  }
}

/// How often each bfloat16 number is expected among `n` draws that are rounded to nearest, against how often it came.
void check_rounded(const std::vector<float>& values, InitKind kind, double spread) {
  std::map<std::uint16_t, int> counts;
  double sum = 0.0;
  for (float v : values) {
    ++counts[to_bf16(v).bits];
    sum += to_float(to_bf16(v));
  }
  const Distribution right = distribution_of(kind);
  const auto n = static_cast<double>(values.size());
  const auto cdf = [&](double x) { return right.cdf(std::clamp(x / spread, -right.limit, right.limit)); };
  CAPTURE(name_of(kind));
  CHECK(std::abs(sum / n) < 3.29 * right.deviation * spread / std::sqrt(n));
  for (const auto& [bits, count] : counts) {
    const auto magnitude = static_cast<std::uint16_t>(bits & 0x7fff);
    if (magnitude == 0) continue;
    const double at = to_float(Bf16{magnitude});
    const double low = (to_float(Bf16{static_cast<std::uint16_t>(magnitude - 1)}) + at) / 2.0;
    const double high = (at + to_float(Bf16{static_cast<std::uint16_t>(magnitude + 1)})) / 2.0;
    const double expected = n * (cdf(high) - cdf(low));
    CAPTURE(at);
    CHECK(std::abs(count - expected) <= 5.0 * std::sqrt(expected) + 3.0);
  }
}

// I5
TEST_CASE("draws rounded to bfloat16 keep their mean, and no number is piled upon, not even the limits") {
  constexpr Shape krsc{1000, 1, 1, 100};
  const auto values = filled(krsc, {0.02F, InitKind::fixed_normal, FanMode::fan_in});
  double sum = 0.0;
  for (float v : values) sum += to_float(to_bf16(v));
  CHECK(std::abs(sum / 1e5) < 3e-4);
  check_rounded(values, InitKind::fixed_normal, 0.02F);
  // The same σ and its neighbours, where truncation makes limits that could be piled upon.
  for (float scale : {0.04F, 0.01F, 1.0F, 400.0F}) {
    const InitConfig config{scale, InitKind::trunc_normal, FanMode::fan_in};
    check_rounded(filled(krsc, config), InitKind::trunc_normal, spread_of(config, krsc));
  }
  const InitConfig uniform{1.0F, InitKind::kaiming_uniform, FanMode::fan_in};
  check_rounded(filled(krsc, uniform), InitKind::kaiming_uniform, spread_of(uniform, krsc));
}

// I9
TEST_CASE("two layers of one seed are independent of each other, and so are two seeds") {
  constexpr Shape square{512, 1, 1, 512};
  for (InitKind kind : {InitKind::kaiming_uniform, InitKind::xavier_normal, InitKind::trunc_normal}) {
    const InitConfig config{1.0F, kind, FanMode::fan_in};
    const auto a = filled(square, config, 1, 0);
    CAPTURE(name_of(kind));
    CHECK(std::abs(correlation(a, filled(square, config, 1, 1))) < 0.01);
    CHECK(std::abs(correlation(a, filled(square, config, 2, 0))) < 0.01);
    CHECK(std::abs(correlation(a, filled(square, config, 1, 1U << 23))) < 0.01);
    CHECK(correlation(a, a) > 0.999);
  }
}

TEST_CASE("an element says nothing about those that follow it") {
  const auto values = filled({512, 1, 1, 512}, {1.0F, InitKind::kaiming_normal, FanMode::fan_in});
  for (int lag : {1, 2, 3, 4, 8, 512}) {
    CAPTURE(lag);
    const std::vector<float> from(values.begin(), values.end() - lag);
    const std::vector<float> to(values.begin() + lag, values.end());
    CHECK(std::abs(correlation(from, to)) < 0.0065);
  }
}

}  // namespace
}  // namespace tr
