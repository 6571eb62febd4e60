#include "tr/exec/working_copies.h"

#include "kernels/cpu/cast.h"
#include "tr/exec/range_share.h"

namespace tr {

WorkingCopies::WorkingCopies(const Plan& plan, const Arenas& arenas, int rank) {
  // Those in fp16 are made on the GPU that needs them.
  if (plan.spec.precision != Precision::bf16) return;
  const RangeShare share(weight_range, plan, arenas, rank);
  for (const Piece& piece : share.pieces()) shares_.push_back(share.update_of(piece));
}

void WorkingCopies::make(WeightSource source) const {
  for (const cpu::UpdateShare& share : shares_) {
    cpu::cast_to_bf16(source == WeightSource::average ? share.average : share.weight, share.working, share.count);
  }
}

}  // namespace tr
