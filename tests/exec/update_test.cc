#include "tr/exec/update.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/exec/update_rig.h"

namespace tr {
namespace {

/// Some tensors are larger than a chunk, and none is a multiple of anything.
const std::vector<int> sizes{3, 40000, 17};

}  // namespace

TEST_CASE("a global norm clips all gradients by one factor, on any number of ranks") {
  const std::vector<Numbers> gradients{wave(3, 0.1), wave(40000, 0.2), wave(17, 0.3, 5.0), wave(9, 0.4)};
  const double factor = 2.0 / (norm(gradients) + 1e-6);
  for (int ranks : {1, 2, 3, 7}) {
    Update update(rule(SGD().momentum(0.0), GradientClipping().by_norm(2.0)), sizes, 9, ranks);
    for (int p = 0; p < update.count(); ++p) update.set_gradient(p, gradients[static_cast<std::size_t>(p)]);
    REQUIRE(update.step(1.0) == StepStatus::ok);
    for (int p = 0; p < update.count(); ++p) {
      Numbers right = gradients[static_cast<std::size_t>(p)];
      for (double& v : right) v *= -factor;
      check_close(update.weight(p), right);
    }
  }
}

TEST_CASE("a norm below the limit changes no bit") {
  for (int ranks : {1, 2}) {
    Update clipped(rule(AdamW(), GradientClipping().by_norm(1e6)), sizes, 9, ranks);
    Update plain(rule(AdamW()), sizes, 9, ranks);
    for (Update* update : {&clipped, &plain}) {
      for (int p = 0; p < update->count(); ++p)
        update->set_gradient(p, wave(static_cast<int>(update->weight(p).size()), p));
      REQUIRE(update->step(0.1) == StepStatus::ok);
    }
    for (int p = 0; p < plain.count(); ++p) CHECK(clipped.weight(p) == plain.weight(p));
  }
}

TEST_CASE("a norm's bits depend on the gradients and not on who has them") {
  std::vector<Numbers> first;
  for (int ranks : {1, 2, 3, 5}) {
    for (int owner = 0; owner < ranks; ++owner) {
      Update update(rule(SGD().momentum(0.0), GradientClipping().by_norm(0.7)), sizes, 9, ranks);
      for (int p = 0; p < update.count(); ++p) {
        update.set_gradient(p, wave(static_cast<int>(update.weight(p).size()), p), owner);
      }
      REQUIRE(update.step(1.0) == StepStatus::ok);
      std::vector<Numbers> weights;
      for (int p = 0; p < update.count(); ++p) weights.push_back(update.weight(p));
      if (first.empty()) first = weights;
      CHECK(weights == first);
    }
  }
}

TEST_CASE("a hundred gradients of 1e20 clipped to a norm of 1 are 0.1 each") {
  Update update(rule(SGD().momentum(0.0), GradientClipping().by_norm(1.0)), {60, 39}, 1, 2);
  for (int p = 0; p < update.count(); ++p) update.set_gradient(p, Numbers(update.weight(p).size(), 1e20));
  REQUIRE(update.step(1.0) == StepStatus::ok);
  for (int p = 0; p < update.count(); ++p) check_close(update.weight(p), Numbers(update.weight(p).size(), -0.1));
}

TEST_CASE("a gradient that is not finite skips a clipped step whole, and it is reported") {
  for (double bad : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                     std::numeric_limits<double>::quiet_NaN()}) {
    for (const GradientClipping& clipping :
         {GradientClipping().by_norm(1.0), GradientClipping().by_norm(1.0).by_value(0.5)}) {
      Update update(rule(SGD(), clipping), {60, 39}, 1, 2);
      for (int p = 0; p < update.count(); ++p) {
        update.set(p, Numbers(update.weight(p).size(), 3.0));
        update.set_gradient(p, Numbers(update.weight(p).size(), 1.0));
      }
      Numbers broken(39, 1.0);
      broken[20] = bad;
      update.set_gradient(1, broken);
      CHECK(update.step(1.0) == StepStatus::update_not_finite);
      for (int p = 0; p < update.count(); ++p) CHECK(update.weight(p) == Numbers(update.weight(p).size(), 3.0));
      // The next step finds nothing of it.
      update.set_gradient(1, Numbers(39, 0.0));
      update.set_gradient(0, Numbers(60, 0.0));
      update.set_gradient(2, {0.0});
      CHECK(update.step(1.0) == StepStatus::ok);
      for (int p = 0; p < update.count(); ++p) CHECK(update.weight(p) == Numbers(update.weight(p).size(), 3.0));
    }
  }
}

TEST_CASE("values are clipped after the ranks are summed") {
  for (const double max_norm : {0.0, 1e9}) {
    GradientClipping clipping = GradientClipping().by_value(0.5);
    if (max_norm > 0.0) clipping.by_norm(max_norm);
    Update update(rule(SGD().momentum(0.0), clipping), {4}, 1, 3);
    update.set_gradient(0, {0.75, -9.0, 0.25, 0.0});
    update.set_gradient(1, {-0.6});
    REQUIRE(update.step(1.0) == StepStatus::ok);
    CHECK(update.weight(0) == Numbers{-0.5, 0.5, -0.25, 0.0});
    CHECK(update.weight(1) == Numbers{0.5});
  }
}

TEST_CASE("with both limits, the norm is that of the clipped values") {
  Update update(rule(SGD().momentum(0.0), GradientClipping().by_value(3.0).by_norm(1.0)), {2}, 1);
  update.set_gradient(0, {100.0, -4.0});
  REQUIRE(update.step(1.0) == StepStatus::ok);
  const double scaled = 3.0 / (std::sqrt(18.0) + 1e-6);
  check_close(update.weight(0), {-scaled, scaled});
}

TEST_CASE("LARS gives each weight tensor the rate of its own norms, and biases plain momentum") {
  for (int ranks : {1, 2, 3}) {
    Update update(rule(LARS().momentum(0.9).trust_coefficient(0.01).weight_decay(0.05)), sizes, 9, ranks);
    std::vector<Numbers> weights;
    std::vector<Numbers> moments;
    for (int p = 0; p < update.count(); ++p) {
      weights.push_back(wave(static_cast<int>(update.weight(p).size()), 2.0 + p, 1.0 + p));
      moments.emplace_back(weights.back().size(), 0.0);
      update.set(p, weights.back());
    }
    for (int step = 0; step < 20; ++step) {
      const double rate = 0.5 / (1 + step % 4);
      for (int p = 0; p < update.count(); ++p) {
        const auto at = static_cast<std::size_t>(p);
        const Numbers gradient = wave(static_cast<int>(weights[at].size()), p + 0.7 * step, 0.3);
        update.set_gradient(p, gradient);
        const bool bias = p + 1 == update.count();
        const double decay = bias ? 0.0 : 0.05;
        const double w = norm({weights[at]});
        const double ratio = bias ? 1.0 : 0.01 * w / (norm({gradient}) + decay * w + 1e-8);
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          moments[at][i] = 0.9 * moments[at][i] + rate * ratio * (gradient[i] + decay * weights[at][i]);
          weights[at][i] -= moments[at][i];
        }
      }
      REQUIRE(update.step(rate) == StepStatus::ok);
    }
    for (int p = 0; p < update.count(); ++p) check_close(update.weight(p), weights[static_cast<std::size_t>(p)], 2e-6);
  }
}

TEST_CASE("LARS on [3, 4] with a gradient of [0, 2]: the ratio is 0.0025; a norm of 0 makes it 1") {
  Update update(rule(LARS().momentum(0.0).trust_coefficient(0.001)), {2, 2, 2}, 1);
  update.set(0, {3.0, 4.0});
  update.set_gradient(0, {0.0, 2.0});
  update.set(1, {0.0, 0.0});
  update.set_gradient(1, {0.5, -1.0});
  update.set(2, {3.0, 4.0});
  update.set_gradient(2, {0.0, 0.0});
  REQUIRE(update.step(1.0) == StepStatus::ok);
  check_close(update.weight(0), {3.0, 3.995});
  CHECK(update.weight(1) == Numbers{-0.5, 1.0});
  CHECK(update.weight(2) == Numbers{3.0, 4.0});
}

TEST_CASE("a step that was skipped counts for nothing: the next one is what it would have been") {
  for (const AnyOptimizer& optimizer :
       {AnyOptimizer(Adam()), AnyOptimizer(SGD().dampening(0.5)), AnyOptimizer(LARS())}) {
    UpdateRule skipping = rule(optimizer, GradientClipping().by_norm(100.0));
    skipping.ema = EMA().decay(0.9);
    Update once(skipping, {5}, 1, 2);
    Update skipped(skipping, {5}, 1, 2);
    skipped.set_gradient(0, {1.0, std::numeric_limits<double>::infinity(), 1.0, 1.0, 1.0});
    REQUIRE(skipped.step(0.1) == StepStatus::update_not_finite);
    for (int step = 0; step < 3; ++step) {
      for (Update* update : {&once, &skipped}) {
        update->set_gradient(0, Numbers(5, 1.0));
        REQUIRE(update->step(0.1) == StepStatus::ok);
      }
      CHECK(skipped.weight(0) == once.weight(0));
      CHECK(skipped.average(0) == once.average(0));
    }
  }
}

TEST_CASE("a norm that leaves no factor to clip with skips the step, and is told apart") {
  Update update(rule(SGD(), GradientClipping().by_norm(1e-30)), {5}, 1, 2);
  update.set_gradient(0, Numbers(5, 1e20));
  // A GPU leaves one flag for both.
  const bool tells_apart = device_under_test() == Device::cpu;
  CHECK(update.step(0.1) == (tells_apart ? StepStatus::norm_too_large : StepStatus::update_not_finite));
  CHECK(update.weight(0) == Numbers(5, 0.0));
}

}  // namespace tr
