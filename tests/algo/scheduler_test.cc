#include "tr/algo/scheduler.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <vector>

#include "tests/base/near.h"
#include "tr/algo/constant_lr.h"
#include "tr/algo/cosine_annealing_lr.h"
#include "tr/base/philox.h"

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
  CHECK(ConstantLR().base_lr(0.1).warmup(0).warmup_start_factor(0.01).prepare(5, 3).lr(0, 0) == 0.1F);
  CHECK(CosineAnnealingLR().base_lr(0.1).warmup(0).warmup_start_factor(0.01).prepare(5, 3).lr(0, 0) == 0.1F);
  CHECK(CosineAnnealingLR().warmup_start_lr(0.01).step_by_batch().prepare(5, 3).lr(0, 0) == 0.1F);
}

template <class S>
void check_warmup_as_long_as_the_run(S schedule) {
  const auto prepared = schedule.base_lr(0.25).warmup(3).step_by_batch().prepare(3, 5);
  for (int t = 0; t <= 15; ++t) CHECK(near(prepared.lr(0, t), 0.25 * t / 15, 1e-7));
  CHECK(prepared.lr(3, 0) == 0.25F);
  CHECK(prepared.lr(100, 0) == 0.25F);
  CHECK_THROWS_WITH_AS(schedule.warmup(4).prepare(3, 5), "warmup is 4 epochs, legal is at most the 3 epochs of the run",
                       ValueError);
}

// L18
TEST_CASE("a warm-up may fill the run but not be longer") {
  check_warmup_as_long_as_the_run(ConstantLR());
  check_warmup_as_long_as_the_run(CosineAnnealingLR());
}

template <class S>
void check_run_length() {
  for (int epochs : {0, -1, std::numeric_limits<int>::min()}) {
    CHECK_THROWS_AS(S().prepare(epochs, 5), ValueError);
    CHECK_THROWS_AS(S().prepare(5, epochs), ValueError);
  }
  CHECK_THROWS_WITH(S().prepare(0, -7),
                    "a schedule of 0 epochs with -7 steps each has no step; both must be 1 or more");
  CHECK_NOTHROW(S().prepare(1, 1));
}

// L17
TEST_CASE("a run without epochs or steps is rejected, and both numbers are named") {
  check_run_length<ConstantLR>();
  check_run_length<CosineAnnealingLR>();
  check_run_length<WrongLR>();
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

/// A random schedule and run, of either kind and stepping.
template <class S>
S random_schedule(const RandomStream& stream, std::uint64_t i, int& epochs, int& steps) {
  const auto words = stream.block(2 * i);
  const auto more = stream.block(2 * i + 1);
  epochs = 1 + static_cast<int>(words[0] % 12);
  steps = 1 + static_cast<int>(words[1] % 9);
  S schedule;
  schedule.base_lr(uniform(words[2])).step_by_batch(more[0] % 2 == 0);
  schedule.warmup(static_cast<int>(words[3] % static_cast<std::uint32_t>(epochs + 1)));
  if (more[1] % 3 == 1) schedule.warmup_start_factor(uniform(more[2]));
  if (more[1] % 3 == 2) schedule.warmup_start_lr(schedule.base_lr() * uniform(more[2]));
  return schedule;
}

template <class S>
void check_properties(const S& schedule, int epochs, int steps) {
  const auto prepared = schedule.prepare(epochs, steps);
  const auto base = static_cast<float>(schedule.base_lr());
  std::vector<float> rates;
  for (int t = 0; t <= epochs * steps; ++t) rates.push_back(prepared.lr(t / steps, t % steps));
  CHECK(std::ranges::all_of(rates, [=](float rate) { return rate >= 0.0F && rate <= base; }));
  // Asked backwards of another copy, as a resumed run would: the same bits.
  const auto other = schedule.prepare(epochs, steps);
  bool same = true;
  for (int t = epochs * steps; t >= 0; --t) {
    same = same && other.lr(t / steps, t % steps) == rates[static_cast<std::size_t>(t)];
  }
  CHECK(same);
  if (schedule.warmup() > 0) CHECK(prepared.lr(schedule.warmup(), 0) == base);
  const int warmup_steps = schedule.warmup() * steps;
  CHECK(std::ranges::is_sorted(rates.begin(), rates.begin() + warmup_steps));
  CHECK(std::ranges::is_sorted(rates.begin() + warmup_steps, rates.end(), std::ranges::greater()));
  CHECK(prepared.lr(epochs + 3, 0) == prepared.lr(epochs, 0));
}

TEST_CASE("random schedules stay within [0, base], rise, then fall, and do not depend on the order of questions") {
  const RandomStream stream(3, Purpose::init, 0);
  for (std::uint64_t i = 0; i < 200; ++i) {
    int epochs = 0;
    int steps = 0;
    const auto constant = random_schedule<ConstantLR>(stream, i, epochs, steps);
    check_properties(constant, epochs, steps);
    auto cosine = random_schedule<CosineAnnealingLR>(stream, i, epochs, steps);
    cosine.eta_min(cosine.base_lr() * uniform(stream.bits(i)));
    check_properties(cosine, epochs, steps);
  }
}

}  // namespace
}  // namespace tr
