#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/update_share.h"
#include "tr/exec/arenas.h"
#include "tr/plan/plan.h"

namespace tr {

/// Elements side by side in a range of regions, which one rank updates; in a plan with norms all of one parameter.
struct Piece {
  /// Counted from the range's first element, the padding between tensors included.
  std::int64_t first = 0;
  std::int64_t count = 0;
  /// The parameter's chunks among all chunks of the plan, wherever they are computed; 0 of them in a plan without
  /// norms.
  int first_chunk = 0;
  int chunks = 0;
};

/// What belongs to one rank of a range of parameters, and where it lies.
class RangeShare {
 public:
  /// `range` is bias_range or weight_range.
  RangeShare(const RegionRange& range, const Plan& plan, const Arenas& arenas, int rank);

  /// One piece of the whole share, or, where the plan has norms, one for each parameter that it touches.
  std::vector<Piece> pieces() const;
  /// The chunks of the share by their place in `square_sums`, each as a piece.
  std::vector<Piece> chunks() const;
  /// What an update of a piece reads and writes; all pointers but those of the gradients.
  cpu::UpdateShare update_of(const Piece& piece) const;
  /// The gradients of a piece on every rank.
  std::vector<const float*> gradients_of(const Piece& piece) const;
  /// The gradient of a piece on this rank.
  float* own_gradient_of(const Piece& piece) const;

 private:
  float* at(Region region, int owner, const Piece& piece) const;

  RegionRange range_;
  const Plan* plan_;
  const Arenas* arenas_;
  int rank_;
};

/// The norms of a step, from the sums of squares that its `reduce_gradients` nodes left.
class Norms {
 public:
  Norms(const Plan& plan, const Arenas& arenas);
  /// ‖gradient‖ over all parameters; not finite where a gradient is not.
  double gradient() const { return root_of(0, chunks_, 0); }
  double gradient(const Piece& piece) const { return root_of(piece.first_chunk, piece.chunks, 0); }
  double weight(const Piece& piece) const { return root_of(piece.first_chunk, piece.chunks, 1); }

 private:
  double root_of(int first, int count, int which) const;

  const double* sums_;
  int chunks_;
};

}  // namespace tr
