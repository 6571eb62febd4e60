#pragma once

#include "kernels/cpu/kernel.h"
#include "tr/algo/any_optimizer.h"
#include "tr/exec/arenas.h"
#include "tr/op/graph.h"
#include "tr/plan/plan.h"

namespace tr {

/// Binds an `update` node: this rank's share of the node's range, all ranks' gradients of it or, in a plan with norms,
/// their sum, the moments and the average that the plan keeps, and the working copy where the step has one. Rates,
/// decays and limits are read from their scalars at each call.
cpu::Kernel bind_update(const Node& node, const Plan& plan, const Arenas& arenas, int rank,
                        const AnyOptimizer& optimizer);

/// Binds a `reduce_gradients` node: the sum over the ranks, clipped by value, into this rank's own gradient, and the
/// sums of squares of each chunk.
cpu::Kernel bind_reduce_gradients(const Node& node, const Plan& plan, const Arenas& arenas, int rank);

/// Whether the norm behind a `reduce_gradients` is finite and leaves a factor to clip with.
bool gradient_norm_is_usable(const Plan& plan, const Arenas& arenas);

}  // namespace tr
