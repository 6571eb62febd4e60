#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace tr::cuda {

/// On the device, [1] each.
struct AdvanceStep {
  const float* beta1 = nullptr;
  const float* beta2 = nullptr;
  std::int32_t* step = nullptr;
  float* bias_correction1 = nullptr;
  float* bias_correction2 = nullptr;
  /// If it holds anything but 0 the step is skipped: nothing is written. May be null.
  const std::int32_t* skip = nullptr;
};

/// For the step to come: step ← step + 1; bias_correction ← 1 - β^step for both, in fp64 and rounded once, with the
/// bits of the CPU.
void advance_step(const AdvanceStep& advance, cudaStream_t stream);

}  // namespace tr::cuda
