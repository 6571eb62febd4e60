#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/update_range.h"

namespace tr::cuda {

/// On the device, [1] each.
struct AdamScalars {
  const float* lr = nullptr;
  const float* beta1 = nullptr;
  const float* beta2 = nullptr;
  const float* eps = nullptr;
  const float* weight_decay = nullptr;
  /// 1 - β1^t and 1 - β2^t, t counted from 1; see advance_step().
  const float* bias_correction1 = nullptr;
  const float* bias_correction2 = nullptr;
};

struct AdamUpdate {
  UpdateRange range{};
  AdamScalars scalars{};
  /// Decay shrinks the weight itself instead of entering the gradient: AdamW.
  bool decoupled = false;
};

/// One step of Adam (Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015, algorithm 1) or AdamW (Loshchilov
/// and Hutter, Decoupled Weight Decay Regularization, 2019, algorithm 2) with moments m (moment1) and v (moment2),
/// decay applying where the range decays:
///   w ← w - lr·weight_decay·w if decoupled, else g ← g + weight_decay·w,
///   m ← β1·m + (1 - β1)·g, v ← β2·v + (1 - β2)·g²,
///   w ← w - lr·(m / bias_correction1) / (√(v / bias_correction2) + eps).
void adam_update(const AdamUpdate& update, cudaStream_t stream);

}  // namespace tr::cuda
