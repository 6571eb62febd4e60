#pragma once

#include "kernels/cpu/kernel.h"
#include "tr/algo/any_optimizer.h"
#include "tr/exec/arenas.h"
#include "tr/exec/step_status.h"
#include "tr/op/graph.h"
#include "tr/plan/plan.h"

namespace tr {

/// Throws ValueError or ShapeError unless an `update` or `reduce_gradients` node and its plan have all that it works
/// on.
void require_complete(const Node& node, const Plan& plan);

/// Binds an `update` node: this rank's share of the node's range, all ranks' gradients of it or, in a plan with norms,
/// their sum, the moments and the average that the plan keeps, and the working copy where the step has one. Rates,
/// decays and limits are read from their scalars at each call.
cpu::Kernel bind_update(const Node& node, const Plan& plan, const Arenas& arenas, int rank,
                        const AnyOptimizer& optimizer);

/// Binds a `reduce_gradients` node: the sum over the ranks, clipped by value, into this rank's own gradient, and the
/// sums of squares of each chunk; those of the weights only where the optimizer needs their norms.
cpu::Kernel bind_reduce_gradients(const Node& node, const Plan& plan, const Arenas& arenas, int rank,
                                  const AnyOptimizer& optimizer);

/// Whether a step can be taken with the norm that the `reduce_gradients` nodes left.
StepStatus norm_status(const Plan& plan, const Arenas& arenas);

}  // namespace tr
