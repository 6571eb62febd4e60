#include "tr/task/trainer.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "tr/base/clock.h"
#include "tr/base/error.h"
#include "tr/exec/cpu_rank.h"
#include "tr/exec/inspect.h"
#include "tr/io/atomic_file.h"
#include "tr/io/print.h"
#include "tr/io/progress.h"
#include "tr/io/report.h"
#include "tr/io/summary.h"
#include "tr/task/engine.h"
#include "tr/task/gpu_engine.h"
#include "tr/task/training_run.h"

namespace tr {
namespace {

void require_complete(const TrainingSettings& settings) {
  if (!settings.optimizer) throw StateError("compile() before optimizer(): say which optimizer trains the model");
  if (!settings.scheduler) throw StateError("compile() before scheduler(): say which learning rates it takes");
  if (settings.total_epochs < 1) throw StateError("compile() before total_epochs(): say how many epochs the run has");
  validate(*settings.optimizer);
}

StreamConfig stream_config(const TaskSpec& spec, const TrainingSettings& settings, const DataSplits& data) {
  return {.train_size = data.train.size(),
          .eval_size = data.test.size(),
          .batch = spec.batch,
          .eval_batch = spec.batch,
          .epochs = settings.total_epochs,
          .validate_every = settings.validate_every,
          .validate_offset = settings.validate_offset};
}

void warn_of_rates(const CustomScheduler& scheduler, int steps) {
  bool moves = false;
  for (int batch = 0; batch < steps && !moves; ++batch) {
    const float rate = scheduler.lr(0, batch);
    require_rate(rate, 0, batch);
    moves = rate > 0.0F;
  }
  if (!moves) warn("the learning rate is 0 throughout the first epoch; give warmup_start_lr or step_by_batch()");
}

}  // namespace

Trainer::Trainer(const TaskSpec& spec, const Options& options) : spec_(spec), options_(options) {
  if (options.threads < 1) value_error("threads", options.threads, "1 or more");
  if (options.workers < 0) value_error("workers", options.workers, "0 or more");
}

Trainer::~Trainer() = default;

TrainingSettings& Trainer::settings(const char* setter) {
  if (phase_ != Phase::planning) {
    throw StateError(fmt::format("{}() after compile(): a compiled task cannot be changed; make a new one", setter));
  }
  return settings_;
}

void Trainer::compile() {
  if (phase_ != Phase::planning) throw StateError("compile() was already called");
  require_complete(settings_);
  if (options_.device == Device::cpu) require_precision(options_.precision);
  if (!options_.json.empty()) check_writable(options_.json);
  std::unique_ptr<Engine> engine;
  std::unique_ptr<GpuEngine> gpu_engine;
  if (options_.device == Device::cpu) {
    engine = std::make_unique<Engine>(spec_, settings_, options_);
  } else {
    gpu_engine = make_gpu_engine(spec_, settings_, options_);
  }
  const DataSplits& data = (engine ? engine->run_plans() : gpu_engine->plans()).data;
  const BatchStream stream(stream_config(spec_, settings_, data));
  const AnyScheduler prepared = prepare(*settings_.scheduler, settings_.total_epochs, stream.train_batches());
  scheduler_ = std::visit([](const auto& schedule) { return CustomScheduler(schedule); }, prepared);
  warn_of_rates(*scheduler_, stream.train_batches());
  engine_ = std::move(engine);
  gpu_engine_ = std::move(gpu_engine);
  phase_ = Phase::compiled;
  if (!options_.quiet) print_summary();
}

void Trainer::print_summary() const {
  const std::vector<std::int64_t> annex = engine_ ? engine_->annex_bytes() : gpu_engine_->annex_bytes();
  const std::string text = summary({.model = spec_.model_name,
                                    .data = spec_.data_name,
                                    .spec = spec_.model,
                                    .plans = plans().plans,
                                    .annex_bytes = annex});
  // The results may be for a file, so the run goes on.
  if (!print(stdout, text)) warn(fmt::format("the output is lost: {}", std::generic_category().message(errno)));
}

const RunPlans& Trainer::plans() const { return engine_ ? engine_->run_plans() : gpu_engine_->plans(); }

std::uint64_t Trainer::hash() const {
  return engine_ ? weights_hash(engine_->plans().front(), engine_->arenas()) : gpu_engine_->weights_hash();
}

TrainingResult Trainer::described_result() const {
  TrainingResult result;
  result.model = spec_.model_name;
  result.threads = static_cast<int>(plans().plans.size());
  result.precision = name_of(options_.precision);
  result.seed = options_.seed;
  result.instructions = engine_ ? widest_instructions() : gpu_engine_->device();
  result.plan = region_bytes(plans().plans);
  return result;
}

TrainingResult Trainer::run() {
  if (phase_ == Phase::planning) throw StateError("run() before compile()");
  if (phase_ == Phase::finished) throw StateError("run() was already called; make a new task for another run");
  phase_ = Phase::finished;
  const double start = steady_seconds();
  TrainingResult result = described_result();
  const PipelineConfig config{
      .stream = stream_config(spec_, settings_, plans().data), .seed = options_.seed, .workers = options_.workers};
  const SampleSource source = normalized_source(plans().data, spec_.normalization, feature_dtype(options_.precision));
  Progress progress(settings_.total_epochs, config.stream.train_size, BatchStream(config.stream).train_batches(),
                    options_.quiet);
  auto interrupts = std::make_unique<InterruptGuard>();
  const RunParts parts{settings_, *scheduler_, config, source, progress, *interrupts};
  if (engine_) {
    TrainingRun(*engine_, parts, result).run();
  } else {
    gpu_engine_->run(parts, result);
  }
  // A SIGINT that is late or not the first one must not leave half a file behind.
  interrupts->settle();
  result.total_seconds = steady_seconds() - start;
  result.weights_hash = hash();
  if (!options_.json.empty()) write_json(result, options_.json);
  if (result.interrupted) interrupts_ = std::move(interrupts);
  return result;
}

TrainingResult Trainer::dry_run() {
  if (phase_ == Phase::finished) throw StateError("dry_run() after run()");
  if (phase_ == Phase::planning) compile();
  // To print the plan is what a dry run is for, even where compile() was told to be quiet.
  if (options_.quiet) print_summary();
  TrainingResult result = described_result();
  result.dry = true;
  result.weights_hash = hash();
  if (!options_.json.empty()) write_json(result, options_.json);
  return result;
}

}  // namespace tr
