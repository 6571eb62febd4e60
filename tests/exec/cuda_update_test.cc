#include "tr/exec/cuda_update.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/exec/cuda_mlp.h"
#include "tests/exec/cuda_update_rig.h"

namespace tr {
TEST_CASE("every optimizer, with limits and an average, trains as on the CPU") {
  struct Case {
    std::string name;
    AnyOptimizer optimizer;
    GradientClipping clipping;
    bool average = false;
  };
  const Case cases[] = {
      {"momentum", SGD().weight_decay(0.01), {}, false},
      {"Nesterov, decoupled, norm", SGD().nesterov().weight_decay(0.01).decoupled(), GradientClipping().by_norm(0.3),
       true},
      {"dampening, value", SGD().dampening(0.5), GradientClipping().by_value(0.02), false},
      {"Adam, average", Adam().weight_decay(0.01), {}, true},
      {"AdamW, value and norm", AdamW().weight_decay(0.1), GradientClipping().by_value(0.05).by_norm(0.2), true},
      {"LARS", LARS().weight_decay(0.01).trust_coefficient(0.02), {}, false},
      {"LARS, norm, average", LARS().momentum(0.0).trust_coefficient(0.02), GradientClipping().by_norm(0.3), true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    cuda_sim::reset();
    std::optional<EMA> ema;
    if (c.average) ema = EMA().decay(0.75);
    CudaRig gpu(small_mlp::model,
                {.rows = small_mlp::rows, .optimizer = c.optimizer, .clipping = c.clipping, .ema = ema});
    Rig cpu(small_mlp::model, {.rows = small_mlp::rows, .optimizer = c.optimizer, .clipping = c.clipping, .ema = ema});
    // Slowly, so that rounding is not amplified; Adam divides by the root of small sums, which magnifies theirs.
    small_mlp::compare_with_cpu(gpu, cpu, 2e-5, false, 0.02F);
    CHECK(gpu.steps() == 20);
    check_findings();
  }
}

// G1
TEST_CASE("ten replays of Adam with a gradient of 1 move a weight by ten rates, and a rate of 0 by nothing") {
  for (const bool graph : {true, false}) {
    cuda_sim::reset();
    Update update({.graph = graph, .optimizer = Adam()});
    update.set_gradients(1.0F);
    for (int i = 0; i < 10; ++i) REQUIRE(update.step(0.01F) == StepStatus::ok);
    for (int p = 0; p < update.count(); ++p) check_near(update.weight(p), -0.1, 1e-6);
    const Values before = update.weight(1);
    REQUIRE(update.step(0.0F) == StepStatus::ok);
    CHECK(update.weight(1) == before);
    CHECK(update.rig().steps() == 11);
    check_findings();
  }
}

// G3
TEST_CASE("a replayed step sees weights that were overwritten since the last one, and working copies that follow") {
  cuda_sim::reset();
  Update update({.optimizer = SGD().momentum(0.0)});
  update.set_gradients(1.0F);
  REQUIRE(update.step(1.0F) == StepStatus::ok);
  check_near(update.weight(1), -1.0, 0.0);
  update.set(1, Values(40000, 5.0F));
  REQUIRE(update.step(1.0F) == StepStatus::ok);
  check_near(update.weight(0), -2.0, 0.0);
  check_near(update.weight(1), 4.0, 0.0);

  // In a whole step, the loss is that of the new weights.
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    CudaRig trained(small_mlp::model, {.rows = small_mlp::rows, .precision = precision});
    const CudaRig fresh(small_mlp::model, {.rows = small_mlp::rows, .precision = precision});
    trained.fill(small_mlp::image, small_mlp::label);
    const double first = trained.step(0.5F).metrics[Metric::loss];
    CHECK(trained.step(0.5F).metrics[Metric::loss] != first);
    for (const PlanTensor& t : fresh.plan().tensors) {
      if (is_parameter(t.tensor.region)) trained.set(t.tensor.id, fresh.values(t.tensor.id));
    }
    trained.executor().load_working_copies(WeightSource::current);
    CHECK(trained.step(0.5F).metrics[Metric::loss] == first);
  }
  check_findings();
}

// W2
TEST_CASE("the gradient of three samples of 1 and one of 5, on two GPUs, is 2") {
  for (const GradientClipping& clipping : {GradientClipping(), GradientClipping().by_norm(1e9)}) {
    cuda_sim::reset(1, {.devices = 2});
    Update update({.ranks = 2, .optimizer = SGD().momentum(0.0), .clipping = clipping});
    update.set_gradients(0.0F);
    update.set_part(0, Values(5, 0.75F), 0);
    update.set_part(0, Values(5, 1.25F), 1);
    REQUIRE(update.step(1.0F) == StepStatus::ok);
    check_near(update.weight(0), -2.0, 0.0);
    check_findings();
  }
}

TEST_CASE("the gradients of 128 rows on one GPU and of 64 on each of two differ by rounding alone") {
  std::vector<std::vector<Values>> gradients;
  for (const int ranks : {1, 2}) {
    cuda_sim::reset(1, {.devices = ranks});
    CudaRig rig(small_mlp::model, {.ranks = ranks, .rows = 128});
    rig.fill(small_mlp::image, small_mlp::label);
    REQUIRE(rig.step(0.1F).status == StepStatus::ok);
    gradients.emplace_back();
    for (const PlanTensor& t : rig.plan().tensors) {
      if (is_gradient(t.tensor.region)) gradients.back().push_back(rig.values(t.tensor.id, ranks - 1));
    }
    check_findings();
  }
  REQUIRE(gradients[0].size() == 6);
  for (std::size_t t = 0; t < gradients[0].size(); ++t) {
    small_mlp::check_close(gradients[1][t], gradients[0][t], 1e-5);
  }
}

TEST_CASE("clipping works on the sum over the GPUs") {
  for (const int ranks : {1, 2, 3}) {
    cuda_sim::reset(1, {.devices = ranks});
    Update update({.ranks = ranks, .optimizer = SGD().momentum(0.0), .clipping = GradientClipping().by_norm(2.0)});
    update.set_gradients(3.0F);
    REQUIRE(update.step(1.0F) == StepStatus::ok);
    const double norm = 3.0 * std::sqrt(40012.0);
    for (int p = 0; p < update.count(); ++p) check_near(update.weight(p), -3.0 * 2.0 / norm, 1e-8);
    check_findings();
  }
}

TEST_CASE("a gradient that is not finite skips a clipped step whole, and it is reported") {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    for (const int ranks : {1, 2}) {
      cuda_sim::reset(1, {.devices = ranks});
      Update update({.ranks = ranks, .optimizer = AdamW(), .clipping = GradientClipping().by_norm(1.0).by_value(0.5)});
      update.set_gradients(1.0F);
      REQUIRE(update.step(0.1F) == StepStatus::ok);
      const std::vector<std::byte> state = update.rig().state();
      Values broken(40000, 1.0F);
      broken[12345] = bad;
      update.set_gradient(1, broken);
      CHECK(update.step(0.1F) == StepStatus::update_not_finite);
      update.set_gradients(1.0F);
      // The host has not said yet that it knows.
      CHECK(update.step(0.1F) == StepStatus::update_not_finite);
      CHECK(update.rig().steps() == 1);
      for (int p = 0; p < update.count(); ++p) CHECK(std::isfinite(update.weight(p)[0]));
      for (int rank = 0; rank < ranks; ++rank) update.rig().executor(rank).forget_failure();
      CHECK(update.step(0.1F) == StepStatus::ok);
      CHECK(update.rig().steps() == 2);
      check_findings();
    }
  }
}

TEST_CASE("without norms the update itself finds what is not finite, and no step after it counts") {
  cuda_sim::reset();
  Update update({.optimizer = SGD().momentum(0.0)});
  update.set_gradients(1.0F);
  Values broken(3, 1.0F);
  broken[1] = std::numeric_limits<float>::infinity();
  update.set_gradient(2, broken);
  CHECK(update.step(0.5F) == StepStatus::update_not_finite);
  update.set_gradients(1.0F);
  CHECK(update.step(0.5F) == StepStatus::update_not_finite);
  check_near(update.weight(1), -0.5, 0.0);
  CHECK(update.rig().steps() == 1);
  check_findings();
}

TEST_CASE("an evaluation of the average is one of a network whose weights are the average") {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    cuda_sim::reset();
    const CudaRig::Config config{
        .rows = small_mlp::rows, .precision = precision, .optimizer = SGD(), .ema = EMA().decay(0.5).evaluate()};
    CudaRig rig(small_mlp::model, config);
    rig.fill(small_mlp::image, small_mlp::label, 0);
    rig.fill(small_mlp::image, small_mlp::label, 1);
    for (int i = 0; i < 3; ++i) REQUIRE(rig.step(0.5F).status == StepStatus::ok);
    const std::vector<std::byte> before = rig.state();
    rig.executor().reset_accumulated();
    rig.executor().load_working_copies(WeightSource::average);
    const CudaStep averaged = rig.step(0.0F, 1, CudaRig::evaluate);
    const Metrics sums = rig.executor().accumulated();
    rig.executor().load_working_copies(WeightSource::current);
    CHECK(rig.state() == before);
    CHECK(averaged.status == StepStatus::ok);
    CHECK(sums == averaged.metrics);

    CudaRig other(small_mlp::model, {.rows = small_mlp::rows, .precision = precision});
    other.fill(small_mlp::image, small_mlp::label);
    for (const PlanTensor& t : other.plan().tensors) {
      if (!is_parameter(t.tensor.region)) continue;
      const int average = image_of(rig.plan(), t.tensor.id, Image::average);
      CHECK(rig.values(average) != rig.values(t.tensor.id));
      other.set(t.tensor.id, rig.values(average));
    }
    other.executor().load_working_copies(WeightSource::current);
    CHECK(other.step(0.0F, 0, CudaRig::evaluate).metrics == averaged.metrics);
    check_findings();
  }
}

TEST_CASE("metrics of a phase are the sums over its steps and over the GPUs") {
  for (const int ranks : {1, 2, 3}) {
    cuda_sim::reset(1, {.devices = ranks});
    CudaRig rig(small_mlp::model, {.ranks = ranks, .rows = small_mlp::rows, .last_rows = 2});
    rig.fill(small_mlp::image, small_mlp::label, 0);
    rig.fill(small_mlp::image, small_mlp::label, 1);
    rig.step(0.1F);
    Metrics right;
    for (int rank = 0; rank < ranks; ++rank) rig.executor(rank).reset_accumulated();
    for (const int variant : {CudaRig::train, CudaRig::evaluate, CudaRig::train_last}) {
      const Metrics step = rig.step(0.1F, 1, variant).metrics;
      for (std::size_t i = 0; i < right.sums.size(); ++i) right.sums[i] += step.sums[i];
    }
    CHECK(right[Metric::rows] == 14.0);
    std::vector<Metrics> got(static_cast<std::size_t>(ranks));
    rig.on_each_rank([&](int rank) { got[static_cast<std::size_t>(rank)] = rig.executor(rank).accumulated(); });
    for (const Metrics& sums : got) {
      CHECK(sums[Metric::rows] == 14.0);
      CHECK(sums[Metric::top1] == right[Metric::top1]);
      CHECK(sums[Metric::loss] == doctest::Approx(right[Metric::loss]).epsilon(1e-12));
    }
    check_findings();
  }
}

}  // namespace tr
