#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tr/data/pipeline.h"
#include "tr/io/progress.h"
#include "tr/io/result.h"
#include "tr/task/engine.h"
#include "tr/task/interrupt.h"
#include "tr/task/settings.h"

namespace tr {

/// One training run over a compiled engine: every rank walks the same stream of batches, meets the others where the
/// graph says, and stops at the same batch. Rank 0 also sets the rate, watches for SIGINT and keeps the books.
class TrainingRun {
 public:
  /// `scheduler` is prepared; all must outlive the run. `interrupts` blocks SIGINT before the pipeline's threads start,
  /// or SIGINT would find one of them unblocked.
  TrainingRun(Engine& engine, const TrainingSettings& settings, const CustomScheduler& scheduler,
              const PipelineConfig& pipeline, const SampleSource& source, Progress& progress,
              const InterruptGuard& interrupts);

  /// Runs to the end, to the accuracy asked for, or to SIGINT, and fills in epochs, best_top1, best_epoch and
  /// interrupted. Throws Error when a loss or a weight is not finite, naming epoch, batch, rate and the first tensor
  /// that holds it.
  void run(TrainingResult& result);

 private:
  void walk(ThreadCommunicator& ranks);
  /// False when this was the last batch.
  bool take_batch(std::int64_t number, const Ticket& ticket, ThreadCommunicator& ranks);
  int variant_of(const Ticket& ticket) const;
  void begin_batch(std::int64_t number, const Ticket& ticket);
  void end_phase(std::int64_t number, const Ticket& ticket);
  void close_epoch(std::int64_t number);
  /// Called by all ranks behind the same meeting point; the first one throws, the others return.
  void fail(StepStatus status, std::int64_t number, const Ticket& ticket, ThreadCommunicator& ranks);
  std::string failure(StepStatus status, const Ticket& ticket) const;
  bool ends_phase(const Ticket& ticket) const;

  Engine& engine_;
  const TrainingSettings& settings_;
  const CustomScheduler& scheduler_;
  std::vector<RankInput> inputs_;
  BatchPipeline pipeline_;
  Progress& progress_;
  const InterruptGuard& interrupts_;
  TrainingResult* result_ = nullptr;
  /// The batch behind which every rank leaves. Rank 0 names the batch at hand before all meet in it, so that the others
  /// see it behind that meeting, and not in the batch before.
  std::atomic<std::int64_t> last_batch_{std::numeric_limits<std::int64_t>::max()};
  /// One text a rank, written between two meeting points.
  std::vector<std::string> findings_;
  EpochResult epoch_;
  double epoch_start_ = 0.0;
};

}  // namespace tr
