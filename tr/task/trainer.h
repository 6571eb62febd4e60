#pragma once

#include <cstdint>
#include <memory>

#include "tr/io/options.h"
#include "tr/io/result.h"
#include "tr/task/settings.h"

namespace tr {

class Engine;
class GpuEngine;
struct RunPlans;
class InterruptGuard;

/// What is behind every DeepLearningTask: the settings, the phases, and a run. Not a template, so that a program pays
/// for its model in the plan alone.
class Trainer {
 public:
  Trainer(const TaskSpec& spec, const Options& options);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// The settings to be changed by `setter`; throws StateError once compiled.
  TrainingSettings& settings(const char* setter);
  void compile();
  TrainingResult run();
  TrainingResult dry_run();

 private:
  enum class Phase { planning, compiled, finished };

  const RunPlans& plans() const;
  std::uint64_t hash() const;
  TrainingResult described_result() const;
  void print_summary() const;

  /// After a run that SIGINT ended, until everything is torn down: the impatient press twice. First, to go last.
  std::unique_ptr<InterruptGuard> interrupts_;
  TaskSpec spec_;
  Options options_;
  TrainingSettings settings_;
  Phase phase_ = Phase::planning;
  /// One of the two, by the device.
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<GpuEngine> gpu_engine_;
  /// Prepared for the run, and resolved to the one kind that holds any.
  std::optional<CustomScheduler> scheduler_;
};

}  // namespace tr
