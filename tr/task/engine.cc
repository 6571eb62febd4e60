#include "tr/task/engine.h"

#include <fmt/format.h>

#include "tr/base/address_space.h"
#include "tr/base/error.h"
#include "tr/exec/cpu_rank.h"
#include "tr/exec/initialize.h"
#include "tr/task/interrupt.h"

namespace tr {
namespace {

void start_rank_thread() {
  InterruptGuard::block_on_this_thread();
  set_up_rank_thread();
}

}  // namespace

Engine::Engine(const TaskSpec& spec, const TrainingSettings& settings, const Options& options)
    : run_(make_run_plans(spec, settings, options, options.threads)) {
  require_memory(options.workers);
  std::vector<MemoryPlan> layouts;
  for (const Plan& plan : plans()) layouts.push_back(plan.memory);
  arenas_ = std::make_unique<Arenas>(layouts);
  pool_ = std::make_unique<RankPool>(options.threads, start_rank_thread);
  prepare_ranks(*settings.optimizer);
  init_all(plans().front(), *arenas_, options.seed);
}

// oneDNN does not survive an allocation that fails while it prepares a product, so there must be room for all of them.
// Its own part was measured with the MNIST example: 20 MB, and 2 MB a rank for 33 nodes. Twice that leaves a margin.
void Engine::require_memory(int workers) const {
  constexpr std::int64_t library = std::int64_t{32} << 20;
  constexpr std::int64_t library_per_node = std::int64_t{128} << 10;
  std::int64_t bytes = plans().front().memory.shared_bytes + library + (ranks() + workers) * stack_bytes();
  for (const Plan& plan : plans()) {
    bytes += plan.memory.local_bytes;
    for (const ComputationGraph& graph : plan.atlas.graphs) bytes += graph.nodes.size() * library_per_node;
  }
  if (has_address_space(bytes)) return;
  throw Error(fmt::format(
      "{} ranks and {} data workers need about {} MB, more than this process may have (see ulimit -v); use a "
      "smaller batch or model, or fewer --threads or --workers",
      ranks(), workers, bytes / 1'000'000 + 1));
}

void Engine::prepare_ranks(const AnyOptimizer& optimizer) {
  executors_.resize(plans().size());
  pool_->run([&](ThreadCommunicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    executors_[rank] = std::make_unique<CpuExecutor>(plans()[rank], *arenas_, communicator.rank(), optimizer);
    for (const Variant& variant : plans()[rank].atlas.variants) executors_[rank]->prepare(variant);
    executors_[rank]->finish();
  });
}

std::vector<std::int64_t> Engine::annex_bytes() const {
  std::vector<std::int64_t> bytes;
  for (const auto& executor : executors_) bytes.push_back(executor->annex_bytes());
  return bytes;
}

int Engine::variant(GraphKind kind, int total_rows) const { return variant_of(plans().front(), kind, total_rows); }

}  // namespace tr
