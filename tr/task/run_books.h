#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tr/algo/any_scheduler.h"
#include "tr/data/batch_stream.h"
#include "tr/data/pipeline.h"
#include "tr/exec/step_status.h"
#include "tr/io/progress.h"
#include "tr/io/result.h"
#include "tr/op/softmax_ce.h"
#include "tr/task/interrupt.h"
#include "tr/task/settings.h"

namespace tr {

/// What a run is told from outside; the scheduler is prepared. `interrupts` blocks SIGINT before the pipeline's threads
/// start, or SIGINT would find one of them unblocked.
struct RunParts {
  const TrainingSettings& settings;
  const CustomScheduler& scheduler;
  const PipelineConfig& pipeline;
  const SampleSource& source;
  Progress& progress;
  const InterruptGuard& interrupts;
};

/// The first text that is not empty, in the order of the ranks, or that there is none.
std::string first_finding(const std::vector<std::string>& findings);

/// What a run writes down as it goes, and what ends it early, whatever it computes on. All but the questions are for
/// one rank alone.
class RunBooks {
 public:
  /// Fills in epochs, best_top1, best_epoch and interrupted of `result`. All must outlive this.
  RunBooks(const RunParts& parts, TrainingResult& result);

  /// Whether a batch is the last one of its training epoch or of its evaluation.
  bool ends_phase(const Ticket& ticket) const;
  /// Whether a batch is evaluated with the running average of the weights.
  bool is_averaged(const Ticket& ticket) const;
  /// The learning rate of a batch, 0 in evaluation, and whether the run goes on behind it. To be asked when the ranks
  /// have met behind begin_batch(), and until that of the next batch but one.
  float rate(std::int64_t number) const { return rates_[static_cast<std::size_t>(number % 2)]; }
  bool goes_on_after(std::int64_t number) const { return last_batch_.load(std::memory_order_relaxed) > number; }

  /// Asks the schedule for the rate; throws Error for one that is not legal.
  void begin_batch(std::int64_t number, const Ticket& ticket);
  void took_step(const Ticket& ticket, double loss_sum);
  /// `sums` are those of the phase that ends with this batch, over all ranks.
  void end_phase(std::int64_t number, const Ticket& ticket, const Metrics& sums);
  /// Throws Error, naming epoch, batch, rate and the tensor.
  [[noreturn]] void fail(StepStatus status, std::int64_t number, const Ticket& ticket, const std::string& tensor) const;

 private:
  void close_epoch(std::int64_t number);

  const TrainingSettings& settings_;
  const CustomScheduler& scheduler_;
  BatchStream stream_;
  Progress& progress_;
  const InterruptGuard& interrupts_;
  TrainingResult& result_;
  /// The batch behind which every rank leaves. The one rank names the batch at hand before all meet in it, so that the
  /// others see it behind that meeting, and not in the batch before.
  std::atomic<std::int64_t> last_batch_{std::numeric_limits<std::int64_t>::max()};
  std::array<float, 2> rates_{};
  EpochResult epoch_;
  double epoch_start_ = 0.0;
};

}  // namespace tr
