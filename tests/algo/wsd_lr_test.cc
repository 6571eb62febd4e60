#include "tr/algo/wsd_lr.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>

#include "tests/base/near.h"

namespace tr {
namespace {

// The row of the design's table.
constexpr auto ten = WSDLR().base_lr(1.0).prepare(10, 1);
static_assert(ten.lr(0, 0) == 1.0F && ten.lr(7, 0) == 1.0F && ten.lr(8, 0) == 1.0F);
static_assert(ten.lr(9, 0) == 0.5F && ten.lr(10, 0) == 0.0F && ten.lr(11, 0) == 0.0F);

TEST_CASE("the rate is base up to the decay and then falls in a straight line to the end") {
  const auto schedule = WSDLR().base_lr(0.5).end_lr(0.1).decay_start(0.5).warmup(2).step_by_batch().prepare(10, 5);
  // 40 steps follow the warm-up, and 20 of them are stable.
  for (int d = 0; d <= 40; ++d) {
    const double right = d < 20 ? 0.5 : 0.5 - 0.4 * (d - 20) / 20;
    CHECK(near(schedule.lr(2, d), right, 1e-7));
  }
  CHECK(schedule.lr(6, 0) == 0.5F);
  CHECK(schedule.lr(10, 0) == 0.1F);
}

TEST_CASE("the decay starts at the whole step that its part of the run has passed") {
  const auto schedule = WSDLR().base_lr(0.5).decay_start(0.75).step_by_batch().prepare(1, 7);  // 5.25
  CHECK(schedule.lr(0, 5) == 0.5F);
  CHECK(schedule.lr(0, 6) == 0.25F);
  CHECK(schedule.lr(0, 7) == 0.0F);
}

TEST_CASE("by epoch all batches have the rate of the epoch's first step") {
  const auto epochs = WSDLR().warmup(1).prepare(6, 4);
  const auto batches = WSDLR().warmup(1).step_by_batch().prepare(6, 4);
  for (int epoch = 0; epoch < 6; ++epoch) {
    for (int batch = 0; batch < 4; ++batch) CHECK(epochs.lr(epoch, batch) == batches.lr(epoch, 0));
  }
}

TEST_CASE("a decay may start at once or never") {
  const auto at_once = WSDLR().base_lr(0.5).decay_start(0.0).prepare(4, 1);
  CHECK(at_once.lr(0, 0) == 0.5F);
  CHECK(at_once.lr(1, 0) == 0.375F);
  const auto never = WSDLR().base_lr(0.5).decay_start(1.0).prepare(4, 1);
  for (int epoch = 0; epoch <= 5; ++epoch) CHECK(never.lr(epoch, 0) == 0.5F);
}

TEST_CASE("the longest run decays to its end") {
  constexpr int most = std::numeric_limits<int>::max();
  const auto schedule = WSDLR().base_lr(0.5).decay_start(0.5).step_by_batch().prepare(most, most);
  CHECK(schedule.lr(most / 2, 0) == 0.5F);
  CHECK(near(schedule.lr(most / 4 * 3, 0), 0.25, 1e-6));
  CHECK(schedule.lr(most, 0) == 0.0F);
  CHECK(WSDLR().base_lr(0.5).decay_start(1.0).prepare(most, most).lr(most, 0) == 0.5F);
}

TEST_CASE("a setter rejects what is out of range and keeps its old value") {
  WSDLR schedule;
  schedule.decay_start(0.5).end_lr(0.01);
  CHECK_THROWS_WITH_AS(schedule.decay_start(1.5), "decay_start is 1.5, legal is 0 to 1", ValueError);
  CHECK_THROWS_WITH_AS(schedule.end_lr(-0.5), "end_lr is -0.5, legal is 0 to 3.4028235e+38", ValueError);
  for (const double bad : {-1e-9, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(schedule.decay_start(bad), ValueError);
    CHECK_THROWS_AS(schedule.end_lr(bad), ValueError);
  }
  CHECK(schedule.decay_start() == 0.5);
  CHECK(schedule.end_lr() == 0.01);
  CHECK_THROWS_AS(schedule.prepare(2, 2).decay_start(1.0).lr(0, 0), StateError);
  CHECK_THROWS_AS(schedule.prepare(2, 2).end_lr(0.0).lr(0, 0), StateError);
}

TEST_CASE("end_lr above base is rejected when the run is prepared") {
  CHECK_THROWS_WITH_AS(WSDLR().base_lr(1e-3).end_lr(1e-2).prepare(5, 5),
                       "end_lr is 0.01, legal is at most base_lr, which is 0.001", ValueError);
  CHECK(WSDLR().base_lr(1e-3).end_lr(1e-3).prepare(5, 5).lr(4, 0) == 1e-3F);
}

}  // namespace
}  // namespace tr
