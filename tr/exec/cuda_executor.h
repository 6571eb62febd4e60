#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tr/algo/update_rule.h"
#include "tr/exec/cuda_arenas.h"
#include "tr/exec/step_status.h"
#include "tr/exec/working_copies.h"
#include "tr/op/softmax_ce.h"
#include "tr/plan/plan.h"

namespace tr {

struct CudaSettings {
  /// Whether a step is captured once and replayed; else its operations are put on the streams one by one, each time.
  bool graph = true;
};

/// What became of a step: its sums are those over all ranks.
struct CudaStep {
  StepStatus status = StepStatus::ok;
  Metrics metrics;
};

/// Binds the graphs of a plan to one GPU and runs them. Steps run behind the caller's back, two of them at most: while
/// the GPU works on the batch in one slot, the caller fills the other slot. To be used on one thread at a time; ranks
/// of a group each need a thread of their own.
///
///     executor.wait_for_input(slot);          // the slot's memory is free, once a batch was started on it
///     fill(executor.images(slot), executor.labels(slot));
///     if (a step was started on this slot) look_at(executor.wait(slot));
///     executor.start(variant, slot, rate);
class CudaExecutor {
 public:
  static constexpr int slots = 2;

  /// For rank `rank` of `group`, or for a GPU that is alone where that is null. Both must outlive this, as must plan
  /// and arenas.
  CudaExecutor(const Plan& plan, const CudaArenas& arenas, const UpdateRule& rule, CudaSettings settings = {},
               const cuda::DeviceGroup* group = nullptr, int rank = 0);
  /// Waits for what is under way.
  ~CudaExecutor();
  CudaExecutor(CudaExecutor&&) noexcept;
  CudaExecutor& operator=(CudaExecutor&&) noexcept;

  /// Prepares a variant for both slots and gives its number. Throws DeviceError if the GPU cannot do one of its
  /// operations.
  int prepare(const Variant& variant);
  /// To be called when the last variant is prepared: allocates what the plan does not know of, and captures the steps.
  /// Throws DeviceError, saying how much is free and how much is needed, where memory is short.
  void finish();
  /// Bytes on the device beyond the plan.
  std::int64_t annex_bytes() const;

  /// Where a batch goes: pinned memory with room for the rows of the largest batch, without gaps. Null where the plan
  /// has no such input.
  std::byte* images(int slot) const;
  std::int32_t* labels(int slot) const;

  /// Starts a step on the batch in `slot` and returns at once. `rate` is the learning rate of a training step. Throws
  /// StateError if the step before on this slot was not waited for.
  void start(int variant, int slot, float rate = 0.0F);
  /// Returns when the batch in `slot` is no longer needed on the host.
  void wait_for_input(int slot);
  /// Returns when the step on `slot` is done. A training step that failed has changed no weight, moment or step number,
  /// nor has any after it, until forget_failure(); they all report the first failure. Only a gradient that is not
  /// finite can come to light when the update has begun; norms find it before. Throws StateError if no step was
  /// started, and DeviceError if the GPU failed.
  CudaStep wait(int slot);
  /// Lets steps count again.
  void forget_failure();

  /// Makes the working copies from the weights or from their average: needed when the weights were set from outside,
  /// before a variant that evaluates the average, and behind it.
  void load_working_copies(WeightSource source);
  /// The metrics since the last reset, over all ranks; each has to ask.
  Metrics accumulated();
  void reset_accumulated();

  const Plan& plan() const;

 private:
  class Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace tr
