#pragma once

#include "kernels/cpu/update_share.h"

namespace tr::cpu {

struct AdamScalars {
  double lr = 0.0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.0;
  /// 1 - β1^t and 1 - β2^t, t counted from 1.
  double bias_correction1 = 1.0;
  double bias_correction2 = 1.0;
  /// Decay shrinks the weight itself instead of entering the gradient: AdamW.
  bool decoupled = false;
};

/// One step of Adam (Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015, algorithm 1) or AdamW (Loshchilov
/// and Hutter, Decoupled Weight Decay Regularization, 2019, algorithm 2) with the gradient g summed over the ranks,
/// moments m (moment1) and v (moment2), decay applying where the share decays:
///   w ← w - lr·weight_decay·w if decoupled, else g ← g + weight_decay·w,
///   m ← β1·m + (1 - β1)·g, v ← β2·v + (1 - β2)·g²,
///   w ← w - lr·(m / bias_correction1) / (√(v / bias_correction2) + eps).
/// Gives false if an updated weight, a gradient or a v is not finite: g² overflows from |g| = 1.8e19 on.
bool adam_update(const UpdateShare& share, const AdamScalars& scalars);

}  // namespace tr::cpu
