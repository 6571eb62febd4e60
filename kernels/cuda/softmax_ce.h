#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/values.h"

namespace tr::cuda {

/// Stands in place of a rank where the label is none of the classes.
inline constexpr std::int32_t illegal_label_rank = -1;

struct SoftmaxCe {
  /// [rows, classes].
  ConstValues logits{};
  /// [rows], each in 0 .. classes - 1.
  const std::int32_t* labels = nullptr;
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  /// [1]: ε; the target is (1 - ε)·onehot + ε/classes.
  const float* smoothing = nullptr;
  /// The gradient is divided by this: the samples of the whole batch.
  std::int64_t total_rows = 1;
  /// [1]: what the gradient is multiplied by, so that fp16 can hold it; null for 1.
  const float* loss_scale = nullptr;
  /// [rows, classes]: loss_scale·(softmax - target)/total_rows. May be the logits' memory where the types agree; absent
  /// where only the loss is wanted.
  Values d_logits{};
  /// [rows]: log Σ exp(z - max) + max - Σ target·z, never divided or scaled.
  float* row_loss = nullptr;
  /// [rows]: the number of classes that beat the label, the lower class winning a tie; `classes` if the row holds a
  /// NaN.
  std::int32_t* row_rank = nullptr;
};

/// Softmax cross-entropy, forward and backward, or forward alone. A row with a NaN, or whose maximum is infinite, has
/// loss and gradient NaN. A row with an illegal label has loss NaN, gradient 0 and rank `illegal_label_rank`; reporting
/// it is the caller's.
void softmax_ce(const SoftmaxCe& batch, cudaStream_t stream);

}  // namespace tr::cuda
