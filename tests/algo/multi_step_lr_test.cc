#include "tr/algo/multi_step_lr.h"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <vector>

#include "tests/base/near.h"
#include "tests/golden/schedulers.h"

namespace tr {
namespace {

constexpr auto halved = MultiStepLR().base_lr(0.5).milestones({1, 3}).gamma(0.5).prepare(5, 2);
static_assert(halved.lr(0, 1) == 0.5F && halved.lr(1, 0) == 0.25F);
static_assert(halved.lr(2, 1) == 0.25F && halved.lr(3, 0) == 0.125F && halved.lr(9, 0) == 0.125F);

// L3
TEST_CASE("the rate falls at every milestone and nowhere else") {
  const auto schedule = MultiStepLR().base_lr(0.2).milestones({2, 8}).gamma(0.1).prepare(10, 1);
  for (int epoch = 0; epoch < 10; ++epoch) {
    constexpr double right[] = {0.2, 0.2, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.002, 0.002};
    CHECK(near(schedule.lr(epoch, 0), right[epoch], 1e-7));
  }
}

// L4
TEST_CASE("an epoch has its rate whatever was asked before") {
  constexpr auto schedule = MultiStepLR().base_lr(1e-3).milestones({10, 20, 30}).prepare(40, 5);
  constexpr int order[] = {39, 1, 30, 9, 20, 10, 29, 0, 19, 9, 30};
  for (const int epoch : order) {
    constexpr double right[] = {1e-3, 1e-4, 1e-5, 1e-6};
    CHECK(near(schedule.lr(epoch, 3), right[epoch / 10], 1e-7));
  }
}

TEST_CASE("the rates are PyTorch's, by epoch and by batch") {
  for (const bool by_batch : {false, true}) {
    const auto schedule =
        MultiStepLR().base_lr(0.7).milestones({2, 5, 6, 11}).gamma(0.3).step_by_batch(by_batch).prepare(20, 3);
    for (std::size_t i = 0; i < std::size(golden::multi_step_2_5_6_11); ++i) {
      for (int batch = 0; batch < 3; ++batch) {
        CHECK(near(schedule.lr(static_cast<int>(i), batch), golden::multi_step_2_5_6_11[i], 1e-7));
      }
    }
  }
}

TEST_CASE("milestones count from the start of the run, not from the end of the warm-up") {
  const auto schedule = MultiStepLR().base_lr(0.5).milestones({4, 6}).gamma(0.5).warmup(3).prepare(9, 2);
  CHECK(schedule.lr(2, 0) < 0.5F);
  CHECK(schedule.lr(3, 0) == 0.5F);
  CHECK(schedule.lr(4, 0) == 0.25F);
  CHECK(schedule.lr(5, 1) == 0.25F);
  CHECK(schedule.lr(6, 0) == 0.125F);
}

TEST_CASE("a milestone within the warm-up takes effect behind it, and the warm-up still reaches base") {
  const auto by_batch = MultiStepLR().base_lr(0.5).milestones({1, 3}).gamma(0.5).warmup(3).step_by_batch();
  const auto steps = by_batch.prepare(6, 2);
  CHECK(steps.lr(3, 0) == 0.5F);
  CHECK(steps.lr(3, 1) == 0.125F);
  const auto epochs = MultiStepLR().base_lr(0.5).milestones({1, 3}).gamma(0.5).warmup(3).prepare(6, 2);
  CHECK(epochs.lr(3, 1) == 0.5F);
  CHECK(epochs.lr(4, 0) == 0.125F);
}

TEST_CASE("without milestones the rate is constant, and those beyond the run are never met") {
  CHECK(MultiStepLR().base_lr(0.3).prepare(90, 2).lr(89, 1) == 0.3F);
  CHECK(MultiStepLR().base_lr(0.3).milestones({5}).milestones({}).prepare(90, 2).lr(89, 1) == 0.3F);
  const auto late = MultiStepLR().base_lr(0.3).milestones({90, std::numeric_limits<int>::max()}).prepare(90, 2);
  CHECK(late.lr(89, 1) == 0.3F);
}

TEST_CASE("milestones come from a list, an array or a vector, up to 16 of them") {
  std::vector<int> many;
  for (int i = 1; i <= 16; ++i) many.push_back(2 * i);
  const auto schedule = MultiStepLR().base_lr(0.5).gamma(0.5).milestones(many).prepare(40, 1);
  CHECK(std::vector<int>(schedule.milestones().begin(), schedule.milestones().end()) == many);
  CHECK(schedule.lr(31, 0) == 0x1p-16F);
  CHECK(schedule.lr(32, 0) == 0x1p-17F);
  constexpr std::array<int, 2> two{3, 5};
  CHECK(MultiStepLR().milestones(two).milestones().size() == 2);
  CHECK(MultiStepLR().milestones(many).milestones({7}).milestones().size() == 1);
  CHECK(MultiStepLR().milestones().empty());
}

TEST_CASE("a setter rejects what is out of range and keeps its old value") {
  MultiStepLR schedule;
  schedule.milestones({3, 6}).gamma(0.5);
  CHECK_THROWS_WITH_AS(schedule.milestones({4, 0}), "a milestone is 0, legal is 1 or more epochs", ValueError);
  CHECK_THROWS_AS(schedule.milestones({-1}), ValueError);
  CHECK_THROWS_WITH_AS(schedule.milestones(std::vector<int>(17, 1)),
                       "the number of milestones is 17, legal is at most 16", ValueError);
  CHECK_THROWS_WITH_AS(schedule.gamma(1.1), "gamma is 1.1, legal is 0 to 1", ValueError);
  REQUIRE(schedule.milestones().size() == 2);
  CHECK(schedule.milestones()[0] == 3);
  CHECK(schedule.milestones()[1] == 6);
  CHECK(schedule.gamma() == 0.5);
  CHECK_THROWS_AS(schedule.prepare(2, 2).milestones({1}).lr(0, 0), StateError);
}

TEST_CASE("milestones out of order are rejected when the run is prepared, and both are named") {
  CHECK_THROWS_WITH_AS(MultiStepLR().milestones({10, 30, 20}).prepare(40, 5),
                       "milestones has 20 after 30, legal is each later than the one before", ValueError);
  CHECK_THROWS_AS(MultiStepLR().milestones({10, 10}).prepare(40, 5), ValueError);
  CHECK_NOTHROW(MultiStepLR().milestones({30, 20}).milestones({20, 30}).prepare(40, 5));
}

}  // namespace
}  // namespace tr
