#include "tr/task/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "tr/base/address_space.h"
#include "tr/base/error.h"
#include "tr/dist/slice.h"
#include "tr/exec/cpu_rank.h"
#include "tr/exec/initialize.h"
#include "tr/io/print.h"
#include "tr/plan/runtime.h"
#include "tr/task/interrupt.h"

namespace tr {
namespace {

void start_rank_thread() {
  InterruptGuard::block_on_this_thread();
  set_up_rank_thread();
}

void require_declared(const TaskSpec& spec, const Dataset& data) {
  check_dataset(data);
  if (data.sample == spec.model.sample && data.classes == spec.model.classes) return;
  const Shape& has = data.sample;
  const Shape& says = spec.model.sample;
  throw DataError(fmt::format("{} holds {}x{}x{} pictures of {} classes, but the data type {} declares {}x{}x{} and {}",
                              data.source, has.h, has.w, has.c, data.classes, spec.data_name, says.h, says.w, says.c,
                              spec.model.classes));
}

/// A data set is believed only where it is what its type declares: the plan was made from that.
DataSplits opened(const TaskSpec& spec, const Options& options) {
  DataSplits data = spec.open(options.data);
  require_declared(spec, data.train);
  require_declared(spec, data.test);
  return data;
}

/// Said before anything is set up for them, which may take long or fail.
void warn_of_idle_ranks(const DataSplits& data, int batch, int ranks) {
  const int rows = std::min(batch, std::max(data.train.size(), data.test.size()));
  if (ranks <= rows) return;
  warn(fmt::format("{} ranks for batches of {} row{}: {} of them have nothing to do", ranks, rows, rows == 1 ? "" : "s",
                   ranks - rows));
}

/// The full batch of each graph, and the last one where it is smaller.
std::vector<Variant> variants_of(const DataSplits& data, int batch, int rank, int ranks, bool averaged) {
  std::vector<Variant> variants;
  const auto add = [&](GraphKind kind, int total_rows) {
    const int rows = static_cast<int>(slice_of(total_rows, rank, ranks).count);
    if (total_rows == 0) return;
    variants.push_back(
        {.kind = kind, .rows = rows, .total_rows = total_rows, .averaged = averaged && kind == GraphKind::evaluate});
  };
  for (const GraphKind kind : {GraphKind::train, GraphKind::evaluate}) {
    const int samples = kind == GraphKind::train ? data.train.size() : data.test.size();
    if (samples >= batch) add(kind, batch);
    add(kind, samples % batch);
  }
  return variants;
}

}  // namespace

Engine::Engine(const TaskSpec& spec, const TrainingSettings& settings, const Options& options)
    : data_(opened(spec, options)) {
  warn_of_idle_ranks(data_, spec.batch, options.threads);
  plans_.resize(static_cast<std::size_t>(options.threads));
  make_plans(spec, settings, options.precision);
  require_memory(options.workers);
  std::vector<MemoryPlan> layouts;
  for (const Plan& plan : plans_) layouts.push_back(plan.memory);
  arenas_ = std::make_unique<Arenas>(layouts);
  pool_ = std::make_unique<RankPool>(options.threads, start_rank_thread);
  prepare_ranks(*settings.optimizer);
  init_all(plans_.front(), *arenas_, options.seed);
}

void Engine::make_plans(const TaskSpec& spec, const TrainingSettings& settings, Precision precision) {
  const UpdateRule rule = settings.update_rule();
  for (int rank = 0; rank < ranks(); ++rank) {
    const std::vector<Variant> variants = variants_of(data_, spec.batch, rank, ranks(), rule.evaluates_average());
    PlanSpec plan_spec = with_update({.precision = precision, .train_rows = 0, .evaluate_rows = 0}, rule);
    // A rank's share of a smaller batch can be the larger one, by a row.
    for (const Variant& variant : variants) {
      int& rows = variant.kind == GraphKind::train ? plan_spec.train_rows : plan_spec.evaluate_rows;
      rows = std::max(rows, variant.rows);
    }
    Plan& plan = plans_[static_cast<std::size_t>(rank)];
    plan = make_plan(spec.model, plan_spec);
    require_same_structure(spec.compiled[static_cast<std::size_t>(precision)], plan);
    for (const Variant& variant : variants) plan.atlas.variants.push(variant);
    derive_inits(plan, settings.inits);
    bind_settings(plan, settings.loss, rule);
  }
}

// oneDNN does not survive an allocation that fails while it prepares a product, so there must be room for all of them.
// Its own part was measured with the MNIST example: 20 MB, and 2 MB a rank for 33 nodes. Twice that leaves a margin.
void Engine::require_memory(int workers) const {
  constexpr std::int64_t library = std::int64_t{32} << 20;
  constexpr std::int64_t library_per_node = std::int64_t{128} << 10;
  std::int64_t bytes = plans_.front().memory.shared_bytes + library + (ranks() + workers) * stack_bytes();
  for (const Plan& plan : plans_) {
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
  executors_.resize(plans_.size());
  pool_->run([&](ThreadCommunicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    executors_[rank] = std::make_unique<CpuExecutor>(plans_[rank], *arenas_, communicator.rank(), optimizer);
    for (const Variant& variant : plans_[rank].atlas.variants) executors_[rank]->prepare(variant);
    executors_[rank]->finish();
  });
}

std::vector<std::int64_t> Engine::annex_bytes() const {
  std::vector<std::int64_t> bytes;
  for (const auto& executor : executors_) bytes.push_back(executor->annex_bytes());
  return bytes;
}

int Engine::variant(GraphKind kind, int total_rows) const {
  const FlatList<Variant>& variants = plans_.front().atlas.variants;
  for (int i = 0; i < variants.size(); ++i) {
    if (variants[i].kind == kind && variants[i].total_rows == total_rows) return i;
  }
  throw Error(fmt::format("internal error: no {} variant was prepared for {} rows", name_of(kind), total_rows));
}

}  // namespace tr
