#pragma once

#include <cstdint>

#include "kernels/cuda/values.h"

namespace tr::cuda {

/// A range of parameters and what the optimizers share: all pointers at its first element, on the device. What may
/// change from step to step is read there at each step, so that a captured step stays valid.
///
/// In this order: the gradient is divided by the loss scale and looked at, limited, multiplied by gradient_scale; the
/// optimizer takes its step; weight, working copy and average are written and the weight is looked at.
struct UpdateRange {
  /// [count].
  float* weight = nullptr;
  /// [count], the optimizer's moments; null where it has none.
  float* moment1 = nullptr;
  float* moment2 = nullptr;
  /// [count], the running average of the weights, e ← average_decay·e + (1 - average_decay)·w with the weight after the
  /// step; the first step takes the weight whatever the average holds. Null where none is kept.
  float* average = nullptr;
  /// [count], the copy of the weights that the step computes with; absent in fp32.
  Values working{};
  /// [count], summed over the ranks.
  const float* gradient = nullptr;
  std::int64_t count = 0;
  /// Whether weight decay applies.
  bool decay = false;
  /// The unscaled gradient is limited to [-clip_value, clip_value]; 0 for no limit.
  float clip_value = 0.0F;

  /// [1] each. The number of this step, counted from 1.
  const std::int32_t* step = nullptr;
  /// Needed where there is an average.
  const float* average_decay = nullptr;
  /// Null for 1.
  const float* gradient_scale = nullptr;
  /// Null for 1.
  const float* loss_scale = nullptr;
  /// If it holds anything but 0 the step is skipped: nothing is written. May be null.
  const std::int32_t* skip = nullptr;
  /// Becomes 1 if a gradient or an updated weight is not finite; else it is left alone. Not the memory of `skip`.
  std::int32_t* nonfinite = nullptr;
};

/// A piece of a range that lies within one tensor.
struct Chunk {
  std::int64_t first = 0;
  std::int64_t count = 0;
  /// Which tensor of the range; the tensors are numbered from 0 in the order of their chunks.
  std::int32_t tensor = 0;
};

/// All pieces of a range, in the order of their places: the table on the device, its length, and the count of the
/// largest.
struct Chunks {
  const Chunk* table = nullptr;
  std::int64_t count = 0;
  std::int64_t largest = 0;
};

}  // namespace tr::cuda
