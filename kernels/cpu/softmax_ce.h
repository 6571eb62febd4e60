#pragma once

#include <cstdint>

#include "kernels/cpu/kernel.h"
#include "kernels/cpu/values.h"

namespace tr::cpu {

/// Stands in place of a rank where the label is none of the classes.
inline constexpr std::int32_t illegal_label_rank = -1;

/// Where a row of a [rows, classes] tensor begins; beyond 2^32 where there are so many elements.
constexpr std::int64_t row_start(std::int64_t row, std::int64_t classes) { return row * classes; }

struct SoftmaxCeRows {
  /// [rows, classes].
  ConstValues logits{};
  /// [rows], each in 0 .. classes - 1.
  const std::int32_t* labels = nullptr;
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  /// ε: the target is (1 - ε)·onehot + ε/classes.
  float smoothing = 0.0F;
  /// The gradient is divided by this: the samples of the whole batch.
  std::int64_t total_rows = 1;
  /// [rows, classes]: (softmax - target)/total_rows. May be the logits' memory if the types agree; null where only the
  /// loss is wanted.
  Values d_logits{};
  /// [rows]: log Σ exp(z - max) + max - Σ target·z, never divided.
  float* row_loss = nullptr;
  /// [rows]: the number of classes that beat the label, the lower class winning a tie; `classes` if the row holds a
  /// NaN.
  std::int32_t* row_rank = nullptr;
};

/// Softmax cross-entropy, forward and backward. A row with a NaN, or whose maximum is infinite, has loss and gradient
/// NaN. A row with an illegal label has loss NaN, gradient 0 and rank `illegal_label_rank`; reporting it is the
/// caller's.
void softmax_ce(const SoftmaxCeRows& batch);

/// in {logits [B, K] fp32 or bf16, labels [B] int32, smoothing fp32 [1], read at each call}, out {d_logits [B, K] fp32
/// or bf16, row_loss [B] fp32, row_rank [B] int32}; attributes.total_rows, 0 meaning B.
Kernel make_softmax_ce(const Operation& operation, Scratch& scratch);

/// The same without a gradient: out {absent, row_loss, row_rank}.
Kernel make_softmax_ce_evaluate(const Operation& operation, Scratch& scratch);

}  // namespace tr::cpu
