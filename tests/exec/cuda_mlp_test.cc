#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/exec/cuda_rig.h"
#include "tests/exec/rig.h"

namespace tr {
namespace {

const std::vector<LayerRecord> layers{flatten(), fc(16), relu(), fc(8), relu(), fc(5)};
const ModelSpec model{layers, {1, 2, 3, 2}, 5};
constexpr int rows = 6;
constexpr int features = 12;

double image(int sample, int feature) { return std::sin(0.7 * (features * sample + feature)); }
std::int32_t label(int sample) { return sample % 5; }

void fill(Rig& rig, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    const Slice slice = slice_of(rows, rank, ranks);
    const int data = rig.plan(rank).fixed.data[0];
    for (std::int64_t i = 0; i < slice.count; ++i) {
      const int sample = static_cast<int>(slice.first + i);
      rig.values<std::int32_t>(rig.plan(rank).fixed.labels[0], rank)[static_cast<std::size_t>(i)] = label(sample);
      for (int c = 0; c < features; ++c) {
        const auto at = static_cast<std::size_t>(i * features + c);
        const auto x = static_cast<float>(image(sample, c));
        if (rig.plan().spec.precision == Precision::fp32) {
          rig.values<float>(data, rank)[at] = x;
        } else {
          rig.values<Bf16>(data, rank)[at] = to_bf16(x);
        }
      }
    }
  }
}

void check_close(std::span<const float> got, std::span<const float> right, double tolerance) {
  REQUIRE(got.size() == right.size());
  double largest = 0.0;
  double difference = 0.0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(right[i])));
    difference = std::max(difference, std::fabs(static_cast<double>(right[i]) - static_cast<double>(got[i])));
  }
  CHECK(largest > 0.0);
  CHECK(difference <= tolerance * largest);
}

float rate_of(int step) { return 0.5F / static_cast<float>(1 + step % 4); }

void check_simulator() {
  for (const std::string& finding : cuda_sim::findings()) FAIL_CHECK(finding);
  for (const std::string& wait : cuda_sim::redundant_waits()) FAIL_CHECK("redundant: ", wait);
}

/// Trains both, and compares gradients and parameters after the first and the last of 20 steps.
void compare_with_cpu(CudaRig& gpu, Rig& cpu, double tolerance) {
  gpu.fill(image, label);
  fill(cpu, 1);
  for (int step = 0; step < 20; ++step) {
    cpu.set(Scalar::learning_rate, rate_of(step));
    REQUIRE(cpu.step() == StepStatus::ok);
    const CudaStep got = gpu.step(rate_of(step));
    REQUIRE(got.status == StepStatus::ok);
    const double right = cpu.executor().last_loss_sum();
    CHECK(std::fabs(got.metrics[Metric::loss] - right) <= tolerance * std::fabs(right));
    CHECK(got.metrics[Metric::rows] == rows);
    if (step != 0 && step != 19) continue;
    for (const PlanTensor& t : gpu.plan().tensors) {
      CAPTURE(name_of(t.tensor.region));
      if (!is_parameter(t.tensor.region) && !is_gradient(t.tensor.region)) continue;
      check_close(gpu.values(t.tensor.id), cpu.values<float>(t.tensor.id), tolerance);
    }
  }
}

}  // namespace

TEST_CASE("losses, gradients and weights of 20 steps are the CPU's") {
  for (const bool graph : {true, false}) {
    for (const bool fuse : {true, false}) {
      CAPTURE(graph);
      CAPTURE(fuse);
      cuda_sim::reset();
      CudaRig gpu(model, {.rows = rows, .fuse = fuse, .graph = graph, .loss = CrossEntropyLoss().label_smoothing(0.1)});
      Rig cpu(model, {.rows = rows, .fuse = fuse, .loss = CrossEntropyLoss().label_smoothing(0.1)});
      compare_with_cpu(gpu, cpu, 1e-5);
      check_simulator();
    }
  }
}

}  // namespace tr
