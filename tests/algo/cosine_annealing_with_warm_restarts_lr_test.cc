#include "tr/algo/cosine_annealing_with_warm_restarts_lr.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <numbers>

#include "tests/base/near.h"
#include "tests/golden/schedulers.h"

namespace tr {
namespace {

using Restarts = CosineAnnealingWithWarmRestartsLR;

constexpr int most = std::numeric_limits<int>::max();

// L1
constexpr auto doubled = Restarts().base_lr(0.5).t_0(1).t_mult(2).prepare(9, 1);
static_assert(doubled.lr(0, 0) == 0.5F && doubled.lr(1, 0) == 0.5F && doubled.lr(2, 0) == 0.25F);

TEST_CASE("each cycle is twice as long as the one before and starts at base") {
  constexpr double right[] = {0.5, 0.5, 0.25, 0.5, 0.426777, 0.25, 0.073223, 0.5, 0.480970};
  for (int epoch = 0; epoch < 9; ++epoch) CHECK(std::abs(doubled.lr(epoch, 0) - right[epoch]) < 1e-6);
}

TEST_CASE("the rates are PyTorch's, by epoch and by batch") {
  const auto plain = Restarts().base_lr(0.7).t_0(5).eta_min(1e-3).prepare(32, 3);
  for (std::size_t i = 0; i < std::size(golden::restarts_5); ++i) {
    CHECK(near(plain.lr(static_cast<int>(i), 2), golden::restarts_5[i], 1e-7));
  }
  const auto longer = Restarts().base_lr(0.7).t_0(1).t_mult(2).eta_min(0.01).step_by_batch().prepare(22, 3);
  for (std::size_t i = 0; i < std::size(golden::restarts_3_2); ++i) {
    const int t = static_cast<int>(i);
    CHECK(near(longer.lr(t / 3, t % 3), golden::restarts_3_2[i], 1e-7));
  }
}

TEST_CASE("by default a cycle lasts ten epochs and falls to 0") {
  const auto schedule = Restarts().step_by_batch().prepare(30, 4);
  CHECK(schedule.lr(10, 0) == 0.1F);
  CHECK(schedule.lr(20, 0) == 0.1F);
  CHECK(near(schedule.lr(15, 0), 0.05, 1e-7));
  CHECK(near(schedule.lr(19, 3), 0.05 * (1.0 + std::cos(std::numbers::pi * 39 / 40)), 1e-6));
}

TEST_CASE("the first cycle starts behind the warm-up") {
  const auto schedule = Restarts().base_lr(0.5).t_0(3).warmup(2).step_by_batch().prepare(11, 5);
  CHECK(schedule.lr(1, 4) < 0.5F);
  for (const int epoch : {2, 5, 8}) CHECK(schedule.lr(epoch, 0) == 0.5F);
  CHECK(schedule.lr(4, 4) < 0.01F);
}

TEST_CASE("whole cycles restart at base to the end of the longest run") {
  for (const int factor : {2, 3, 7, 1000}) {
    const auto schedule = Restarts().base_lr(0.5).t_0(1).t_mult(factor).step_by_batch().prepare(most, most);
    std::int64_t start = 0;
    for (std::int64_t length = 1; start < most; length *= factor) {
      CHECK(schedule.lr(static_cast<int>(start), 0) == 0.5F);
      const std::int64_t middle = start + length / 2;
      if (middle < most) CHECK(near(schedule.lr(static_cast<int>(middle), length % 2 == 0 ? 0 : most / 2), 0.25, 1e-6));
      start += length;
      if (start < most) CHECK(schedule.lr(static_cast<int>(start) - 1, most - 1) < 1e-9F);
    }
  }
}

TEST_CASE("equal cycles do not drift") {
  const auto schedule = Restarts().base_lr(0.3).eta_min(0.01).t_0(7).step_by_batch().prepare(most, 13);
  for (int t = 0; t < 7 * 13; ++t) {
    CHECK(schedule.lr(7 * 300'000'000, t) == schedule.lr(0, t));
    CHECK(schedule.lr(7 * 123'456'789, t) == schedule.lr(0, t));
  }
}

/// The formula, one cycle after the other.
double by_walking(double d, double length, double factor, double base) {
  while (d >= length) {
    d -= length;
    length *= factor;
  }
  return base * (1.0 + std::cos(std::numbers::pi * d / length)) / 2.0;
}

TEST_CASE("a factor need not be whole") {
  // These are exact in binary, and so is every cycle.
  for (const double factor : {1.5, 1.25, 2.5, 1.0625}) {
    const auto schedule = Restarts().base_lr(0.5).t_0(2).t_mult(factor).step_by_batch().prepare(40, 8);
    for (int t = 0; t < 320; ++t) {
      CHECK(std::abs(schedule.lr(t / 8, t % 8) - by_walking(t, 16.0, factor, 0.5)) < 1e-7);
    }
  }
}

TEST_CASE("a cycle that ends with a step restarts at base although its factor is not exact in binary") {
  const auto tenth = Restarts().base_lr(0.5).t_0(100).t_mult(1.1).prepare(500, 3);
  for (const int start : {100, 210, 331}) {  // 100, 110 and 121 epochs
    CHECK(tenth.lr(start, 0) == 0.5F);
    CHECK(tenth.lr(start - 1, 2) < 0.001F);
    CHECK(tenth.lr(start + 1, 0) < 0.5F);
  }
  const auto fifth = Restarts().base_lr(0.5).t_0(125).t_mult(1.2).prepare(900, 1);
  for (const int start : {125, 275, 455, 671}) {  // 125, 150, 180 and 216 epochs
    CHECK(fifth.lr(start, 0) == 0.5F);
    CHECK(fifth.lr(start - 1, 0) < 0.001F);
  }
}

TEST_CASE("a factor may be close to 1 or too large for a second cycle") {
  const auto close = Restarts().base_lr(0.5).t_0(1).t_mult(1.0 + 1e-15).step_by_batch().prepare(most, 8);
  const auto equal = Restarts().base_lr(0.5).t_0(1).step_by_batch().prepare(most, 8);
  for (const int epoch : {0, 1, 2, 1000}) {
    for (int t = 0; t < 8; ++t) CHECK(std::abs(close.lr(epoch, t) - equal.lr(epoch, t)) < 1e-7);
  }
  for (const double factor : {2147483647.0, 1e10, 1.5e10 + 0.5, std::numeric_limits<double>::max()}) {
    const auto once = Restarts().base_lr(0.5).t_0(3).t_mult(factor).prepare(50, 1);
    CHECK(once.lr(2, 0) == 0.125F);
    for (const int epoch : {3, 4, 50}) CHECK(once.lr(epoch, 0) == 0.5F);
  }
  constexpr auto constant = Restarts().t_0(3).t_mult(std::numeric_limits<double>::max()).prepare(50, 1);
  static_assert(constant.lr(49, 0) == 0.1F);
}

TEST_CASE("a cycle longer than the run does not end") {
  const auto schedule = Restarts().base_lr(0.5).t_0(most).step_by_batch().prepare(20, 5);
  CHECK(schedule.lr(19, 4) == 0.5F);
  CHECK(near(Restarts().base_lr(0.5).t_0(40).prepare(21, 5).lr(20, 0), 0.25, 1e-7));
}

TEST_CASE("a setter rejects what is out of range and keeps its old value") {
  Restarts schedule;
  schedule.t_0(4).t_mult(1.5).eta_min(0.01);
  CHECK_THROWS_WITH_AS(schedule.t_0(0), "t_0 is 0, legal is 1 or more epochs", ValueError);
  CHECK_THROWS_WITH_AS(schedule.t_mult(0.5), "t_mult is 0.5, legal is 1 or more, and finite", ValueError);
  CHECK_THROWS_WITH_AS(schedule.eta_min(-1.0), "eta_min is -1, legal is 0 to 3.4028235e+38", ValueError);
  for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(schedule.t_mult(bad), ValueError);
    CHECK_THROWS_AS(schedule.eta_min(bad), ValueError);
  }
  CHECK(schedule.t_0() == 4);
  CHECK(schedule.t_mult() == 1.5);
  CHECK(schedule.eta_min() == 0.01);
  CHECK_THROWS_AS(schedule.prepare(2, 2).t_0(1).lr(0, 0), StateError);
  CHECK_THROWS_AS(schedule.prepare(2, 2).t_mult(2).lr(0, 0), StateError);
  CHECK_THROWS_AS(schedule.prepare(2, 2).eta_min(0.0).lr(0, 0), StateError);
}

TEST_CASE("eta_min above base is rejected when the run is prepared") {
  CHECK_THROWS_WITH_AS(Restarts().base_lr(1e-3).eta_min(1e-2).prepare(5, 5),
                       "eta_min is 0.01, legal is at most base_lr, which is 0.001", ValueError);
  CHECK(Restarts().base_lr(1e-3).eta_min(1e-3).prepare(5, 5).lr(3, 0) == 1e-3F);
}

}  // namespace
}  // namespace tr
