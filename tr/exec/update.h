#pragma once

#include "kernels/cpu/kernel.h"
#include "tr/algo/any_optimizer.h"
#include "tr/exec/arenas.h"
#include "tr/op/graph.h"
#include "tr/plan/plan.h"

namespace tr {

/// Binds an `update` node: this rank's share of the node's region, all ranks' gradients of it, the moments that the
/// optimizer keeps, and the working copy where the step has one. Rates and decays are read from their scalars at each
/// call.
cpu::Kernel bind_update(const Node& node, const Plan& plan, const Arenas& arenas, int rank,
                        const AnyOptimizer& optimizer);

}  // namespace tr
