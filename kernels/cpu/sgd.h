#pragma once

#include "kernels/cpu/update_share.h"

namespace tr::cpu {

struct SgdScalars {
  double lr = 0.0;
  double momentum = 0.0;
  double dampening = 0.0;
  double weight_decay = 0.0;
  bool nesterov = false;
  /// Decay shrinks the weight itself instead of entering the gradient.
  bool decoupled = false;
  /// The first step takes the gradient undampened into the momentum.
  bool first_step = false;
};

/// One step of SGD in PyTorch's form, with the gradient g summed over the ranks and the momentum b (moment1, needed
/// unless momentum is 0), decay applying where the share decays:
///   w ← w - lr·weight_decay·w if decoupled, else g ← g + weight_decay·w,
///   b ← momentum·b + (1 - dampening)·g, or g in the first step, g ← g + momentum·b if nesterov, else b,
///   w ← w - lr·g.
/// Gives false if an updated weight or a gradient is not finite.
bool sgd_update(const UpdateShare& share, const SgdScalars& scalars);

}  // namespace tr::cpu
