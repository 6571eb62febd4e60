#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/norms.h"
#include "kernels/cuda/update_range.h"

namespace tr::cuda {

/// On the device, [1] each.
struct LarsScalars {
  const float* lr = nullptr;
  const float* momentum = nullptr;
  const float* weight_decay = nullptr;
};

struct LarsUpdate {
  UpdateRange range{};
  LarsScalars scalars{};
  /// The range's tensors in pieces. What lies in no piece is left alone.
  Chunks chunks{};
  /// [tensors]: each tensor's factor of the rate, see lars_ratios(); null for 1, which makes it plain momentum.
  const float* ratios = nullptr;
};

/// One step of LARS (You, Gitman and Ginsburg, Large Batch Training of Convolutional Networks, 2017, algorithm 1) with
/// the momentum v (moment1, needed unless momentum is 0), decay applying where the range decays:
///   v ← momentum·v + lr·ratio·(g + weight_decay·w), w ← w - v.
void lars_update(const LarsUpdate& update, cudaStream_t stream);

struct LarsRatios {
  /// From square_sums() with weights, and its chunks.
  const SquareSum* sums = nullptr;
  Chunks chunks{};
  /// [tensors + 1]: where the chunks of each tensor begin, and their number.
  const std::int32_t* first_chunk = nullptr;
  std::int64_t tensors = 0;
  double trust = 0.001;
  double eps = 1e-8;
  /// On the device, [1].
  const float* weight_decay = nullptr;
  /// What the gradients are multiplied by after their norms were taken, on the device, [1]; null for 1.
  const float* gradient_scale = nullptr;
  /// [tensors].
  float* ratios = nullptr;
};

/// ratio = trust·‖w‖/(‖g‖ + weight_decay·‖w‖ + eps), 1 where a norm is 0; computed in fp64 and rounded once.
void lars_ratios(const LarsRatios& ratios, cudaStream_t stream);

}  // namespace tr::cuda
