#include "tr/task/engine.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tests/task/small_run.h"
#include "tr/base/error.h"
#include "tr/dist/slice.h"
#include "tr/exec/cpu_rank.h"
#include "tr/io/summary.h"

namespace tr {
namespace {

TaskSpec small_spec() {
  using Task = DeepLearningTask<SmallRun>;
  return {.model_name = "SmallNet",
          .data_name = Spots::name,
          .model = {SmallNet::blueprint.layers, Spots::sample, Spots::classes},
          .normalization = Spots::normalization,
          .batch = SmallRun::batch,
          .compiled = {Task::compiled_plan<Precision::fp32>(), Task::compiled_plan<Precision::bf16>()},
          .open = &Spots::open};
}

TrainingSettings sgd_settings() {
  TrainingSettings settings;
  settings.optimizer = SGD().momentum(0.0);
  settings.scheduler = ConstantLR().base_lr(0.1);
  settings.total_epochs = 1;
  return settings;
}

/// One training step by hand on a batch that depends on nothing but `rows`.
class OneStep {
 public:
  explicit OneStep(int ranks, int rows = SmallRun::batch)
      : engine_(small_spec(), sgd_settings(), small_options(ranks)), rows_(rows) {
    const Plan& plan = engine_.plans().front();
    *engine_.arenas().at<float>(plan.tensors[plan.fixed[Scalar::learning_rate]].tensor, 0) = 0.1F;
    for (int rank = 0; rank < ranks; ++rank) fill_inputs(rank, slice_of(rows, rank, ranks));
  }

  /// What lies behind the rows of a rank's share must never matter.
  void poison_padding(float value, std::int32_t label) {
    for (int rank = 0; rank < engine_.ranks(); ++rank) {
      const Slice slice = slice_of(rows_, rank, engine_.ranks());
      const Plan& plan = plan_of(rank);
      const DTensor& data = plan.tensors[plan.fixed.data[0]].tensor;
      const DTensor& labels = plan.tensors[plan.fixed.labels[0]].tensor;
      auto* pixels = engine_.arenas().at<float>(data, rank);
      std::fill(pixels + slice.count * data.shape.sample_size(), pixels + data.shape.size(), value);
      auto* classes = engine_.arenas().at<std::int32_t>(labels, rank);
      std::fill(classes + slice.count, classes + labels.shape.size(), label);
    }
  }

  StepStatus run(GraphKind kind = GraphKind::train) {
    StepStatus status = StepStatus::ok;
    engine_.pool().run([&](ThreadCommunicator& ranks) {
      CpuExecutor& executor = engine_.executor(ranks.rank());
      executor.run(engine_.variant(kind, rows_), 0, ranks);
      ranks.meet();
      if (ranks.rank() == 0) status = executor.status(0);
    });
    return status;
  }

  /// A parameter's gradient, summed over the ranks in double.
  std::vector<double> gradient(int id) const {
    const DTensor& tensor = engine_.plans().front().tensors[id].tensor;
    std::vector<double> sum(static_cast<std::size_t>(tensor.shape.size()), 0.0);
    for (int rank = 0; rank < engine_.ranks(); ++rank) {
      const auto* values = engine_.arenas().at<float>(tensor, rank);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    }
    return sum;
  }
  std::vector<double> weight(int id) const {
    const DTensor& tensor = engine_.plans().front().tensors[id].tensor;
    const auto* values = engine_.arenas().at<float>(tensor, 0);
    return {values, values + tensor.shape.size()};
  }
  const Plan& plan_of(int rank) const { return engine_.plans()[static_cast<std::size_t>(rank)]; }
  Engine& engine() { return engine_; }

 private:
  void fill_inputs(int rank, Slice slice) {
    const Plan& plan = plan_of(rank);
    const DTensor& data = plan.tensors[plan.fixed.data[0]].tensor;
    auto* labels = engine_.arenas().at<std::int32_t>(plan.tensors[plan.fixed.labels[0]].tensor, rank);
    for (std::int64_t row = 0; row < slice.count; ++row) {
      const std::int64_t sample = slice.first + row;
      labels[row] = static_cast<std::int32_t>(sample % Spots::classes);
      for (std::int64_t p = 0; p < 16; ++p) {
        const float value = std::sin(static_cast<float>(sample * 16 + p) * 0.7F);
        const std::int64_t at = row * 16 + p;
        engine_.arenas().at<float>(data, rank)[at] = value;
      }
    }
  }

  Engine engine_;
  int rows_;
};

double largest(const std::vector<double>& values) {
  double result = 0.0;
  for (double v : values) result = std::max(result, std::fabs(v));
  return result;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double result = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) result = std::max(result, std::fabs(a[i] - b[i]));
  return result;
}

}  // namespace

TEST_CASE("ranks times local batch is one rank times whole batch: gradients, and weights after a step") {
  OneStep one(1);
  REQUIRE(one.run() == StepStatus::ok);
  for (int ranks : {2, 3, 5}) {
    OneStep many(ranks);
    REQUIRE(many.run() == StepStatus::ok);
    for (const PlanTensor& t : one.plan_of(0).tensors) {
      const bool is_gradient = t.tensor.region == Region::g_fc_bias || t.tensor.region == Region::g_fc_weight;
      if (!is_gradient && !is_parameter(t.tensor.region)) continue;
      const int id = t.tensor.id;
      const auto whole = is_gradient ? one.gradient(id) : one.weight(id);
      const auto shared = is_gradient ? many.gradient(id) : many.weight(id);
      CHECK(largest(whole) > 0.0);
      CHECK(largest_difference(whole, shared) <= 1e-5 * largest(whole));
    }
  }
}

TEST_CASE("the rows behind a partial batch never reach loss, gradient or metric") {
  for (int ranks : {1, 3}) {
    for (int rows : {10, SmallRun::batch}) {
      OneStep clean(ranks, rows);
      OneStep poisoned(ranks, rows);
      poisoned.poison_padding(std::numeric_limits<float>::quiet_NaN(), -7);
      CHECK(clean.run() == StepStatus::ok);
      CHECK(poisoned.run() == StepStatus::ok);
      for (const PlanTensor& t : clean.plan_of(0).tensors) {
        if (is_parameter(t.tensor.region)) CHECK(clean.weight(t.tensor.id) == poisoned.weight(t.tensor.id));
      }
      CHECK(clean.engine().executor(0).accumulated() == poisoned.engine().executor(0).accumulated());
      CHECK(clean.engine().executor(0).accumulated()[Metric::rows] == rows);
    }
  }
}

TEST_CASE("a loss that is not finite never reaches the weights, on any rank") {
  for (int ranks : {1, 3}) {
    OneStep step(ranks);
    const auto before = step.weight(0);
    const Plan& plan = step.plan_of(ranks - 1);
    const DTensor& data = plan.tensors[plan.fixed.data[0]].tensor;
    step.engine().arenas().at<float>(data, ranks - 1)[3] = std::numeric_limits<float>::quiet_NaN();
    CHECK(step.run() == StepStatus::loss_not_finite);
    CHECK(step.weight(0) == before);
    CHECK(step.run(GraphKind::train) == StepStatus::loss_not_finite);
  }
}

TEST_CASE("an evaluation whose logits are all NaN is reported and never right") {
  for (int ranks : {1, 2}) {
    OneStep step(ranks);
    const Plan& plan = step.plan_of(0);
    for (const PlanTensor& t : plan.tensors) {
      if (t.tensor.region != Region::w_fc_bias) continue;
      auto* bias = step.engine().arenas().at<float>(t.tensor, 0);
      std::fill(bias, bias + t.tensor.shape.size(), std::numeric_limits<float>::quiet_NaN());
    }
    CHECK(step.run(GraphKind::evaluate) == StepStatus::loss_not_finite);
    CHECK(step.engine().executor(0).accumulated()[Metric::top1] == 0.0);
    CHECK(step.engine().executor(0).accumulated()[Metric::top5] == 0.0);
  }
}

TEST_CASE("what is printed is what is allocated") {
  for (int ranks : {1, 3}) {
    OneStep step(ranks);
    std::int64_t printed = 0;
    for (const RegionBytes& region : region_bytes(step.engine().plans())) printed += region.bytes;
    std::int64_t allocated = static_cast<std::int64_t>(step.engine().arenas().shared().size());
    for (int rank = 0; rank < ranks; ++rank) {
      allocated += static_cast<std::int64_t>(step.engine().arenas().local(rank).size());
    }
    CHECK(printed == allocated);
  }
}

TEST_CASE("a GPU, or what only a GPU computes in, is refused where there is none") {
  Options options = small_options();
  options.device = Device::cuda;
  DeepLearningTask<SmallRun> on_gpu(options);
  CHECK_THROWS_WITH_AS(set_up(on_gpu, options).compile(),
                       "this program was built without CUDA; build it with --config=cuda, or take --device cpu",
                       DeviceError);
  const Options half = small_options(1, Precision::fp16);
  DeepLearningTask<SmallRun> in_half(half);
  CHECK_THROWS_AS(set_up(in_half, half).compile(), DeviceError);
}

}  // namespace tr
