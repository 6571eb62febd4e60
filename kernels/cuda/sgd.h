#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/update_range.h"

namespace tr::cuda {

/// On the device, [1] each.
struct SgdScalars {
  const float* lr = nullptr;
  const float* momentum = nullptr;
  const float* dampening = nullptr;
  const float* weight_decay = nullptr;
};

struct SgdUpdate {
  UpdateRange range{};
  SgdScalars scalars{};
  bool nesterov = false;
  /// Decay shrinks the weight itself instead of entering the gradient.
  bool decoupled = false;
};

/// One step of SGD in PyTorch's form with the momentum b (moment1, needed unless momentum is 0), decay applying where
/// the range decays:
///   w ← w - lr·weight_decay·w if decoupled, else g ← g + weight_decay·w,
///   b ← momentum·b + (1 - dampening)·g, or g in the first step, g ← g + momentum·b if nesterov, else b,
///   w ← w - lr·g.
void sgd_update(const SgdUpdate& update, cudaStream_t stream);

}  // namespace tr::cuda
