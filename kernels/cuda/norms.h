#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/update_range.h"

namespace tr::cuda {

/// Of one chunk: what norms are made of.
struct SquareSum {
  /// Σ g² of the unscaled and limited gradient, Σ w² of the weights, 0 without weights.
  double gradient = 0.0;
  double weight = 0.0;
};

struct SquareSums {
  /// Of the range, summed over the ranks.
  const float* gradient = nullptr;
  /// May be absent.
  const float* weight = nullptr;
  Chunks chunks{};
  /// As in UpdateRange.
  float clip_value = 0.0F;
  const float* loss_scale = nullptr;
  /// [chunks].
  SquareSum* sums = nullptr;
  /// [1]: becomes 1 if a weight or, before it is limited, an unscaled gradient is not finite; else it is left alone.
  std::int32_t* nonfinite = nullptr;
};

/// The sums of each chunk, in fp64 and in an order that depends on the chunk's count alone.
void square_sums(const SquareSums& squares, cudaStream_t stream);

struct ClipFactor {
  /// From square_sums() over all parameters.
  const SquareSum* sums = nullptr;
  std::int64_t chunks = 0;
  /// The L2 norm that all gradients together may have.
  float max_norm = 0.0F;
  /// [1]: what all gradients are to be multiplied by.
  float* gradient_scale = nullptr;
  /// [1]: becomes 1, with a factor of 1, where such a step cannot be taken; else it is left alone.
  std::int32_t* nonfinite = nullptr;
};

/// min(1, max_norm/(norm + 1e-6)), the form of PyTorch's clip_grad_norm_, from sums added in an order that depends on
/// their number alone. Such a step cannot be taken if the norm is not finite or the factor is no normal float.
void clip_factor(const ClipFactor& clip, cudaStream_t stream);

}  // namespace tr::cuda
