#pragma once

#include <cstdint>
#include <string>

#include "tr/exec/arenas.h"
#include "tr/exec/cpu_executor.h"
#include "tr/plan/plan.h"

namespace tr {

/// FNV-1a, 64 bits (Fowler, Noll, Vo), over the bytes of all weights and biases in the order of the plan, padding left
/// out.
std::uint64_t weights_hash(const Plan& plan, const Arenas& arenas);

/// "w_fc_weight of layer 3", "i_a_data".
std::string describe(const PlanTensor& tensor);

/// The first tensor that holds a NaN or an infinity after a step has failed, in the order in which the step writes
/// them: the weights, the input, then everything the step computes, which is computed once more. Empty if this rank has
/// none. To be called on the rank's thread while all ranks are at rest.
std::string first_non_finite(CpuExecutor& executor, int variant, int slot);

}  // namespace tr
