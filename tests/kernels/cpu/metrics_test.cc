#include "kernels/cpu/metrics.h"

#include <doctest/doctest.h>

#include <cmath>

#include "kernels/cpu/list.h"
#include "tests/kernels/cpu/testing.h"

namespace tr::cpu {

using testing::nan;
using testing::operand;

TEST_CASE("sums, hits and illegal labels are counted, and added to what was there") {
  std::vector<float> loss = {0.5F, 1.5F, 2.0F, nan};
  std::vector<std::int32_t> rank = {0, 4, 5, -1};
  std::vector<double> result(5, 99.0);
  std::vector<double> accumulated = {1.0, 2.0, 3.0, 4.0, 5.0};
  const Shape rows{4, 1, 1, 1};
  Scratch scratch;
  const Kernel kernel = make_kernel({.kind = OpKind::accumulate_metrics,
                                     .in = {operand(loss, rows), operand(rank, rows)},
                                     .out = {operand(result, {1, 1, 1, 5}), operand(accumulated, {1, 1, 1, 5})}},
                                    scratch);
  kernel();
  CHECK(std::isnan(result[0]));
  CHECK(std::vector<double>(result.begin() + 1, result.end()) == std::vector<double>{1.0, 2.0, 4.0, 1.0});
  CHECK(std::vector<double>(accumulated.begin() + 1, accumulated.end()) == std::vector<double>{3.0, 5.0, 8.0, 6.0});
  loss[3] = 4.0F;
  kernel();
  CHECK(result[0] == 8.0);
}

TEST_CASE("a row with a NaN is no hit among the best five, even with two classes") {
  const std::vector<float> loss = {nan, 0.0F};
  const std::vector<std::int32_t> rank = {2, 1};
  double result[5];
  double accumulated[5] = {};
  accumulate_metrics(loss.data(), rank.data(), 2, result, accumulated);
  CHECK(result[static_cast<int>(Metric::top1)] == 0.0);
  CHECK(result[static_cast<int>(Metric::top5)] == 1.0);
}

TEST_CASE("ten thousand losses are summed without losing the small ones") {
  const std::vector<float> loss(10000, 6.907755F);
  const std::vector<std::int32_t> rank(10000, 7);
  double result[5];
  double accumulated[5] = {};
  accumulate_metrics(loss.data(), rank.data(), 10000, result, accumulated);
  CHECK(result[0] / 10000.0 == doctest::Approx(6.907755).epsilon(1e-7));
  CHECK(accumulated[0] == result[0]);
}

TEST_CASE("a batch without rows gives zeros and leaves the sums alone") {
  double result[5] = {9.0, 9.0, 9.0, 9.0, 9.0};
  double accumulated[5] = {1.0, 2.0, 3.0, 4.0, 5.0};
  accumulate_metrics(nullptr, nullptr, 0, result, accumulated);
  for (int i = 0; i < 5; ++i) {
    CHECK(result[i] == 0.0);
    CHECK(accumulated[i] == i + 1.0);
  }
}

}  // namespace tr::cpu
