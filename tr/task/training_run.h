#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tr/data/pipeline.h"
#include "tr/io/result.h"
#include "tr/task/engine.h"
#include "tr/task/run_books.h"

namespace tr {

/// One training run over a compiled engine: every rank walks the same stream of batches, meets the others where the
/// graph says, and stops at the same batch. Rank 0 also sets the rate and keeps the books.
class TrainingRun {
 public:
  /// All must outlive the run.
  TrainingRun(Engine& engine, const RunParts& parts, TrainingResult& result);

  /// Runs to the end, to the accuracy asked for, or to SIGINT. Throws Error when a loss or a weight is not finite,
  /// naming epoch, batch, rate and the first tensor that holds it.
  void run();

 private:
  void walk(ThreadCommunicator& ranks);
  /// False when this was the last batch.
  bool take_batch(std::int64_t number, const Ticket& ticket, ThreadCommunicator& ranks);
  int variant_of(const Ticket& ticket) const;
  void begin_batch(std::int64_t number, const Ticket& ticket);
  /// Called by all ranks behind the same meeting point; the first one throws, the others return.
  void fail(StepStatus status, std::int64_t number, const Ticket& ticket, ThreadCommunicator& ranks);

  Engine& engine_;
  std::vector<RankInput> inputs_;
  BatchPipeline pipeline_;
  RunBooks books_;
  /// One text a rank, written between two meeting points.
  std::vector<std::string> findings_;
};

}  // namespace tr
