#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "tests/exec/cuda_rig.h"
#include "tests/exec/rig.h"

/// A network small enough to be trained hundreds of times, on the CPU and on simulated GPUs.
namespace tr::small_mlp {

inline const std::vector<LayerRecord> layers{flatten(), fc(16), relu(), fc(8), relu(), fc(5)};
inline const ModelSpec model{layers, {1, 2, 3, 2}, 5};
inline constexpr int rows = 6;
inline constexpr int features = 12;

inline double image(int sample, int feature) { return std::sin(0.7 * (features * sample + feature)); }
inline std::int32_t label(int sample) { return sample % 5; }

inline void fill(Rig& rig, int ranks) {
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

inline void check_close(std::span<const float> got, std::span<const float> right, double tolerance) {
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

inline float rate_of(int step) { return 0.5F / static_cast<float>(1 + step % 4); }

/// The parameters of a plan and their images; gradients only where asked for.
inline std::vector<int> compared_tensors(const Plan& plan, bool gradients) {
  std::vector<int> ids;
  for (const PlanTensor& t : plan.tensors) {
    const Region region = t.tensor.region;
    const bool compared = is_parameter(region) || is_moment(region) || is_average(region);
    if (compared || (gradients && is_gradient(region))) ids.push_back(t.tensor.id);
  }
  return ids;
}

/// Trains both, at rate_of() times `scale`, and compares them after the first and the last of 20 steps.
inline void compare_with_cpu(CudaRig& gpu, Rig& cpu, double tolerance, bool gradients, float scale = 1.0F) {
  gpu.fill(image, label);
  fill(cpu, 1);
  const std::vector<int> ids = compared_tensors(gpu.plan(), gradients);
  const std::vector<int> right_ids = compared_tensors(cpu.plan(), gradients);
  REQUIRE(ids.size() == right_ids.size());
  for (int step = 0; step < 20; ++step) {
    cpu.set(Scalar::learning_rate, scale * rate_of(step));
    REQUIRE(cpu.step() == StepStatus::ok);
    const CudaStep got = gpu.step(scale * rate_of(step));
    REQUIRE(got.status == StepStatus::ok);
    const double right = cpu.executor().last_loss_sum();
    CHECK(std::fabs(got.metrics[Metric::loss] - right) <= tolerance * std::fabs(right));
    CHECK(got.metrics[Metric::rows] == rows);
    if (step != 0 && step != 19) continue;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      CAPTURE(name_of(gpu.plan().tensors[ids[i]].tensor.region));
      CAPTURE(step);
      check_close(gpu.values(ids[i]), cpu.values<float>(right_ids[i]), tolerance);
    }
  }
}

}  // namespace tr::small_mlp
