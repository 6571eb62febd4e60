#include "tr/algo/scheduler.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>

#include "tests/algo/schedules.h"
#include "tests/base/near.h"
#include "tr/algo/constant_lr.h"
#include "tr/algo/cosine_annealing_lr.h"

namespace tr {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A schedule written outside the library, on the shared base: it goes wrong on purpose.
class WrongLR : public SchedulerBase<WrongLR> {
 public:
  constexpr double decayed(std::int64_t d, std::int64_t /*total*/) const { return d % 2 == 0 ? -1.0 : nan; }
};

static_assert(Scheduler<WrongLR>);
static_assert(!Scheduler<int>);
static_assert(ConstantLR().base_lr(0.5).prepare(3, 4).lr(1, 2) == 0.5F);
static_assert(ConstantLR().prepare(1, 1).lr(0, 0) == 0.1F);

/// Whether a run of this length can be prepared in a constant expression.
template <int epochs, int warmup>
concept Constant = requires {
  typename std::bool_constant<(ConstantLR().warmup(warmup).prepare(epochs, 2), true)>;
};
static_assert(Constant<3, 3>);
static_assert(!Constant<0, 0> && !Constant<3, -1> && !Constant<3, 4>, "a bad constant must not compile");

TEST_CASE("a warm-up by epoch rises by equal parts from 0 and reaches base exactly when it ends") {
  constexpr auto schedule = ConstantLR().base_lr(0.3).warmup(4).prepare(10, 7);
  for (int epoch = 0; epoch <= 4; ++epoch) {
    for (int batch : {0, 3, 6}) CHECK(near(schedule.lr(epoch, batch), 0.3 * epoch / 4, 1e-7));
  }
  CHECK(schedule.lr(0, 0) == 0.0F);
  CHECK(schedule.lr(4, 0) == 0.3F);
}

TEST_CASE("a warm-up by batch rises with every step") {
  constexpr auto schedule = ConstantLR().base_lr(0.3).warmup(2).step_by_batch().prepare(10, 7);
  for (int t = 0; t <= 14; ++t) CHECK(near(schedule.lr(t / 7, t % 7), 0.3 * t / 14, 1e-7));
  CHECK(schedule.lr(2, 0) == 0.3F);
}

TEST_CASE("the warm-up starts where it is told: a rate, a part of base, or 0") {
  CHECK(ConstantLR().base_lr(0.5).warmup(2).warmup_start_lr(0.125).prepare(4, 1).lr(0, 0) == 0.125F);
  CHECK(ConstantLR().base_lr(0.5).warmup(2).warmup_start_lr(0.125).prepare(4, 1).lr(1, 0) == 0.3125F);
  CHECK(ConstantLR().base_lr(0.5).warmup(2).warmup_start_factor(0.25).prepare(4, 1).lr(0, 0) == 0.125F);
  CHECK(ConstantLR().warmup_start_factor(0.25).warmup(2).base_lr(0.5).prepare(4, 1).lr(0, 0) == 0.125F);
  CHECK(ConstantLR().base_lr(0.5).warmup(2).prepare(4, 1).lr(0, 0) == 0.0F);
  CHECK(ConstantLR().base_lr(0.5).warmup(2).warmup_start_lr(0.5).prepare(4, 1).lr(1, 0) == 0.5F);
}

// L10
TEST_CASE("without a warm-up its start means nothing, and nothing is divided by zero") {
  for_every_schedule([](auto schedule) {
    CHECK(schedule.base_lr(0.1).warmup(0).warmup_start_factor(0.01).prepare(5, 3).lr(0, 0) == 0.1F);
  });
  for_every_schedule(
      [](auto schedule) { CHECK(schedule.warmup_start_lr(0.01).step_by_batch().prepare(5, 3).lr(0, 0) == 0.1F); });
}

// L18
TEST_CASE("a warm-up may fill the run but not be longer") {
  for_every_schedule([](auto schedule) {
    for (const bool by_batch : {false, true}) {
      const auto prepared = decltype(schedule)().base_lr(0.25).warmup(3).step_by_batch(by_batch).prepare(3, 5);
      for (int t = 0; t <= 15; ++t) CHECK(near(prepared.lr(0, t), by_batch ? 0.25 * t / 15 : 0.0, 1e-7));
      CHECK(prepared.lr(3, 0) == 0.25F);
      CHECK(prepared.lr(100, 0) == 0.25F);
    }
    CHECK_THROWS_WITH_AS(schedule.warmup(4).prepare(3, 5),
                         "warmup is 4 epochs, legal is at most the 3 epochs of the run", ValueError);
  });
}

void check_run_length(const auto& schedule) {
  for (int number : {0, -1, std::numeric_limits<int>::min()}) {
    CHECK_THROWS_AS(schedule.prepare(number, 5), ValueError);
    CHECK_THROWS_AS(schedule.prepare(5, number), ValueError);
  }
  CHECK_THROWS_WITH(schedule.prepare(0, -7),
                    "a schedule of 0 epochs with -7 steps each has no step; both must be 1 or more");
  CHECK_THROWS_WITH(schedule.prepare(-3, 0),
                    "a schedule of -3 epochs with 0 steps each has no step; both must be 1 or more");
  CHECK_NOTHROW(schedule.prepare(1, 1));
}

// L17
TEST_CASE("a run without epochs or steps is rejected, and both numbers are named") {
  for_every_schedule([](const auto& schedule) { check_run_length(schedule); });
  check_run_length(WrongLR());
}

TEST_CASE("a setter rejects what no schedule could use, names it, and keeps its old value") {
  ConstantLR schedule;
  schedule.base_lr(0.5).warmup(2);
  for (double bad : {-1e-12, -inf, inf, nan, 1e39}) {
    CHECK_THROWS_AS(schedule.base_lr(bad), ValueError);
    CHECK_THROWS_AS(schedule.warmup_start_lr(bad), ValueError);
    CHECK_THROWS_AS(schedule.warmup_start_factor(bad), ValueError);
    CHECK_THROWS_AS(CosineAnnealingLR().eta_min(bad), ValueError);
  }
  CHECK_THROWS_AS(schedule.warmup_start_factor(1.001), ValueError);
  CHECK_THROWS_WITH(schedule.warmup(-1), "warmup is -1, legal is 0 or more epochs");
  CHECK_THROWS_WITH(schedule.base_lr(-1), "base_lr is -1, legal is 0 to 3.4028235e+38");
  CHECK(schedule.prepare(2, 1).lr(2, 0) == 0.5F);
  CHECK_NOTHROW(ConstantLR().base_lr(0.0).prepare(1, 1));
}

TEST_CASE("settings that contradict each other are rejected when the run is prepared, whatever their order") {
  CHECK_THROWS_WITH_AS(ConstantLR().warmup_start_lr(0.01).warmup_start_factor(0.5).prepare(5, 5),
                       "the warm-up starts both at warmup_start_lr 0.01 and at warmup_start_factor 0.5; give one",
                       ValueError);
  CHECK_THROWS_AS(ConstantLR().warmup_start_factor(0.0).warmup_start_lr(0.0).prepare(5, 5), ValueError);
  CHECK_THROWS_WITH_AS(ConstantLR().warmup_start_lr(0.2).prepare(5, 5),
                       "warmup_start_lr is 0.2, legal is at most base_lr, which is 0.1", ValueError);
  CHECK_NOTHROW(ConstantLR().warmup_start_lr(0.2).base_lr(0.3).prepare(5, 5));
}

TEST_CASE("the stepping mode locks at the first choice") {
  CHECK_THROWS_WITH_AS(ConstantLR().step_by_batch().step_by_epoch(),
                       "step_by_epoch after step_by_batch: the first choice stands, remove one of the two", StateError);
  CHECK_THROWS_AS(ConstantLR().step_by_epoch().step_by_batch(), StateError);
  CHECK_THROWS_AS(ConstantLR().step_by_batch(false).step_by_batch(true), StateError);
  CHECK_THROWS_AS(CosineAnnealingLR().step_by_batch().prepare(2, 2).step_by_epoch(), StateError);
  CHECK(ConstantLR().step_by_batch().step_by_batch(true).steps_by_batch());
  CHECK(!ConstantLR().step_by_epoch().step_by_batch(false).steps_by_batch());
  CHECK(!ConstantLR().steps_by_batch());
}

TEST_CASE("a schedule that does not know its run has no rate") {
  CHECK_THROWS_AS(ConstantLR().lr(0, 0), StateError);
  CHECK_THROWS_AS(ConstantLR().prepare(2, 2).base_lr(0.2).lr(0, 0), StateError);
  CHECK_THROWS_AS(CosineAnnealingLR().prepare(2, 2).eta_min(0.0).lr(0, 0), StateError);
}

TEST_CASE("preparing gives a new value and may be repeated") {
  const auto schedule = CosineAnnealingLR().base_lr(0.5);
  const auto shorter = schedule.prepare(3, 1);
  const auto longer = shorter.prepare(5, 1);
  CHECK_THROWS_AS(schedule.lr(0, 0), StateError);
  CHECK(shorter.lr(2, 0) == 1e-6F);
  CHECK(near(longer.lr(2, 0), 0.25, 1e-5));
}

TEST_CASE("beyond its end a schedule stays what it was at its end, and before its start what it was there") {
  for_every_schedule([](auto schedule) {
    const auto prepared = schedule.base_lr(0.25).warmup(1).step_by_batch().prepare(25, 4);
    for (int epoch : {25, 26, 1000, std::numeric_limits<int>::max()}) {
      for (int batch : {0, 3}) CHECK(prepared.lr(epoch, batch) == prepared.lr(24, 4));
    }
    CHECK(prepared.lr(-1, 3) == 0.0F);
  });
}

TEST_CASE("a schedule of the shortest run is base") {
  for_every_schedule([](auto schedule) {
    CHECK(schedule.base_lr(0.25).prepare(1, 1).lr(0, 0) == 0.25F);
    CHECK(schedule.step_by_batch().prepare(1, 1).lr(0, 0) == 0.25F);
  });
}

TEST_CASE("a step outside the run has the rate of its nearest step") {
  const auto schedule = CosineAnnealingLR().base_lr(0.5).warmup(1).warmup_start_lr(0.1).step_by_batch().prepare(4, 5);
  constexpr int least = std::numeric_limits<int>::min();
  constexpr int most = std::numeric_limits<int>::max();
  CHECK(schedule.lr(-1, 0) == 0.1F);
  CHECK(schedule.lr(0, -1) == 0.1F);
  CHECK(schedule.lr(least, least) == 0.1F);
  CHECK(schedule.lr(4, 0) == 1e-6F);
  CHECK(schedule.lr(most, most) == 1e-6F);
  CHECK(schedule.lr(0, 7) == schedule.lr(1, 2));
  CHECK(CosineAnnealingLR().prepare(most, most).lr(most, 0) == 1e-6F);
}

TEST_CASE("a negative rate or a NaN becomes 0") {
  const auto schedule = WrongLR().step_by_batch().prepare(2, 3);
  for (int t = 0; t <= 6; ++t) CHECK(std::bit_cast<std::uint32_t>(schedule.lr(0, t)) == 0);
}

}  // namespace
}  // namespace tr
