#pragma once

#include <vector>

#include "tr/data/dataset.h"
#include "tr/io/options.h"
#include "tr/plan/plan.h"
#include "tr/task/settings.h"

namespace tr {

/// What a run has of data and plans, whatever it computes on.
struct RunPlans {
  DataSplits data;
  /// One a rank, each with the variants that the run needs.
  std::vector<Plan> plans;
};

/// Opens the data, plans for the rows of every rank and checks the plans against the compiler's. Throws what these
/// throw.
RunPlans make_run_plans(const TaskSpec& spec, const TrainingSettings& settings, const Options& options, int ranks);

/// The number of the variant for a batch of so many rows over all ranks; the same on every rank.
int variant_of(const Plan& plan, GraphKind kind, int total_rows);

}  // namespace tr
