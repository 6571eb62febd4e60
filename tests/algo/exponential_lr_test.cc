#include "tr/algo/exponential_lr.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <limits>

#include "tests/base/near.h"
#include "tests/golden/schedulers.h"

namespace tr {
namespace {

constexpr auto halved = ExponentialLR().base_lr(0.5).gamma(0.5).prepare(6, 3);
static_assert(halved.lr(0, 2) == 0.5F && halved.lr(1, 0) == 0.25F && halved.lr(5, 2) == 0.015625F);

TEST_CASE("by default an epoch takes a twentieth of the rate") {
  const auto schedule = ExponentialLR().prepare(5, 2);
  for (int epoch = 0; epoch < 5; ++epoch) {
    constexpr double right[] = {0.1, 0.095, 0.09025, 0.0857375, 0.081450625};
    CHECK(near(schedule.lr(epoch, 1), right[epoch], 1e-7));
  }
}

TEST_CASE("the rates are PyTorch's, and by batch they change only between epochs") {
  for (const bool by_batch : {false, true}) {
    const auto schedule = ExponentialLR().base_lr(0.7).gamma(0.93).step_by_batch(by_batch).prepare(60, 4);
    for (std::size_t i = 0; i < std::size(golden::exponential_93); ++i) {
      for (int batch = 0; batch < 4; ++batch) {
        CHECK(near(schedule.lr(static_cast<int>(i), batch), golden::exponential_93[i], 1e-7));
      }
    }
  }
}

TEST_CASE("the fall starts behind the warm-up") {
  const auto schedule = ExponentialLR().base_lr(0.5).gamma(0.5).warmup(2).step_by_batch().prepare(9, 5);
  CHECK(schedule.lr(1, 4) < 0.5F);
  CHECK(schedule.lr(2, 4) == 0.5F);
  CHECK(schedule.lr(3, 0) == 0.25F);
  CHECK(schedule.lr(4, 0) == 0.125F);
}

TEST_CASE("a factor of 1 leaves the rate alone, and a long run ends at 0 without a NaN") {
  constexpr int most = std::numeric_limits<int>::max();
  CHECK(ExponentialLR().base_lr(0.3).gamma(1.0).prepare(most, most).lr(most - 1, 0) == 0.3F);
  CHECK(ExponentialLR().prepare(most, most).lr(most - 1, 0) == 0.0F);
  const auto ended = ExponentialLR().base_lr(0.3).gamma(0.0).prepare(5, 1);
  CHECK(ended.lr(0, 0) == 0.3F);
  CHECK(ended.lr(1, 0) == 0.0F);
}

TEST_CASE("a setter rejects what is out of range and keeps its old value") {
  ExponentialLR schedule;
  schedule.gamma(0.5);
  CHECK_THROWS_WITH_AS(schedule.gamma(1.5), "gamma is 1.5, legal is 0 to 1", ValueError);
  for (const double bad : {-1e-9, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(schedule.gamma(bad), ValueError);
  }
  CHECK(schedule.gamma() == 0.5);
  CHECK_THROWS_AS(schedule.prepare(2, 2).gamma(1.0).lr(0, 0), StateError);
}

}  // namespace
}  // namespace tr
