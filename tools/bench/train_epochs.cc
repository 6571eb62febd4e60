// Trains the run of mlp_run.h as any program does, one epoch a request, and answers {"seconds", "loss"}: the time from
// the first batch of an epoch to the first of the next, so data, forward, backward and update, without evaluation.
#include <fmt/format.h>

#include <exception>
#include <limits>

#include "tools/bench/mlp_run.h"
#include "tools/bench/requests.h"
#include "tr/base/clock.h"

namespace tr::bench {
namespace {

/// Stops a run in front of each epoch until somebody asks for it.
class Pace {
 public:
  /// Thrown through the run when nobody will ask any more.
  struct Over {};

  /// From now on the run trains; compile() only looks at its rates.
  void start() {
    running_ = true;
    announce_ready();
  }
  void before(int epoch) {
    if (!running_) return;
    if (epoch > 0) answer(fmt::format(R"({{"seconds": {}}})", steady_seconds() - start_));
    if (!next_request()) throw Over();
    start_ = steady_seconds();
  }

 private:
  bool running_ = false;
  double start_ = 0.0;
};

/// Of all that a user can plug into a run, a schedule is what is asked at every batch.
struct PacedSchedule {
  CosineAnnealingLR rates;
  Pace* pace = nullptr;

  PacedSchedule prepare(int epochs, int steps) const { return {rates.prepare(epochs, steps), pace}; }
  float lr(int epoch, int batch) const {
    if (batch == 0) pace->before(epoch);
    return rates.lr(epoch, batch);
  }
};

void train(const Options& options) {
  Pace pace;
  DeepLearningTask<MnistRun> task(options);
  task.loss(run_loss())
      .optimizer(run_optimizer())
      .scheduler(CustomScheduler(PacedSchedule{run_schedule(), &pace}))
      .initializer(run_initializer())
      .validate_every(std::numeric_limits<int>::max())
      .total_epochs(options.epochs);
  task.compile();
  pace.start();
  try {
    task.run();
  } catch (const Pace::Over&) {
  }
}

}  // namespace
}  // namespace tr::bench

int main(int argc, char** argv) try {
  tr::bench::train(tr::parse_options(argc, argv, {.data = "examples/data/mnist", .quiet = true}));
} catch (const std::exception& error) {
  return tr::report(error);
}
