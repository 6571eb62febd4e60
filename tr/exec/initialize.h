#pragma once

#include <cstdint>

#include "tr/algo/loss.h"
#include "tr/algo/update_rule.h"
#include "tr/exec/arenas.h"
#include "tr/plan/plan.h"

namespace tr {

/// What an update rule asks of a plan, added to a specification.
PlanSpec with_update(PlanSpec spec, const UpdateRule& rule);

/// Lands the settings of a loss and an update rule in the scalars of a plan.
void bind_settings(Plan& plan, const CrossEntropyLoss& loss, const UpdateRule& rule);

/// Walks the plan once and gives every tensor its first value; averages start as the weights. Parameters are drawn by
/// their position among the parameters, so neither the precision nor a layer appended later changes an earlier one's.
/// All ranks of a process see the same shared arena; called by one of them, before the first step.
void init_all(const Plan& plan, const Arenas& arenas, std::uint64_t seed);

/// Makes the working copies of all weights from the masters; needed whenever the masters were set from outside.
void refresh_working_copies(const Plan& plan, const Arenas& arenas);

}  // namespace tr
