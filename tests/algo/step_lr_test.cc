#include "tr/algo/step_lr.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <limits>

#include "tests/base/near.h"
#include "tests/golden/schedulers.h"

namespace tr {
namespace {

constexpr auto halved = StepLR().base_lr(0.5).step_size(2).gamma(0.5).prepare(6, 3);
static_assert(halved.lr(0, 0) == 0.5F && halved.lr(1, 2) == 0.5F);
static_assert(halved.lr(2, 0) == 0.25F && halved.lr(5, 2) == 0.125F);

TEST_CASE("by default the rate falls to a tenth every ten epochs") {
  const auto schedule = StepLR().prepare(40, 3);
  for (int epoch = 0; epoch < 40; ++epoch) {
    constexpr double right[] = {0.1, 0.01, 0.001, 0.0001};
    CHECK(near(schedule.lr(epoch, epoch % 3), right[epoch / 10], 1e-7));
  }
}

TEST_CASE("the rates are PyTorch's, whatever the number of steps, by epoch and by batch") {
  for (const bool by_batch : {false, true}) {
    const auto schedule = StepLR().base_lr(0.7).step_size(3).gamma(0.3).step_by_batch(by_batch).prepare(20, 4);
    for (std::size_t i = 0; i < std::size(golden::step_3); ++i) {
      for (int batch = 0; batch < 4; ++batch) {
        CHECK(near(schedule.lr(static_cast<int>(i), batch), golden::step_3[i], 1e-7));
      }
    }
  }
}

TEST_CASE("the first stair starts behind the warm-up") {
  const auto schedule = StepLR().base_lr(0.5).step_size(3).gamma(0.5).warmup(2).step_by_batch().prepare(9, 5);
  CHECK(schedule.lr(1, 4) < 0.5F);
  CHECK(schedule.lr(2, 0) == 0.5F);
  CHECK(schedule.lr(4, 4) == 0.5F);
  CHECK(schedule.lr(5, 0) == 0.25F);
  CHECK(schedule.lr(7, 4) == 0.25F);
  CHECK(schedule.lr(8, 0) == 0.125F);
}

TEST_CASE("a factor of 1 leaves the rate alone, one of 0 ends it") {
  CHECK(StepLR().base_lr(0.3).step_size(1).gamma(1.0).prepare(50, 1).lr(49, 0) == 0.3F);
  const auto ended = StepLR().base_lr(0.3).step_size(2).gamma(0.0).prepare(50, 1);
  CHECK(ended.lr(1, 0) == 0.3F);
  CHECK(ended.lr(2, 0) == 0.0F);
}

TEST_CASE("the longest stairs do not overflow") {
  constexpr int most = std::numeric_limits<int>::max();
  const auto schedule = StepLR().base_lr(0.5).step_size(most).step_by_batch().prepare(most, most);
  CHECK(schedule.lr(most - 1, most - 1) == 0.5F);
  CHECK(near(schedule.lr(most, 0), 0.05, 1e-7));
  CHECK(StepLR().step_size(1).prepare(most, most).lr(most, 0) == 0.0F);
}

TEST_CASE("a setter rejects what is out of range and keeps its old value") {
  StepLR schedule;
  schedule.step_size(4).gamma(0.5);
  CHECK_THROWS_WITH_AS(schedule.step_size(0), "step_size is 0, legal is 1 or more epochs", ValueError);
  CHECK_THROWS_AS(schedule.step_size(-3), ValueError);
  CHECK_THROWS_WITH_AS(schedule.gamma(-0.1), "gamma is -0.1, legal is 0 to 1", ValueError);
  for (const double bad : {1.001, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(schedule.gamma(bad), ValueError);
  }
  CHECK(schedule.step_size() == 4);
  CHECK(schedule.gamma() == 0.5);
  CHECK_THROWS_AS(schedule.prepare(2, 2).step_size(1).lr(0, 0), StateError);
  CHECK_THROWS_AS(schedule.prepare(2, 2).gamma(1.0).lr(0, 0), StateError);
}

}  // namespace
}  // namespace tr
