#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "tr/algo/any_scheduler.h"

// A rate is computed by the same functions while the program is compiled and while it runs: the same bits must come
// out.

namespace tr {
namespace {

constexpr int epochs = 11;
constexpr int steps = 7;

/// What the schedules below are made from, each for its own purpose.
struct Numbers {
  double base;
  double part;
  double factor;
  int count;
};

constexpr Numbers known{.base = 0.0123, .part = 0.37, .factor = 1.3, .count = 2};

template <auto make>
constexpr auto all_rates(const Numbers& numbers, int epoch_count) {
  const auto schedule = make(numbers).warmup(2).warmup_start_factor(0.1).step_by_batch().prepare(epoch_count, steps);
  std::array<float, epochs * steps + 1> rates{};
  for (int t = 0; t <= epochs * steps; ++t) rates[static_cast<std::size_t>(t)] = schedule.lr(t / steps, t % steps);
  return rates;
}

template <auto make>
void check_bits() {
  constexpr auto constants = all_rates<make>(known, epochs);
  // The compiler may not know these.
  volatile double base = known.base;
  volatile double part = known.part;
  volatile double factor = known.factor;
  volatile int count = known.count;
  volatile int epoch_count = epochs;
  const auto rates = all_rates<make>({.base = base, .part = part, .factor = factor, .count = count}, epoch_count);
  for (std::size_t t = 0; t < rates.size(); ++t) {
    CAPTURE(t);
    CHECK(std::bit_cast<std::uint32_t>(rates[t]) == std::bit_cast<std::uint32_t>(constants[t]));
  }
  CHECK(constants[2 * steps] == static_cast<float>(known.base));
}

constexpr auto constant = [](const Numbers& n) { return ConstantLR().base_lr(n.base); };
constexpr auto step = [](const Numbers& n) { return StepLR().base_lr(n.base).gamma(n.part).step_size(n.count); };
constexpr auto multi_step = [](const Numbers& n) {
  return MultiStepLR().base_lr(n.base).gamma(n.part).milestones({n.count, n.count + 2, n.count + 5});
};
constexpr auto exponential = [](const Numbers& n) { return ExponentialLR().base_lr(n.base).gamma(n.part); };
constexpr auto polynomial = [](const Numbers& n) {
  return PolynomialLR().base_lr(n.base).power(n.factor).end_lr(n.base * n.part);
};
constexpr auto cosine = [](const Numbers& n) { return CosineAnnealingLR().base_lr(n.base).eta_min(n.base * n.part); };
constexpr auto doubling = [](const Numbers& n) {
  return CosineAnnealingWithWarmRestartsLR().base_lr(n.base).t_0(1).t_mult(n.count).eta_min(n.base * n.part);
};
constexpr auto growing = [](const Numbers& n) {
  return CosineAnnealingWithWarmRestartsLR().base_lr(n.base).t_0(n.count).t_mult(n.factor).eta_min(n.base * n.part);
};
constexpr auto wsd = [](const Numbers& n) {
  return WSDLR().base_lr(n.base).decay_start(n.part).end_lr(n.base * n.part);
};

TEST_CASE("a constant and the rate computed at run time have the same bits, for every schedule") {
  check_bits<constant>();
  check_bits<step>();
  check_bits<multi_step>();
  check_bits<exponential>();
  check_bits<polynomial>();
  check_bits<cosine>();
  check_bits<doubling>();
  check_bits<growing>();
  check_bits<wsd>();
}

}  // namespace
}  // namespace tr
