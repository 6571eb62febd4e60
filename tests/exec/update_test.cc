#include "tr/exec/update.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/exec/precisions.h"
#include "tr/base/bf16.h"
#include "tr/task/simple_task.h"

namespace tr {
namespace {

using Numbers = std::vector<double>;

/// Some weights and one bias, all 0 at first, under an update rule; their gradients are set by hand, on the ranks in
/// equal parts.
class Update {
 public:
  Update(const UpdateRule& rule, const std::vector<int>& weight_sizes, int bias_size, int ranks = 1,
         Precision precision = Precision::fp32)
      : ranks_(ranks), task_({.ranks = ranks, .precision = precision, .rule = rule}) {
    for (int size : weight_sizes) declare(Region::w_fc_weight, size, precision);
    declare(Region::w_fc_bias, bias_size, precision);
    task_.update();
    task_.compile();
    for (int p = 0; p < count(); ++p) set(p, Numbers(static_cast<std::size_t>(sizes_[at(p)]), 0.0));
  }

  int count() const { return static_cast<int>(ids_.size()); }
  void set(int parameter, const Numbers& values) { task_.set(ids_[at(parameter)], tensor(parameter, values)); }
  /// The whole gradient on one rank, or a ranks-th of it on every rank.
  void set_gradient(int parameter, const Numbers& values, int only_rank = -1) {
    for (int rank = 0; rank < ranks_; ++rank) {
      Numbers part = values;
      for (double& v : part) v = only_rank < 0 ? v / ranks_ : rank == only_rank ? v : 0.0;
      task_.set(gradients_[at(parameter)], tensor(parameter, part), rank);
    }
  }
  StepStatus step(double rate) {
    task_.set(Scalar::learning_rate, rate);
    return task_.run();
  }
  Numbers weight(int parameter) const { return fetch(ids_[at(parameter)]); }
  Numbers average(int parameter) const { return fetch(image_of(task_.plan(), ids_[at(parameter)], Image::average)); }
  SimpleTask& task() { return task_; }
  int id(int parameter) const { return ids_[at(parameter)]; }

 private:
  static std::size_t at(int parameter) { return static_cast<std::size_t>(parameter); }
  void declare(Region region, int size, Precision precision) {
    const Shape shape{1, 1, 1, size};
    ids_.push_back(task_.tensor(region, shape, DType::fp32));
    gradients_.push_back(task_.tensor(image_of(region, Image::gradient), shape, DType::fp32));
    if (precision == Precision::bf16 && is_weight(region)) task_.tensor(Region::a_fc_weight, shape, DType::bf16);
    sizes_.push_back(size);
  }
  Tensor tensor(int parameter, const Numbers& values) const {
    const std::vector<float> rounded(values.begin(), values.end());
    return Tensor::of<float>({1, 1, 1, sizes_[at(parameter)]}, rounded);
  }
  Numbers fetch(int id) const {
    const Tensor value = task_.fetch(id);
    return {value.values<float>().begin(), value.values<float>().end()};
  }

  int ranks_;
  SimpleTask task_;
  std::vector<int> ids_;
  std::vector<int> gradients_;
  std::vector<int> sizes_;
};

UpdateRule rule(const AnyOptimizer& optimizer, const GradientClipping& clipping = {}) {
  return {optimizer, clipping, {}};
}

Numbers wave(int size, double phase, double amplitude = 1.0) {
  Numbers values;
  for (int i = 0; i < size; ++i) {
    values.push_back(static_cast<double>(static_cast<float>(amplitude * std::sin(phase + 0.37 * i))));
  }
  return values;
}

double norm(const std::vector<Numbers>& tensors) {
  double sum = 0.0;
  for (const Numbers& tensor : tensors) {
    for (double v : tensor) sum += v * v;
  }
  return std::sqrt(sum);
}

void check_close(const Numbers& got, const Numbers& right, double tolerance = 1e-6) {
  REQUIRE(got.size() == right.size());
  double largest = 0.0;
  double difference = 0.0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    largest = std::max(largest, std::fabs(right[i]));
    difference = std::max(difference, std::fabs(right[i] - got[i]));
  }
  CHECK(difference <= tolerance * largest);
}

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

}  // namespace tr
