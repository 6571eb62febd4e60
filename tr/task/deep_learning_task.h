#pragma once

#include <concepts>

#include "tr/base/type_name.h"
#include "tr/task/requirements.h"
#include "tr/task/trainer.h"

namespace tr {

/// What the compiler must know of a run: a model, the data it is for, and the rows of a batch over all ranks.
///
///     struct MnistRun {
///       using model = Mlp;
///       using data = tr::Mnist;
///       static constexpr int batch = 200;
///     };
template <class R>
concept RunType = requires {
  typename R::model;
  typename R::data;
  requires Model<typename R::model>;
  requires DatasetType<typename R::data>;
  { R::batch } -> std::convertible_to<int>;
};

/// Trains a model. Set it up, `compile()` it, `run()` it; a call in the wrong phase throws StateError. A model that
/// does not fit its data does not compile, nor does a type that lacks a member. `Run` is a RunType.
template <class Run>
class DeepLearningTask {
 public:
  explicit DeepLearningTask(const Options& options) : trainer_(spec(), options) {}

  /// Softmax cross-entropy without smoothing by default.
  DeepLearningTask& loss(const CrossEntropyLoss& value) {
    trainer_.settings("loss").loss = value;
    return *this;
  }
  DeepLearningTask& optimizer(const AnyOptimizer& value) {
    trainer_.settings("optimizer").optimizer = value;
    return *this;
  }
  /// No limit by default.
  DeepLearningTask& clipping(const GradientClipping& value) {
    trainer_.settings("clipping").clipping = value;
    return *this;
  }
  /// Keeps a running average of the weights, none by default; with `evaluate()` it is what evaluations use.
  DeepLearningTask& ema(const EMA& value) {
    trainer_.settings("ema").ema = value;
    return *this;
  }
  /// One of the library's schedules or any type that satisfies `Scheduler`.
  template <class Schedule>
  DeepLearningTask& scheduler(const Schedule& value) {
    if constexpr (std::same_as<Schedule, AnyScheduler> || detail::is_schedule<Schedule>()) {
      trainer_.settings("scheduler").scheduler = value;
    }
    return *this;
  }
  /// An `Initializer`, or any type that satisfies `InitPolicy`.
  template <class Policy>
  DeepLearningTask& initializer(const Policy& value) {
    if constexpr (detail::is_init_policy<Policy>()) trainer_.settings("initializer").inits = InitTable(value);
    return *this;
  }
  DeepLearningTask& total_epochs(int epochs) {
    if (epochs < 1) value_error("total_epochs", epochs, "1 or more");
    trainer_.settings("total_epochs").total_epochs = epochs;
    return *this;
  }
  /// Evaluates behind each epoch, counted from 1, for which (epoch − offset) mod every is 0, and behind the last one.
  DeepLearningTask& validate_every(int every, int offset = 0) {
    if (every < 1) value_error("validate_every", every, "1 or more epochs");
    if (offset < 0) value_error("the offset of validate_every", offset, "0 or more epochs");
    TrainingSettings& settings = trainer_.settings("validate_every");
    settings.validate_every = every;
    settings.validate_offset = offset;
    return *this;
  }
  /// Ends the run behind the first evaluation whose fraction of right answers reaches `top1`.
  DeepLearningTask& early_stop_by_top1(double top1) {
    if (!(top1 > 0.0 && top1 <= 1.0)) value_error("early_stop_by_top1", top1, "above 0, at most 1");
    trainer_.settings("early_stop_by_top1").stop_at_top1 = top1;
    return *this;
  }

  /// Opens the data, plans for the rows of each rank, allocates everything, prepares every operation, and prints the
  /// model and its memory. Nothing can be set any more.
  void compile() { trainer_.compile(); }
  /// Trains, once. SIGINT ends it behind the step at hand, with the results so far; a second one during that step ends
  /// the process, and one behind it does nothing as long as the task lives.
  TrainingResult run() { return trainer_.run(); }
  /// Plans and prints as `compile()` does, without training.
  TrainingResult dry_run() { return trainer_.dry_run(); }

  /// The plan the compiler made.
  template <Precision P>
  static constexpr PlanView compiled_plan() {
    return StaticPlan<typename Run::model, typename Run::data, Run::batch, P>::view();
  }

 private:
  static TaskSpec spec() {
    if constexpr (detail::is_complete_run<Run>()) return complete_spec();
    return {};
  }
  static TaskSpec complete_spec() {
    using Data = typename Run::data;
    static_assert(Run::batch >= 1, "a batch has at least one row");
    return {.model_name = type_name<typename Run::model>(),
            .data_name = Data::name,
            .model = {.layers = {Run::model::blueprint.layers.data(), Run::model::blueprint.layers.size()},
                      .sample = Data::sample,
                      .classes = Data::classes},
            .normalization = Data::normalization,
            .batch = Run::batch,
            .compiled = {compiled_plan<Precision::fp32>(), compiled_plan<Precision::bf16>()},
            .open = [](const std::string& directory) { return Data::open(directory); }};
  }

  Trainer trainer_;
};

}  // namespace tr
