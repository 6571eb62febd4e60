#pragma once

#include <memory>
#include <vector>

#include "tr/dist/rank_pool.h"
#include "tr/exec/arenas.h"
#include "tr/exec/cpu_executor.h"
#include "tr/io/options.h"
#include "tr/task/run_plans.h"
#include "tr/task/settings.h"

namespace tr {

/// Everything of a run that exists once it is compiled: data, plans, memory, rank threads and bound kernels.
class Engine {
 public:
  /// Opens the data, plans for the rows of every rank, checks the plans against the compiler's, allocates, prepares
  /// every kernel on its rank's thread and gives every tensor its first value. Throws what these throw.
  Engine(const TaskSpec& spec, const TrainingSettings& settings, const Options& options);

  const RunPlans& run_plans() const { return run_; }
  const DataSplits& data() const { return run_.data; }
  const std::vector<Plan>& plans() const { return run_.plans; }
  const Arenas& arenas() const { return *arenas_; }
  RankPool& pool() { return *pool_; }
  CpuExecutor& executor(int rank) { return *executors_[static_cast<std::size_t>(rank)]; }
  int ranks() const { return static_cast<int>(plans().size()); }
  /// Of each rank.
  std::vector<std::int64_t> annex_bytes() const;
  /// The number of the variant for a batch of so many rows over all ranks; the same on every rank.
  int variant(GraphKind kind, int total_rows) const;

 private:
  void require_memory(int workers) const;
  void prepare_ranks(const AnyOptimizer& optimizer);

  RunPlans run_;
  std::unique_ptr<Arenas> arenas_;
  std::vector<std::unique_ptr<CpuExecutor>> executors_;
  // Last, so that its threads end before what they use.
  std::unique_ptr<RankPool> pool_;
};

}  // namespace tr
