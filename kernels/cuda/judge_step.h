#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace tr::cuda {

/// What tells whether a step may change the state. All lies on the device; the flags are [1] each.
struct JudgeStep {
  /// [5], in the order of tr::Metric: the sums over all rows of the batch.
  const double* result = nullptr;
  /// The flags that the updates set; the first one is also set here.
  std::int32_t* not_finite[2] = {nullptr, nullptr};
  /// Whether a gradient of this step is not finite; becomes 0. Null where the updates alone look at gradients.
  std::int32_t* gradient_not_finite = nullptr;
  /// Whether a gradient of this step has overflowed, which skips this step and says nothing of the next one. May be
  /// null.
  const std::int32_t* overflow = nullptr;
  /// Not 0 since the first step that failed; stays so until somebody clears it.
  std::int32_t* halted = nullptr;
  /// Becomes 1 if this step has to leave the state as it is, else 0.
  std::int32_t* skip = nullptr;
};

/// A step fails if the loss is not finite, a label is illegal, a gradient is not finite, or an update found such a
/// number in a step before. It and all later ones are skipped, so that the host may look some steps later.
void judge_step(const JudgeStep& judge, cudaStream_t stream);

}  // namespace tr::cuda
