#pragma once

#include <cstdint>
#include <span>

namespace tr::cpu {

/// Of one chunk: what norms are made of.
struct SquareSums {
  /// Σ g² of the summed and limited gradient, Σ w² of the weights, 0 without weights.
  double gradient = 0.0;
  double weight = 0.0;
  /// Whether all weights and, before they are limited, all summed gradients are finite.
  bool finite = true;
};

/// Sums the gradients of all ranks, at least one, in their order as the update kernels do: ((g0 + g1) + g2) + …; limits
/// each sum to [-clip_value, clip_value], with 0 for no limit, and writes it to `sum`, which may be one of the
/// gradients. All arrays have `count` elements; `weight` may be null.
///
/// The squares are summed in fp64, element i in sum i mod 16 and these sixteen pairwise at the end: one call gives the
/// same bits with every instruction set. Sums of several calls depend on where one ends and the next begins, so whoever
/// adds them up has chunks that do not depend on the ranks, and adds them in the order of the chunks.
SquareSums reduce_gradients(std::span<const float* const> gradients, float* sum, const float* weight, float clip_value,
                            std::int64_t count);

}  // namespace tr::cpu
