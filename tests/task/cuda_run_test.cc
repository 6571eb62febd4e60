#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>

#include "tests/cuda_sim/control.h"
#include "tests/task/signals.h"
#include "tests/task/small_run.h"
#include "tr/base/error.h"

namespace tr {
namespace {

Options on_gpus(int gpus = 1, Precision precision = Precision::fp32, bool graph = true) {
  Options options = small_options(1, precision);
  options.device = Device::cuda;
  options.gpus = gpus;
  options.graph = graph;
  return options;
}

TrainingResult train_on(const Options& options) {
  cuda_sim::reset(1, {.devices = options.gpus});
  TrainingResult result = train(options);
  for (const std::string& finding : cuda_sim::findings()) FAIL_CHECK(finding);
  CHECK(cuda_sim::live_handles() == 0);
  for (int device = 0; device < options.gpus; ++device) CHECK(cuda_sim::device_bytes(device) == 0);
  CHECK(cuda_sim::pinned_bytes() == 0);
  return result;
}

void check_same_epochs(const TrainingResult& got, const TrainingResult& right, double tolerance) {
  REQUIRE(got.epochs.size() == right.epochs.size());
  for (std::size_t i = 0; i < got.epochs.size(); ++i) {
    CHECK(got.epochs[i].epoch == right.epochs[i].epoch);
    CHECK(got.epochs[i].lr == right.epochs[i].lr);
    CHECK(got.epochs[i].train_loss == doctest::Approx(right.epochs[i].train_loss).epsilon(tolerance));
    CHECK(got.epochs[i].test_loss == doctest::Approx(right.epochs[i].test_loss).epsilon(tolerance));
  }
}

/// Sends SIGINT to its own process when asked for the rate of a certain batch, and sees it arrive.
struct Interrupting {
  Interrupting prepare(int, int) const { return *this; }
  float lr(int epoch, int batch) const {
    if (epoch != 2 || batch != 3) return 0.01F;
    kill(getpid(), SIGINT);
    while (!is_handled_by(SIG_DFL)) std::this_thread::yield();
    return 0.01F;
  }
};

}  // namespace

TEST_CASE("a run on one or several GPUs is the run on the CPU") {
  const TrainingResult right = train(small_options());
  for (const int gpus : {1, 2, 3}) {
    const TrainingResult got = train_on(on_gpus(gpus));
    check_same_epochs(got, right, 1e-4);
    CHECK(got.threads == gpus);
    CHECK(got.instructions == "simulated device");
    CHECK(got.best_top1 > 0.5);
  }
}

TEST_CASE("a run in 16 bits learns what one in 32 does") {
  const TrainingResult right = train_on(on_gpus());
  for (const Precision precision : {Precision::bf16, Precision::fp16}) {
    const TrainingResult got = train_on(on_gpus(1, precision));
    check_same_epochs(got, right, 0.03);
    CHECK(got.precision == name_of(precision));
    CHECK(got.weights_hash != right.weights_hash);
  }
}

TEST_CASE("with graphs and without, and every time, a run gives the same bits") {
  const TrainingResult right = train_on(on_gpus(2));
  for (const bool graph : {true, false}) {
    const TrainingResult got = train_on(on_gpus(2, Precision::fp32, graph));
    CHECK(got.weights_hash == right.weights_hash);
    REQUIRE(got.epochs.size() == right.epochs.size());
    for (std::size_t i = 0; i < got.epochs.size(); ++i) {
      CHECK(got.epochs[i].train_loss == right.epochs[i].train_loss);
      CHECK(got.epochs[i].test_loss == right.epochs[i].test_loss);
    }
  }
}

TEST_CASE("an averaged evaluation and an early end are as on the CPU") {
  const auto run = [](const Options& options) {
    DeepLearningTask<SmallRun> task(options);
    set_up(task, options).ema(EMA().decay(0.9).evaluate()).early_stop_by_top1(0.3).total_epochs(5).compile();
    return task.run();
  };
  cuda_sim::reset(1, {.devices = 2});
  const TrainingResult got = run(on_gpus(2));
  const TrainingResult right = run(small_options());
  check_same_epochs(got, right, 1e-4);
  CHECK(got.epochs.size() < 5);
  CHECK(got.best_top1 == right.best_top1);
}

TEST_CASE("a run that blows up ends with the same kind of message as on the CPU") {
  cuda_sim::reset(1, {.devices = 2});
  for (const int gpus : {1, 2}) {
    DeepLearningTask<SmallRun> task(on_gpus(gpus));
    set_up(task, on_gpus(gpus)).scheduler(ConstantLR().base_lr(1e30)).optimizer(SGD()).compile();
    std::string text;
    try {
      task.run();
    } catch (const Error& error) {
      text = error.what();
    }
    CHECK(text.find("is not finite in training batch ") != std::string::npos);
    CHECK(text.find("of epoch 1 (step ") != std::string::npos);
    CHECK(text.find("learning rate 1e+30") != std::string::npos);
  }
}

TEST_CASE("SIGINT ends a run behind the step at hand, with the epochs that are complete") {
  const Disposition plain(SIG_DFL);
  for (const int gpus : {1, 2}) {
    cuda_sim::reset(1, {.devices = gpus});
    DeepLearningTask<SmallRun> task(on_gpus(gpus));
    set_up(task, on_gpus(gpus)).scheduler(Interrupting{}).total_epochs(100).compile();
    const TrainingResult result = task.run();
    CHECK(result.interrupted);
    CHECK(result.epochs.size() == 2);
  }
}

TEST_CASE("GPUs that are missing are named when the task compiles") {
  const auto text = [](const cuda_sim::Machine& machine, int gpus) {
    cuda_sim::reset(1, machine);
    DeepLearningTask<SmallRun> task(on_gpus(gpus));
    try {
      set_up(task, on_gpus(gpus)).compile();
    } catch (const DeviceError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(text({.devices = 0}, 1).find("no GPU") != std::string::npos);
  CHECK(text({.devices = 1}, 2).find("there is no GPU 1") != std::string::npos);
  CHECK(text({.driver_version = 12000}, 1).find("CUDA 12.0") != std::string::npos);
  CHECK(text({.memory_bytes = 1024}, 1).find("memory free") != std::string::npos);
}

}  // namespace tr
