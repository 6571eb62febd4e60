#pragma once

#include <cstdint>

#include "tr/algo/any_optimizer.h"
#include "tr/algo/loss.h"
#include "tr/exec/arenas.h"
#include "tr/plan/plan.h"

namespace tr {

/// Lands the settings of a loss and an optimizer in the scalars of a plan.
void bind_settings(Plan& plan, const CrossEntropyLoss& loss, const AnyOptimizer& optimizer);

/// Walks the plan once and gives every tensor its first value. Parameters are drawn by their position among the
/// parameters, so neither the precision nor a layer appended later changes an earlier one's. All ranks of a process see
/// the same shared arena; called by one of them, before the first step.
void init_all(const Plan& plan, const Arenas& arenas, std::uint64_t seed);

/// Makes the working copies of all weights from the masters; needed whenever the masters were set from outside.
void refresh_working_copies(const Plan& plan, const Arenas& arenas);

}  // namespace tr
