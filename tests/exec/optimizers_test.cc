// Whole steps of every optimizer: what it does over time, and that its settings reach the arithmetic.

#include "tests/golden/optimizers.h"

#include <doctest/doctest.h>

#include <cmath>
#include <variant>
#include <vector>

#include "tests/exec/precisions.h"
#include "tests/exec/update_rig.h"
#include "tr/base/bf16.h"

namespace tr {
namespace {

/// Some tensors are larger than a chunk, and none is a multiple of anything.
const std::vector<int> sizes{3, 40000, 17};

/// The settings of a golden run as a user would write them.
UpdateRule rule_of(const golden::SgdGolden& g) {
  SGD sgd = SGD().momentum(g.momentum).dampening(g.dampening).weight_decay(g.weight_decay).nesterov(g.nesterov);
  sgd.decoupled(g.decoupled);
  return rule(sgd);
}
UpdateRule rule_of(const golden::AdamGolden& g) {
  const auto set = [&](auto adam) {
    adam.beta1(g.beta1).beta2(g.beta2).eps(g.epsilon).weight_decay(g.weight_decay);
    return rule(adam);
  };
  return g.decoupled ? set(AdamW()) : set(Adam());
}

template <class Golden>
void check_golden(const Golden& g, int ranks) {
  CAPTURE(g.name);
  CAPTURE(ranks);
  UpdateRule settings = rule_of(g);
  if (g.clip_norm > 0.0) settings.clipping.by_norm(g.clip_norm);
  if (g.clip_value > 0.0) settings.clipping.by_value(g.clip_value);
  settings.ema = EMA().decay(golden::optimizer_average_decay);
  // PyTorch's one tensor, as two: a norm must span both.
  constexpr int first = 11;
  Update update(settings, {first, golden::optimizer_values - first}, 1, ranks);
  const auto part = [&](const auto* values, int p) {
    return p == 0 ? Numbers(values, values + first) : Numbers(values + first, values + golden::optimizer_values);
  };
  for (int p : {0, 1}) update.set(p, part(golden::optimizer_weights, p));
  for (int step = 0; step < golden::optimizer_steps; ++step) {
    for (int p : {0, 1}) update.set_gradient(p, part(golden::optimizer_gradients[step], p), step % ranks);
    REQUIRE(update.step(static_cast<double>(golden::optimizer_rates[step])) == StepStatus::ok);
    for (int shown : {0, 1}) {
      if (step + 1 != golden::optimizer_shown_steps[shown]) continue;
      for (int p : {0, 1}) check_close(update.weight(p), part(g.after[shown], p), 2e-6);
    }
  }
  for (int p : {0, 1}) check_close(update.average(p), part(g.average, p), 2e-6);
}

}  // namespace

TEST_CASE("the average takes the first step as it is and follows from there") {
  for (int ranks : {1, 2}) {
    for (const bool clipped : {false, true}) {
      UpdateRule averaged = rule(SGD().momentum(0.0));
      if (clipped) averaged.clipping.by_norm(1e9);
      averaged.ema = EMA().decay(0.75);
      Update update(averaged, sizes, 9, ranks);
      Numbers weight = wave(40000, 0.0);
      update.set(1, weight);
      Numbers average;
      for (int step = 0; step < 5; ++step) {
        const Numbers gradient = wave(40000, step);
        update.set_gradient(1, gradient);
        REQUIRE(update.step(0.25) == StepStatus::ok);
        for (std::size_t i = 0; i < weight.size(); ++i) weight[i] -= 0.25 * gradient[i];
        if (step == 0) average = weight;
        for (std::size_t i = 0; i < weight.size(); ++i) average[i] = 0.75 * average[i] + 0.25 * weight[i];
        check_close(update.average(1), average);
      }
      check_close(update.weight(1), weight);
      CHECK(update.average(3) == update.weight(3));
    }
  }
}

TEST_CASE("no optimizer decays a bias, and each decays a weight as its formula says") {
  const double rate = 0.1;
  const double decay = 0.01;
  const auto after_1000_steps = [&](const AnyOptimizer& optimizer) {
    Update update(rule(optimizer), {5}, 5);
    update.set(0, Numbers(5, 1.0));
    update.set(1, Numbers(5, 1.0));
    for (int i = 0; i < 1000; ++i) REQUIRE(update.step(rate) == StepStatus::ok);
    CHECK(update.weight(1) == Numbers(5, 1.0));
    return update.weight(0).front();
  };
  const double decoupled = std::pow(1.0 - rate * decay, 1000);
  CHECK(std::fabs(after_1000_steps(AdamW().weight_decay(decay)) - decoupled) < 1e-4);
  CHECK(std::fabs(after_1000_steps(SGD().momentum(0.0).weight_decay(decay).decoupled()) - decoupled) < 1e-4);
  CHECK(std::fabs(after_1000_steps(SGD().momentum(0.0).weight_decay(decay)) - decoupled) < 1e-4);
  CHECK(after_1000_steps(SGD().weight_decay(decay)) < 1.0);
  CHECK(after_1000_steps(Adam().weight_decay(decay)) < 1.0);
  // A gradient of 0 has no direction to trust: the ratio is 1.
  CHECK(std::fabs(after_1000_steps(LARS().momentum(0.0).weight_decay(decay)) - decoupled) < 1e-4);
}

TEST_CASE("a rate changed between steps moves the weights as the formula says, for every optimizer") {
  const Numbers rates{0.1, 0.1, 0.01, 0.0, 0.2};
  const auto moves = [&](const AnyOptimizer& optimizer) {
    Update update(rule(optimizer), {1}, 1);
    update.set(0, {1.0});
    Numbers seen;
    for (double rate : rates) {
      update.set_gradient(0, {1.0});
      const double before = update.weight(0).front();
      REQUIRE(update.step(rate) == StepStatus::ok);
      seen.push_back(before - update.weight(0).front());
    }
    return seen;
  };
  // A gradient of 1 throughout: SGD's momentum holds 1, 1.9, 2.71, 3.439, 4.0951, each step times its own rate.
  check_close(moves(SGD()), {0.1, 0.19, 0.0271, 0.0, 0.81902}, 2e-6);
  check_close(moves(SGD().nesterov()), {0.19, 0.271, 0.03439, 0.0, 0.937118}, 2e-6);
  // Adam's moments are 1 after correction, whatever the step.
  check_close(moves(Adam()), rates, 2e-6);
  check_close(moves(AdamW().weight_decay(0.0)), rates, 2e-6);
  // LARS keeps the rate inside its momentum, so a rate of 0 still moves.
  Numbers right;
  double weight = 1.0;
  double moment = 0.0;
  for (double rate : rates) {
    moment = 0.9 * moment + rate * (0.001 * weight / (1.0 + 1e-8));
    weight -= moment;
    right.push_back(moment);
  }
  check_close(moves(LARS()), right, 2e-3);
}

TEST_CASE("working copies follow the weights" * doctest::skip(!has_bf16())) {
  UpdateRule averaged = rule(SGD().momentum(0.0), GradientClipping().by_norm(1e9));
  averaged.ema = EMA().decay(0.5);
  Update update(averaged, sizes, 9, 2, Precision::bf16);
  update.set(1, wave(40000, 1.0));
  for (int step = 0; step < 3; ++step) {
    update.set_gradient(1, wave(40000, step));
    REQUIRE(update.step(0.1) == StepStatus::ok);
  }
  const Tensor copy = update.task().fetch(update.id(1) + 2);
  const Numbers weight = update.weight(1);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    REQUIRE(copy.values<Bf16>()[i] == to_bf16(static_cast<float>(weight[i])));
  }
}

TEST_CASE("O12: without a gradient a thousand decoupled steps leave a γ and a bias alone and shrink a weight") {
  for (const AnyOptimizer& optimizer :
       {AnyOptimizer(AdamW().weight_decay(5e-5)), AnyOptimizer(SGD().weight_decay(5e-5).decoupled())}) {
    Update update(rule(optimizer), {5}, 5);
    update.set(0, Numbers(5, 1.0));
    update.set(1, Numbers(5, 1.0));
    for (int i = 0; i < 1000; ++i) REQUIRE(update.step(0.1) == StepStatus::ok);
    CHECK(update.weight(1) == Numbers(5, 1.0));
    // A weight near 1 is rounded to 2^-24 a thousand times.
    for (double w : update.weight(0)) CHECK(std::fabs(w - 0.9950125) < 1000 * 0x1p-25);
  }
}

TEST_CASE("a decay below half a unit of the weight is not lost where the weight moves") {
  // 1 - 1e-4·1e-4 rounds to 1: a product with it would decay nothing.
  const double rate = 1e-4;
  const double decay = 1e-4;
  const int count = 2000;
  const int steps = 40;
  const auto mean_after = [&](const AnyOptimizer& optimizer) {
    Update update(rule(optimizer), {count}, 1);
    update.set(0, Numbers(count, 1.0));
    for (int i = 0; i < steps; ++i) {
      update.set_gradient(0, wave(count, 0.3 + 1.7 * i));
      REQUIRE(update.step(rate) == StepStatus::ok);
    }
    double sum = 0.0;
    for (double w : update.weight(0)) sum += w - 1.0;
    return sum / count;
  };
  const auto check_decay = [&](const AnyOptimizer& with, const AnyOptimizer& without) {
    // Rounding averages out over weights and steps.
    CHECK(std::fabs(mean_after(without) - mean_after(with) - steps * rate * decay) < 0.2 * steps * rate * decay);
  };
  check_decay(AdamW().weight_decay(decay), AdamW().weight_decay(0.0));
  check_decay(SGD().weight_decay(decay).decoupled(), SGD());
}

TEST_CASE("a gradient whose square overflows is reported, not turned into a weight that never moves again") {
  for (const AnyOptimizer& optimizer : {AnyOptimizer(Adam()), AnyOptimizer(AdamW())}) {
    Update update(rule(optimizer), {3}, 1, 2);
    update.set_gradient(0, {1.0, 1e22, 1.0});
    CHECK(update.step(0.1) == StepStatus::update_not_finite);
  }
}

TEST_CASE("twenty steps of a task are PyTorch's, with every setting that both have") {
  for (int ranks : {1, 3}) {
    for (const golden::SgdGolden& g : golden::sgd_goldens) check_golden(g, ranks);
    for (const golden::AdamGolden& g : golden::adam_goldens) check_golden(g, ranks);
  }
}

}  // namespace tr
