#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "tr/algo/any_scheduler.h"
#include "tr/algo/init_table.h"
#include "tr/algo/loss.h"
#include "tr/algo/update_rule.h"
#include "tr/data/dataset.h"
#include "tr/plan/static_plan.h"

namespace tr {

/// How a run trains: what the setters of a task fill in.
struct TrainingSettings {
  CrossEntropyLoss loss;
  std::optional<AnyOptimizer> optimizer;
  GradientClipping clipping;
  std::optional<EMA> ema;
  std::optional<AnyScheduler> scheduler;
  InitTable inits{Initializer()};
  int total_epochs = 0;
  int validate_every = 1;
  int validate_offset = 0;
  /// Above 1, it never stops a run.
  double stop_at_top1 = 2.0;

  /// To be asked once the optimizer is known.
  UpdateRule update_rule() const { return {*optimizer, clipping, ema}; }
};

/// What a run trains, on what: the types of a task as data, so that everything behind it is compiled once.
struct TaskSpec {
  std::string_view model_name;
  std::string_view data_name;
  ModelSpec model;
  Normalization normalization;
  int batch = 0;
  /// The compiler's plans, in fp32 and in 16 bits: fp16 has that of bf16, but for the name of the type.
  std::array<PlanView, 2> compiled;
  constexpr const PlanView& compiled_for(Precision precision) const {
    return compiled[precision == Precision::fp32 ? 0 : 1];
  }
  DataSplits (*open)(const std::string& directory) = nullptr;
};

}  // namespace tr
