#include "tr/task/simple_task.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/base/near.h"
#include "tests/device_under_test.h"
#include "tr/base/bf16.h"
#include "tr/base/error.h"

namespace tr {
namespace {

Tensor floats(Shape shape, const std::vector<float>& values) { return Tensor::of<float>(shape, values); }
Tensor ints(Shape shape, const std::vector<std::int32_t>& values) { return Tensor::of<std::int32_t>(shape, values); }

/// A loss over given logits, with everything it reads and writes.
struct LossTask {
  SimpleTask task;
  int logits = -1;
  int labels = -1;

  explicit LossTask(Shape shape, int ranks = 1) : task({.ranks = ranks, .device = device_under_test()}) {
    const Shape rows{shape.n, 1, 1, 1};
    logits = task.tensor(Region::f_feature, shape, DType::fp32);
    labels = task.tensor(Region::f_feature, rows, DType::int32);
    const int row_loss = task.tensor(Region::t_temp, rows, DType::fp32);
    const int row_rank = task.tensor(Region::t_temp, rows, DType::int32);
    task.node({.op = OpKind::softmax_ce,
               .in = operands(logits, labels, task.scalar(Scalar::label_smoothing)),
               .out = operands(logits, row_loss, row_rank)});
    task.node({.op = OpKind::accumulate_metrics,
               .in = operands(row_loss, row_rank),
               .out = operands(task.result(), task.accumulated())});
    task.compile();
  }
};

/// One weight vector [1, n] under an optimizer, its gradient set by hand.
struct UpdateTask {
  SimpleTask task;
  int weight = -1;
  int gradient = -1;

  UpdateTask(const UpdateRule& rule, int n, int ranks = 1)
      : task({.ranks = ranks, .rule = rule, .device = device_under_test()}) {
    weight = task.tensor(Region::w_fc_weight, {1, 1, 1, n}, DType::fp32);
    gradient = task.tensor(Region::g_fc_weight, {1, 1, 1, n}, DType::fp32);
    task.update();
    task.compile();
  }
};

}  // namespace

TEST_CASE("a graph built by hand runs any number of times") {
  SimpleTask task({.device = device_under_test()});
  const int x = task.tensor(Region::f_feature, {2, 1, 1, 3}, DType::fp32);
  const int y = task.tensor(Region::f_feature, {2, 1, 1, 3}, DType::fp32);
  task.node({.op = OpKind::relu_forward, .in = operands(x), .out = operands(y)});
  task.compile();
  task.set(x, floats({2, 1, 1, 3}, {-1, 0, 1, 2, -3, 4}));
  CHECK(task.run(3) == StepStatus::ok);
  const Tensor first = task.fetch(y);
  CHECK(std::vector<float>(first.values<float>().begin(), first.values<float>().end()) ==
        std::vector<float>{0, 0, 1, 2, 0, 4});
  task.set(x, floats({2, 1, 1, 3}, {5, 5, 5, 5, 5, -5}));
  task.run();
  const Tensor second = task.fetch(y);
  CHECK(second.values<float>()[0] == 5.0F);
  CHECK(second.values<float>()[5] == 0.0F);
}

TEST_CASE("calls in the wrong phase, wrong ids, shapes and types are errors") {
  SimpleTask task({.device = device_under_test()});
  const int x = task.tensor(Region::f_feature, {1, 1, 1, 2}, DType::fp32);
  CHECK_THROWS_AS(task.run(), StateError);
  CHECK_THROWS_AS(task.fetch(x), StateError);
  CHECK_THROWS_AS(task.set(x, floats({1, 1, 1, 2}, {1, 2})), StateError);
  CHECK_THROWS_AS(task.node({.op = OpKind::relu_forward, .in = operands(x), .out = operands(99)}), ValueError);
  CHECK_THROWS_AS(task.tensor(Region::f_feature, {-1, 1, 1, 2}, DType::fp32), ShapeError);
  CHECK_THROWS_AS(SimpleTask({.ranks = 0}), ValueError);
  task.node({.op = OpKind::relu_forward, .in = operands(x), .out = operands(x)});
  task.compile();
  CHECK_THROWS_AS(task.tensor(Region::f_feature, {1, 1, 1, 2}, DType::fp32), StateError);
  CHECK_THROWS_AS(task.node({}), StateError);
  CHECK_THROWS_AS(task.compile(), StateError);
  CHECK_THROWS_AS(task.set(x, floats({1, 1, 1, 1}, {1})), ShapeError);
  CHECK_THROWS_AS(task.set(x, ints({1, 1, 1, 2}, {1, 2})), ValueError);
  CHECK_THROWS_AS(task.set(x, floats({1, 1, 1, 2}, {1, 2}), 1), ValueError);
  CHECK_THROWS_AS(task.fetch(-1), ValueError);
}

TEST_CASE("a node that lacks what it needs is refused, and the task stays unusable, not half-made") {
  const auto failed = [](const Node& node, Precision precision = Precision::fp32) {
    SimpleTask task({.precision = precision, .device = device_under_test()});
    task.tensor(Region::w_fc_weight, {1, 1, 1, 8}, DType::fp32);
    task.node(node);
    CHECK_THROWS_AS(task.compile(), Error);
    CHECK_THROWS_AS(task.run(), StateError);
    CHECK_THROWS_AS(task.compile(), StateError);
  };
  failed({.op = OpKind::update});
  failed({.op = OpKind::update, .range = weight_range});
  failed({.op = OpKind::advance_step});
  failed({.op = OpKind::relu_forward});
  failed({.op = OpKind::fc_forward});
  failed({.op = OpKind::softmax_ce});
  failed({.op = OpKind::meet}, Precision::bf16);
  // A flag alone is not enough: the weight has no gradient.
  SimpleTask task({.device = device_under_test()});
  task.tensor(Region::w_fc_weight, {1, 1, 1, 8}, DType::fp32);
  task.node({.op = OpKind::update, .out = operands(task.plan().fixed.not_finite[0]), .range = weight_range});
  CHECK_THROWS_AS(task.compile(), ShapeError);
}

TEST_CASE("a weight that is set takes its working copy along") {
  SimpleTask task({.precision = Precision::bf16, .device = device_under_test()});
  const int weight = task.tensor(Region::w_fc_weight, {1, 1, 1, 8}, DType::fp32);
  const int copy = task.tensor(Region::a_fc_weight, {1, 1, 1, 8}, DType::bf16);
  task.compile();
  task.set(weight, floats({1, 1, 1, 8}, std::vector<float>(8, 1.0F / 3.0F)));
  CHECK(task.fetch(copy).values<Bf16>()[7] == to_bf16(1.0F / 3.0F));
}

TEST_CASE("smoothed cross-entropy spreads over all classes") {
  LossTask loss({1, 1, 1, 3});
  loss.task.set(Scalar::label_smoothing, 0.1);
  loss.task.set(loss.logits, floats({1, 1, 1, 3}, {1, 2, 3}));
  loss.task.set(loss.labels, ints({}, {2}));
  CHECK(loss.task.run() == StepStatus::ok);
  CHECK(near(loss.task.fetch(loss.task.result()).values<double>()[0], 0.507606, 1e-6));
  const Tensor gradient = loss.task.fetch(loss.logits);
  const float right[] = {0.0566972F, 0.2113951F, -0.2680924F};
  for (int i = 0; i < 3; ++i) CHECK(near(gradient.values<float>()[i], right[i], 1e-5));
}

TEST_CASE("a label outside the classes is an error that names rank, sample and label") {
  LossTask loss({3, 1, 1, 8}, 2);
  loss.task.set(loss.logits, floats({3, 1, 1, 8}, std::vector<float>(24, 0.0F)));
  loss.task.set(loss.labels, ints({3, 1, 1, 1}, {1, 7, 0}), 0);
  loss.task.set(loss.labels, ints({3, 1, 1, 1}, {1, 7, 8}), 1);
  CHECK_THROWS_WITH_AS(loss.task.run(), "rank 1, sample 2: label 8 is not in [0, 8)", ValueError);
}

TEST_CASE("logits that are all NaN are never right") {
  LossTask loss({2, 1, 1, 10});
  loss.task.set(loss.logits, floats({2, 1, 1, 10}, std::vector<float>(20, std::nanf(""))));
  loss.task.set(loss.labels, ints({2, 1, 1, 1}, {0, 3}));
  CHECK(loss.task.run() == StepStatus::loss_not_finite);
  CHECK(loss.task.fetch(loss.task.result()).values<double>()[1] == 0.0);
  CHECK(loss.task.fetch(loss.task.result()).values<double>()[2] == 0.0);
}

TEST_CASE("an epoch's loss is the mean over samples, not over batches") {
  // Losses 0, 0, 0, 0, 10 at batch 2: a batch with a confident right answer has loss 0, the last sample has 10.
  double sum = 0.0;
  double rows = 0.0;
  const std::vector<std::vector<float>> batches{{40, 0, 40, 0}, {40, 0, 40, 0}, {0, 10}};
  for (const auto& logits : batches) {
    const int n = static_cast<int>(logits.size() / 2);
    LossTask loss({n, 1, 1, 2});
    loss.task.set(loss.logits, floats({n, 1, 1, 2}, logits));
    loss.task.set(loss.labels, ints({n, 1, 1, 1}, std::vector<std::int32_t>(static_cast<std::size_t>(n), 0)));
    loss.task.run();
    const Tensor accumulated = loss.task.fetch(loss.task.accumulated());
    sum += accumulated.values<double>()[0];
    rows += accumulated.values<double>()[3];
  }
  CHECK(rows == 5.0);
  CHECK(near(sum / rows, 2.0, 1e-4));
}

TEST_CASE("the sums of a loss accumulate over runs") {
  LossTask loss({2, 1, 1, 2});
  loss.task.set(loss.labels, ints({2, 1, 1, 1}, {0, 0}));
  for (int i = 0; i < 3; ++i) {
    loss.task.set(loss.logits, floats({2, 1, 1, 2}, {0, 0, 5, 0}));
    loss.task.run();
  }
  const Tensor sums = loss.task.fetch(loss.task.accumulated());
  CHECK(sums.values<double>()[3] == 6.0);
  CHECK(near(sums.values<double>()[0], 3 * (std::log(2.0) + std::log1p(std::exp(-5.0))), 1e-6));
}

TEST_CASE("ten steps of AdamW with a gradient of 1 move a weight by ten times the rate") {
  UpdateTask update({AdamW().weight_decay(0.0), {}, {}}, 3);
  update.task.set(Scalar::learning_rate, 0.01);
  update.task.set(update.gradient, floats({1, 1, 1, 3}, {1, 1, 1}));
  update.task.set(update.weight, floats({1, 1, 1, 3}, {0, 0, 0}));
  CHECK(update.task.run(10) == StepStatus::ok);
  CHECK(near(update.task.fetch(update.weight).values<float>()[1], -0.1F, 1e-5));
  update.task.set(Scalar::learning_rate, 0.0);
  const Tensor before = update.task.fetch(update.weight);
  update.task.run(5);
  CHECK(update.task.fetch(update.weight).values<float>()[1] == before.values<float>()[1]);
}

TEST_CASE("momentum takes the rate of its own step") {
  UpdateTask update({SGD().momentum(0.9), {}, {}}, 1);
  update.task.set(update.weight, floats({}, {0}));
  update.task.set(update.gradient, floats({}, {1}));
  update.task.set(Scalar::learning_rate, 0.1);
  update.task.run();
  CHECK(near(update.task.fetch(update.weight).values<float>()[0], -0.1F, 1e-6));
  update.task.set(Scalar::learning_rate, 0.01);
  update.task.run();
  CHECK(near(update.task.fetch(update.weight).values<float>()[0], -0.119F, 1e-6));
}

TEST_CASE("gradients are summed over ranks, once, and every share of a region is updated") {
  for (int ranks : {1, 2, 3, 5}) {
    constexpr int n = 1000;
    UpdateTask update({SGD().momentum(0.0), {}, {}}, n, ranks);
    update.task.set(Scalar::learning_rate, 1.0);
    update.task.set(update.weight, floats({1, 1, 1, n}, std::vector<float>(n, 100.0F)));
    for (int rank = 0; rank < ranks; ++rank) {
      update.task.set(update.gradient, floats({1, 1, 1, n}, std::vector<float>(n, static_cast<float>(rank + 1))), rank);
    }
    update.task.run();
    const Tensor weight = update.task.fetch(update.weight);
    for (float w : weight.values<float>()) CHECK(w == 100.0F - static_cast<float>(ranks * (ranks + 1) / 2));
  }
}

}  // namespace tr
