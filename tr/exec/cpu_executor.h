#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/kernel.h"
#include "tr/algo/any_optimizer.h"
#include "tr/dist/thread_group.h"
#include "tr/exec/arenas.h"
#include "tr/exec/step_status.h"
#include "tr/exec/working_copies.h"
#include "tr/op/softmax_ce.h"
#include "tr/plan/plan.h"

namespace tr {

/// Binds the graphs of a plan to memory and kernels for one rank, and runs them. Everything but the constructor must be
/// called on the rank's own thread.
class CpuExecutor {
 public:
  static constexpr int slots = 2;

  CpuExecutor(const Plan& plan, const Arenas& arenas, int rank, const AnyOptimizer& optimizer);

  /// Prepares a variant for both input slots and gives its number. `order` runs the nodes in another order that
  /// respects the graph's edges; empty means the graph's own.
  int prepare(const Variant& variant, std::span<const int> order = {});
  /// To be called when the last variant is prepared; allocates the scratch memory.
  void finish();
  /// Bytes that only the libraries know of, beyond the plan.
  std::int64_t annex_bytes() const { return static_cast<std::int64_t>(scratch_.size()); }

  /// Runs all nodes of a variant on the batch in `slot`. Stops at the first meeting point where the ranks' results are
  /// not ok: a loss that is not finite never reaches the weights.
  StepStatus run(int variant, int slot, ThreadCommunicator& ranks);
  /// Makes this rank's share of the working copies from the weights or from their average: a variant that evaluates the
  /// average needs it before, and training after it. Ranks have to meet behind it.
  void load_working_copies(WeightSource source) const { working_copies_.make(source); }
  /// Runs one node again, without meeting anybody: a diagnosis' way to look at a step from the inside.
  void replay(int variant, int slot, int node);

  /// What all ranks' results and flags say of the step on the batch in `slot`. To be asked while every rank is at rest.
  StepStatus status(int slot) const;
  /// The metrics since the last reset, summed over all ranks in their order. To be asked while every rank is at rest.
  Metrics accumulated() const;
  /// Forgets this rank's sums.
  void reset_accumulated();
  /// The loss summed over the rows of the last step, over all ranks in their order; what was seen at the meeting point.
  double last_loss_sum() const { return last_loss_sum_; }

  const Plan& plan() const { return *plan_; }
  int rank() const { return rank_; }
  const Variant& variant(int number) const { return variants_[static_cast<std::size_t>(number)].what; }
  cpu::Operand operand(int id, const Variant& variant, int slot) const;

 private:
  /// A node, ready to run: a kernel, or a meeting point behind which `node` says what to look at.
  struct Step {
    const Node* node = nullptr;
    cpu::Kernel kernel;
  };
  struct Bound {
    Variant what;
    std::array<std::vector<Step>, slots> steps;
  };

  cpu::Kernel bind(const Node& node, const Variant& variant, int slot);
  cpu::Kernel bind_advance_step(const Node& node) const;
  StepStatus look_at(const Node& meet, int slot);
  Metrics result(int slot) const;
  Metrics sum_over_ranks(int id) const;
  bool any_flag(int id) const;

  const Plan* plan_;
  const Arenas* arenas_;
  int rank_;
  AnyOptimizer optimizer_;
  WorkingCopies working_copies_;
  cpu::Scratch scratch_;
  std::vector<Bound> variants_;
  double last_loss_sum_ = 0.0;
};

}  // namespace tr
