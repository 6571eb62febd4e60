#pragma once

#include <vector>

#include "kernels/cpu/update_share.h"
#include "tr/exec/arenas.h"
#include "tr/plan/plan.h"

namespace tr {

/// What working copies are made from.
enum class WeightSource : std::uint8_t { current, average };

/// One rank's share of the copies that a step in bf16 computes with. The update writes them too; this is for when the
/// masters come from elsewhere, or their running average is to take their place.
class WorkingCopies {
 public:
  WorkingCopies(const Plan& plan, const Arenas& arenas, int rank);
  /// Nothing to do in fp32. The average must be one that the plan keeps.
  void make(WeightSource source) const;

 private:
  std::vector<cpu::UpdateShare> shares_;
};

}  // namespace tr
