#include "tr/algo/polynomial_lr.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <limits>

#include "tests/base/near.h"
#include "tests/golden/schedulers.h"

namespace tr {
namespace {

constexpr auto line = PolynomialLR().base_lr(1.0).end_lr(0.0).power(1.0);
static_assert(line.prepare(3, 1).lr(0, 0) == 1.0F);
static_assert(line.prepare(3, 1).lr(1, 0) == 0.75F);
static_assert(line.prepare(3, 1).lr(2, 0) == 0.5F);

// L19
TEST_CASE("the denominator is one more than the number of steps") {
  const auto ten = line.prepare(10, 1);
  CHECK(ten.lr(0, 0) == 1.0F);
  CHECK(std::abs(ten.lr(5, 0) - 0.545455) < 1e-6);
  CHECK(std::abs(ten.lr(9, 0) - 2.0 / 11) < 1e-7);
  CHECK(std::abs(ten.lr(10, 0) - 0.090909) < 1e-6);
  CHECK(std::abs(PolynomialLR(line).power(0.9).prepare(10, 1).lr(5, 0) - 0.579539) < 1e-6);
  CHECK(std::abs(PolynomialLR(line).end_lr(0.1).prepare(10, 1).lr(5, 0) - 0.590909) < 1e-6);
}

TEST_CASE("by default the rate falls by the square, towards 1e-4") {
  const auto schedule = PolynomialLR().step_by_batch().prepare(3, 3);
  for (int t = 0; t <= 9; ++t) {
    const double rest = 1.0 - t / 10.0;
    CHECK(near(schedule.lr(t / 3, t % 3), 1e-4 + (0.1 - 1e-4) * rest * rest, 1e-7));
  }
}

TEST_CASE("the rates are PyTorch's where its total_iters is one more than the number of steps") {
  const auto square = PolynomialLR().base_lr(0.7).end_lr(0.0).step_by_batch().prepare(2, 5);
  for (std::size_t i = 0; i < std::size(golden::polynomial_2); ++i) {
    CHECK(near(square.lr(0, static_cast<int>(i)), golden::polynomial_2[i], 1e-7));
  }
  const auto root = PolynomialLR().base_lr(1.0).end_lr(0.0).power(0.9).step_by_batch().prepare(10, 3);
  for (std::size_t i = 0; i < std::size(golden::polynomial_09); ++i) {
    CHECK(near(root.lr(0, static_cast<int>(i)), golden::polynomial_09[i], 1e-7));
  }
}

TEST_CASE("by epoch all batches have the rate of the epoch's first step") {
  const auto epochs = PolynomialLR().warmup(1).prepare(6, 4);
  const auto batches = PolynomialLR().warmup(1).step_by_batch().prepare(6, 4);
  for (int epoch = 0; epoch < 6; ++epoch) {
    for (int batch = 0; batch < 4; ++batch) CHECK(epochs.lr(epoch, batch) == batches.lr(epoch, 0));
  }
}

TEST_CASE("power 0 does not fall, and a very high one falls at once, without a NaN") {
  CHECK(PolynomialLR().base_lr(0.3).power(0.0).prepare(9, 9).lr(8, 0) == 0.3F);
  const auto cliff = PolynomialLR().base_lr(0.3).power(1e300).prepare(9, 9);
  CHECK(cliff.lr(0, 0) == 0.3F);
  CHECK(cliff.lr(1, 0) == 1e-4F);
}

TEST_CASE("the longest run falls to its end") {
  constexpr int most = std::numeric_limits<int>::max();
  const auto schedule = PolynomialLR().base_lr(1.0).end_lr(0.0).power(1.0).step_by_batch().prepare(most, most);
  CHECK(schedule.lr(0, 0) == 1.0F);
  CHECK(near(schedule.lr(most / 2, 0), 0.5, 1e-7));
  // The last step but one has 2 of the D + 1 parts left.
  const double steps = static_cast<double>(most) * static_cast<double>(most);
  CHECK(near(schedule.lr(most - 1, most - 1), 2.0 / steps, 1e-7));
}

TEST_CASE("a setter rejects what is out of range and keeps its old value") {
  PolynomialLR schedule;
  schedule.power(3.0).end_lr(0.01);
  CHECK_THROWS_WITH_AS(schedule.power(-1.0), "power is -1, legal is 0 or more, and finite", ValueError);
  for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(schedule.power(bad), ValueError);
    CHECK_THROWS_AS(schedule.end_lr(bad), ValueError);
  }
  CHECK_THROWS_WITH_AS(schedule.end_lr(-0.5), "end_lr is -0.5, legal is 0 to 3.4028235e+38", ValueError);
  CHECK(schedule.power() == 3.0);
  CHECK(schedule.end_lr() == 0.01);
  CHECK_THROWS_AS(schedule.prepare(2, 2).power(1.0).lr(0, 0), StateError);
  CHECK_THROWS_AS(schedule.prepare(2, 2).end_lr(0.0).lr(0, 0), StateError);
}

TEST_CASE("end_lr above base is rejected when the run is prepared") {
  CHECK_THROWS_WITH_AS(PolynomialLR().base_lr(1e-3).end_lr(1e-2).prepare(5, 5),
                       "end_lr is 0.01, legal is at most base_lr, which is 0.001", ValueError);
  CHECK(PolynomialLR().base_lr(1e-3).end_lr(1e-3).prepare(5, 5).lr(3, 0) == 1e-3F);
}

}  // namespace
}  // namespace tr
