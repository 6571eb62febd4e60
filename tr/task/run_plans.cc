#include "tr/task/run_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "tr/base/error.h"
#include "tr/dist/slice.h"
#include "tr/exec/initialize.h"
#include "tr/io/print.h"
#include "tr/plan/runtime.h"

namespace tr {
namespace {

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

RunPlans make_run_plans(const TaskSpec& spec, const TrainingSettings& settings, const Options& options, int ranks) {
  RunPlans run{opened(spec, options), std::vector<Plan>(static_cast<std::size_t>(ranks))};
  warn_of_idle_ranks(run.data, spec.batch, ranks);
  const UpdateRule rule = settings.update_rule();
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<Variant> variants = variants_of(run.data, spec.batch, rank, ranks, rule.evaluates_average());
    PlanSpec plan_spec = with_update({.precision = options.precision, .train_rows = 0, .evaluate_rows = 0}, rule);
    // A rank's share of a smaller batch can be the larger one, by a row.
    for (const Variant& variant : variants) {
      int& rows = variant.kind == GraphKind::train ? plan_spec.train_rows : plan_spec.evaluate_rows;
      rows = std::max(rows, variant.rows);
    }
    Plan& plan = run.plans[static_cast<std::size_t>(rank)];
    plan = make_plan(spec.model, plan_spec);
    require_same_structure(spec.compiled_for(options.precision), plan);
    for (const Variant& variant : variants) plan.atlas.variants.push(variant);
    derive_inits(plan, settings.inits);
    bind_settings(plan, settings.loss, rule);
  }
  return run;
}

int variant_of(const Plan& plan, GraphKind kind, int total_rows) {
  const FlatList<Variant>& variants = plan.atlas.variants;
  for (int i = 0; i < variants.size(); ++i) {
    if (variants[i].kind == kind && variants[i].total_rows == total_rows) return i;
  }
  throw Error(fmt::format("internal error: no {} variant was prepared for {} rows", name_of(kind), total_rows));
}

}  // namespace tr
