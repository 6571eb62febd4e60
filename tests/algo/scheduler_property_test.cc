#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "tr/algo/any_scheduler.h"
#include "tr/base/philox.h"

// What holds for every schedule, for 200 random settings of each.

namespace tr {
namespace {

/// Random numbers, one after the other.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : stream_(seed, Purpose::init, 0) {}

  int from(int low, int high) { return low + static_cast<int>(word() % static_cast<std::uint32_t>(high - low + 1)); }
  double part() { return uniform(word()); }
  std::uint32_t word() { return stream_.bits(next_++); }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

/// A schedule, the run it is for, and the rate of its first step where there is a warm-up.
template <class S>
struct Sample {
  S schedule;
  int epochs = 0;
  int steps = 0;
  double start = 0.0;
};

template <class S>
Sample<S> random_sample(Draw& draw) {
  Sample<S> sample{.epochs = draw.from(1, 12), .steps = draw.from(1, 9)};
  S& schedule = sample.schedule;
  // Now and then as large and as small as a float can be.
  const double scale = std::ldexp(1.0, draw.from(0, 9) == 0 ? draw.from(-120, 120) : 0);
  schedule.base_lr(draw.part() * scale).step_by_batch(draw.word() % 2 == 0);
  schedule.warmup(draw.from(0, sample.epochs));
  const int start = draw.from(0, 2);
  if (start > 0) sample.start = schedule.base_lr() * draw.part();
  if (start == 1) schedule.warmup_start_factor(sample.start / schedule.base_lr());
  if (start == 2) schedule.warmup_start_lr(sample.start);
  return sample;
}

template <class S>
std::vector<float> all_rates(const S& prepared, int epochs, int steps) {
  std::vector<float> rates;
  for (int t = 0; t <= epochs * steps; ++t) rates.push_back(prepared.lr(t / steps, t % steps));
  return rates;
}

/// Another copy, asked in another order.
template <class S>
bool same_in_any_order(const S& prepared, const std::vector<float>& rates, int steps, Draw& draw) {
  std::vector<int> order(rates.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draw.word() % i]);
  return std::ranges::all_of(
      order, [&](int t) { return prepared.lr(t / steps, t % steps) == rates[static_cast<std::size_t>(t)]; });
}

/// No two neighbours from `first` on are further apart than `slope`, but for rounding.
bool is_continuous(const std::vector<float>& rates, std::size_t first, double slope) {
  for (std::size_t t = first + 1; t < rates.size(); ++t) {
    const double rounding = 0x1p-22 * std::max(rates[t], rates[t - 1]);
    if (std::abs(static_cast<double>(rates[t]) - rates[t - 1]) > slope + rounding) return false;
  }
  return true;
}

/// `slope` bounds the difference of two neighbouring steps behind the warm-up, in multiples of base.
template <class S>
void check_properties(const Sample<S>& sample, double slope, Draw& draw) {
  const auto& [schedule, epochs, steps, start] = sample;
  const auto prepared = schedule.prepare(epochs, steps);
  const auto base = static_cast<float>(schedule.base_lr());
  const std::vector<float> rates = all_rates(prepared, epochs, steps);
  CHECK(std::ranges::all_of(rates, [=](float rate) { return rate >= 0.0F && rate <= base; }));
  CHECK(same_in_any_order(schedule.prepare(epochs, steps), rates, steps, draw));
  CHECK(prepared.lr(epochs + 3, 0) == rates.back());
  CHECK(prepared.lr(-1, 0) == rates.front());
  CHECK(prepared.lr(schedule.warmup(), 0) == base);
  const int warmup_steps = schedule.warmup() * steps;
  CHECK(std::ranges::is_sorted(rates.begin(), rates.begin() + warmup_steps + 1));
  if (!schedule.steps_by_batch()) {
    for (int t = 0; t < epochs * steps; ++t) CHECK(prepared.lr(t / steps, 0) == rates[static_cast<std::size_t>(t)]);
    return;
  }
  if (warmup_steps > 0) {
    const std::vector<float> rise(rates.begin(), rates.begin() + warmup_steps + 1);
    CHECK(is_continuous(rise, 0, (schedule.base_lr() - start) / warmup_steps));
  }
  CHECK(is_continuous(rates, static_cast<std::size_t>(warmup_steps), slope * schedule.base_lr()));
}

template <class S>
bool falls(const Sample<S>& sample) {
  const std::vector<float> rates =
      all_rates(sample.schedule.prepare(sample.epochs, sample.steps), sample.epochs, sample.steps);
  return std::ranges::is_sorted(rates.begin() + sample.schedule.warmup() * sample.steps, rates.end(),
                                std::ranges::greater());
}

template <class S>
int steps_left(const Sample<S>& sample) {
  return (sample.epochs - sample.schedule.warmup()) * sample.steps;
}

constexpr int samples = 200;

TEST_CASE("a constant schedule keeps to its bounds and does not move behind the warm-up") {
  Draw draw(1);
  for (int i = 0; i < samples; ++i) {
    const auto sample = random_sample<ConstantLR>(draw);
    check_properties(sample, 0.0, draw);
  }
}

TEST_CASE("a step schedule keeps to its bounds and falls by its factor or not at all") {
  Draw draw(2);
  for (int i = 0; i < samples; ++i) {
    auto sample = random_sample<StepLR>(draw);
    const double gamma = draw.part();
    sample.schedule.step_size(draw.from(1, 5)).gamma(gamma);
    const int left = sample.epochs - sample.schedule.warmup();
    check_properties(sample, sample.schedule.step_size() <= left ? 1.0 - gamma : 0.0, draw);
    CHECK(falls(sample));
  }
}

TEST_CASE("a multi-step schedule keeps to its bounds and falls only at its milestones") {
  Draw draw(3);
  for (int i = 0; i < samples; ++i) {
    auto sample = random_sample<MultiStepLR>(draw);
    std::vector<int> milestones;
    for (int epoch = draw.from(1, 4); milestones.size() < 16 && epoch < 12; epoch += draw.from(1, 4)) {
      milestones.push_back(epoch);
    }
    const double gamma = draw.part();
    sample.schedule.milestones(milestones).gamma(gamma);
    // Those within the warm-up come all at once with the step behind it.
    const int first_epoch = sample.schedule.warmup() + (sample.steps == 1 ? 1 : 0);
    const auto met = std::ranges::count_if(milestones, [&](int m) { return m <= first_epoch; });
    const bool is_met = std::ranges::any_of(milestones, [&](int m) { return m <= sample.epochs; });
    check_properties(sample, is_met ? 1.0 - std::pow(gamma, std::max<double>(1.0, static_cast<double>(met))) : 0.0,
                     draw);
    CHECK(falls(sample));
  }
}

TEST_CASE("an exponential schedule keeps to its bounds and falls by its factor") {
  Draw draw(4);
  for (int i = 0; i < samples; ++i) {
    auto sample = random_sample<ExponentialLR>(draw);
    const double gamma = draw.part();
    sample.schedule.gamma(gamma);
    check_properties(sample, 1.0 - gamma, draw);
    CHECK(falls(sample));
  }
}

TEST_CASE("a polynomial schedule keeps to its bounds, has no jump and falls") {
  Draw draw(5);
  for (int i = 0; i < samples; ++i) {
    auto sample = random_sample<PolynomialLR>(draw);
    const double end = draw.part();
    const double power = 3.0 * draw.part();
    sample.schedule.end_lr(sample.schedule.base_lr() * end).power(power);
    const double part = 1.0 / (steps_left(sample) + 1);
    // A power is steepest at 1 where it is above 1, else at 0.
    check_properties(sample, (1.0 - end) * (power > 1.0 ? power * part : std::pow(part, power)), draw);
    CHECK(falls(sample));
  }
}

TEST_CASE("a cosine keeps to its bounds, has no jump and falls") {
  Draw draw(6);
  for (int i = 0; i < samples; ++i) {
    auto sample = random_sample<CosineAnnealingLR>(draw);
    const double eta = draw.part();
    sample.schedule.eta_min(sample.schedule.base_lr() * eta);
    const int left = steps_left(sample);
    check_properties(sample, left > 0 ? (1.0 - eta) * std::numbers::pi / (2.0 * left) : 0.0, draw);
    CHECK(falls(sample));
  }
}

TEST_CASE("a cosine with restarts keeps to its bounds, falls without a jump and rises only to restart") {
  Draw draw(7);
  for (int i = 0; i < samples; ++i) {
    auto sample = random_sample<CosineAnnealingWithWarmRestartsLR>(draw);
    const double eta = draw.part();
    const int t_0 = draw.from(1, 5);
    const double t_mult = draw.word() % 2 == 0 ? draw.from(1, 3) : 1.0 + draw.part();
    sample.schedule.eta_min(sample.schedule.base_lr() * eta).t_0(t_0).t_mult(t_mult);
    check_properties(sample, 1.0, draw);

    const auto rates = all_rates(sample.schedule.prepare(sample.epochs, sample.steps), sample.epochs, sample.steps);
    if (!sample.schedule.steps_by_batch()) continue;
    const double base = sample.schedule.base_lr();
    const double slope = (1.0 - eta) * base * std::numbers::pi / (2.0 * t_0 * sample.steps);
    const auto whole = static_cast<float>(base);
    for (std::size_t t = static_cast<std::size_t>(sample.schedule.warmup() * sample.steps) + 1; t < rates.size(); ++t) {
      if (rates[t] < rates[t - 1]) {
        CHECK(static_cast<double>(rates[t - 1]) - rates[t] <= slope + 0x1p-22 * base);
      } else if (rates[t] > rates[t - 1]) {
        // A cycle that starts between two steps has gone on for less than one of them.
        CHECK(static_cast<double>(whole) - rates[t] <= slope + 0x1p-22 * base);
      }
    }
  }
}

TEST_CASE("a warm-up, stable, decay schedule keeps to its bounds, has no jump and falls") {
  Draw draw(8);
  for (int i = 0; i < samples; ++i) {
    auto sample = random_sample<WSDLR>(draw);
    const double end = draw.part();
    const double decay_start = draw.from(0, 9) == 0 ? draw.from(0, 1) : draw.part();
    sample.schedule.end_lr(sample.schedule.base_lr() * end).decay_start(decay_start);
    const int left = steps_left(sample);
    const double decaying = left - std::floor(left * decay_start);
    check_properties(sample, decaying > 0 ? (1.0 - end) / decaying : 0.0, draw);
    CHECK(falls(sample));
  }
}

}  // namespace
}  // namespace tr
