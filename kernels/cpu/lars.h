#pragma once

#include "kernels/cpu/update_share.h"

namespace tr::cpu {

struct LarsScalars {
  double lr = 0.0;
  double momentum = 0.0;
  double weight_decay = 0.0;
  /// The tensor's own factor of the rate, from the norms of all of it; 1 for biases, which makes it plain momentum.
  double ratio = 1.0;
};

/// One step of LARS (You, Gitman and Ginsburg, Large Batch Training of Convolutional Networks, 2017, algorithm 1) on a
/// piece of one tensor, with the gradient g summed over the ranks and the momentum v (moment1, needed unless momentum
/// is 0), decay applying where the share decays:
///   v ← momentum·v + lr·ratio·(g + weight_decay·w), w ← w - v.
/// Gives false if an updated weight or a gradient is not finite.
bool lars_update(const UpdateShare& share, const LarsScalars& scalars);

}  // namespace tr::cpu
