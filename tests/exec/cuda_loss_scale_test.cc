#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "tests/exec/cuda_mlp.h"
#include "tests/exec/cuda_update_rig.h"
#include "tr/base/error.h"
#include "tr/exec/cpu_rank.h"

namespace tr {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

CudaRig::Config half(const AnyOptimizer& optimizer, const GradientClipping& clipping = {}) {
  return {.precision = Precision::fp16, .optimizer = optimizer, .clipping = clipping};
}

template <class T = float>
T scalar(const CudaRig& rig, Scalar which) {
  return rig.values<T>(rig.plan().fixed[which])[0];
}

void set_scale(CudaRig& rig, float scale, std::int32_t clean_steps) {
  rig.set(rig.plan().fixed[Scalar::loss_scale], Values{scale});
  rig.set(rig.plan().fixed[Scalar::clean_steps], std::vector<std::int32_t>{clean_steps});
}

/// All that the optimizer knows: parameters, moments, its step.
std::vector<Values> optimizer_state(const CudaRig& rig) {
  std::vector<Values> state{{static_cast<float>(rig.steps())}};
  for (const PlanTensor& t : rig.plan().tensors) {
    const Region region = t.tensor.region;
    if (is_parameter(region) || is_moment(region) || is_average(region)) state.push_back(rig.values(t.tensor.id));
  }
  return state;
}

}  // namespace

// M2
TEST_CASE("an infinite gradient skips its step and halves the scale; 2000 clean steps double it") {
  for (const GradientClipping& clipping : {GradientClipping(), GradientClipping().by_norm(1e9)}) {
    cuda_sim::reset();
    Update update(half(Adam(), clipping), {5});
    update.set_gradients(first_loss_scale);
    for (int i = 0; i < 2; ++i) REQUIRE(update.step(0.01F) == StepStatus::ok);
    const std::vector<Values> before = optimizer_state(update.rig());
    check_near(update.weight(0), -0.02, 1e-7);
    update.set_gradient(0, {1.0F, infinity, 1.0F, 1.0F, 1.0F});
    CHECK(update.step(0.01F) == StepStatus::ok);
    CHECK(optimizer_state(update.rig()) == before);
    CHECK(scalar(update.rig(), Scalar::loss_scale) == first_loss_scale / 2.0F);
    CHECK(scalar<std::int32_t>(update.rig(), Scalar::skipped_steps) == 1);

    update.set_gradients(first_loss_scale / 2.0F);
    // All of them once; behind a norm, the last two.
    const int counted = clipping.norm() > 0.0 ? 1998 : 0;
    set_scale(update.rig(), first_loss_scale / 2.0F, counted);
    for (int i = counted; i < 1999; ++i) REQUIRE(update.step(0.0F) == StepStatus::ok);
    CHECK(scalar(update.rig(), Scalar::loss_scale) == first_loss_scale / 2.0F);
    CHECK(update.step(0.0F) == StepStatus::ok);
    CHECK(scalar(update.rig(), Scalar::loss_scale) == first_loss_scale);
    CHECK(update.rig().steps() == 2002 - counted);
    CHECK(scalar<std::int32_t>(update.rig(), Scalar::skipped_steps) == 1);
    check_findings();
  }
}

// M1
TEST_CASE("the scale stays finite and never becomes 0") {
  cuda_sim::reset();
  Update update(half(SGD()), {5});
  update.set_gradients(1.0F);
  for (int i = 0; i < 12; ++i) {
    set_scale(update.rig(), scalar(update.rig(), Scalar::loss_scale), 1999);
    REQUIRE(update.step(0.0F) == StepStatus::ok);
  }
  CHECK(scalar(update.rig(), Scalar::loss_scale) == 16777216.0F);
  update.set_gradients(infinity);
  for (int i = 0; i < 40; ++i) REQUIRE(update.step(0.0F) == StepStatus::ok);
  CHECK(scalar(update.rig(), Scalar::loss_scale) == 1.0F);
  CHECK(scalar<std::int32_t>(update.rig(), Scalar::skipped_steps) == 40);
  check_findings();
}

// M4
TEST_CASE("limits act on the true gradients, not on the scaled ones") {
  cuda_sim::reset();
  Update by_norm(half(SGD().momentum(0.0), GradientClipping().by_norm(1.5)), {5});
  by_norm.set_gradients(first_loss_scale * 0.5F);
  REQUIRE(by_norm.step(1.0F) == StepStatus::ok);
  // Nine times 0.5 have a norm of 1.5: nothing is cut but what the quotient's 1e-6 does.
  check_near(by_norm.weight(0), -0.5, 1e-6);
  Update by_value(half(SGD().momentum(0.0), GradientClipping().by_value(0.25)), {5});
  by_value.set_gradients(first_loss_scale * 0.5F);
  REQUIRE(by_value.step(1.0F) == StepStatus::ok);
  check_near(by_value.weight(0), -0.25, 0.0);
  check_findings();
}

TEST_CASE("a network in fp16 trains as one in fp32 does, but for what rounding allows") {
  for (const GradientClipping& clipping : {GradientClipping(), GradientClipping().by_norm(0.5)}) {
    cuda_sim::reset();
    CudaRig gpu(small_mlp::model, {.rows = small_mlp::rows, .precision = Precision::fp16, .clipping = clipping});
    Rig cpu(small_mlp::model, {.rows = small_mlp::rows, .clipping = clipping});
    // Some biases are small sums of features that were rounded to 11 bits.
    small_mlp::compare_with_cpu(gpu, cpu, 2e-2, false, 0.2F);
    CHECK(scalar<std::int32_t>(gpu, Scalar::clean_steps) == 20);
    check_findings();
  }
}

TEST_CASE("with a scale that is too large the first steps are skipped, with a graph and without to the same bits") {
  for (const int ranks : {1, 2}) {
    std::vector<std::vector<std::byte>> states;
    for (const bool graph : {true, false}) {
      cuda_sim::reset(1, {.devices = ranks});
      CudaRig::Config config = half(AdamW(), GradientClipping().by_norm(1.0));
      config.ranks = ranks;
      config.rows = small_mlp::rows;
      config.graph = graph;
      CudaRig rig(small_mlp::model, config);
      rig.set(rig.plan().fixed[Scalar::loss_scale], Values{16777216.0F});
      rig.fill(small_mlp::image, small_mlp::label, 0);
      rig.fill(small_mlp::image, small_mlp::label, 1);
      rig.start(0.01F, 0);
      for (int step = 1; step < 20; ++step) {
        rig.start(0.01F / static_cast<float>(step), step % 2);
        REQUIRE(rig.wait((step - 1) % 2).status == StepStatus::ok);
      }
      REQUIRE(rig.wait(1).status == StepStatus::ok);
      const auto skipped = scalar<std::int32_t>(rig, Scalar::skipped_steps);
      CHECK(skipped > 0);
      CHECK(rig.steps() == 20 - skipped);
      for (int rank = 1; rank < ranks; ++rank) CHECK(rig.state(rank) == rig.state(0));
      states.push_back(rig.state());
      check_findings();
      check_waits();
    }
    CHECK(states[0] == states[1]);
  }
}

TEST_CASE("a loss that is not finite is a failure, whatever the scale, which it leaves as it is") {
  cuda_sim::reset();
  CudaRig::Config config = half(SGD());
  config.rows = small_mlp::rows;
  CudaRig rig(small_mlp::model, config);
  rig.fill([](int, int) { return std::numeric_limits<double>::quiet_NaN(); }, small_mlp::label);
  const std::vector<std::byte> before = rig.state();
  CHECK(rig.step(0.1F).status == StepStatus::loss_not_finite);
  rig.set(rig.plan().fixed[Scalar::learning_rate], Values{0.0F});
  CHECK(rig.state() == before);
  rig.executor().forget_failure();
  rig.fill(small_mlp::image, small_mlp::label);
  CHECK(rig.step(0.1F).status == StepStatus::ok);
  CHECK(rig.steps() == 1);
  CHECK(scalar<std::int32_t>(rig, Scalar::skipped_steps) == 0);
  check_findings();
}

TEST_CASE("no CPU computes in fp16") { CHECK_THROWS_AS(require_precision(Precision::fp16), DeviceError); }

}  // namespace tr
