// Every schedule with every optimizer, on the example's network and a third of its data.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <string_view>

#include "tr/tr.h"

namespace tr {
namespace {

struct Mlp {
  static constexpr auto blueprint = seq(flatten(), fc(1024), relu(), fc(512), relu(), fc(256), relu(), fc(10));
};

struct MnistThird {
  static constexpr std::string_view name = "a third of MNIST";
  static constexpr Shape sample = Mnist::sample;
  static constexpr int classes = Mnist::classes;
  static constexpr Normalization normalization = Mnist::normalization;

  static DataSplits open(const std::string& directory) {
    DataSplits data = Mnist::open(directory);
    data.train.labels.resize(20000);
    data.train.images.resize(data.train.labels.size() * static_cast<std::size_t>(sample.sample_size()));
    return data;
  }
};

struct MnistRun {
  using model = Mlp;
  using data = MnistThird;
  static constexpr int batch = 200;
};

constexpr int epochs = 2;

/// Each decays within two epochs where it can.
template <class S>
void check_schedule(const AnyOptimizer& optimizer, std::string_view name, S schedule, double base_lr) {
  CAPTURE(name);
  CAPTURE(name_of(optimizer));
  Options options;
  options.data = "examples/data/mnist";
  options.epochs = epochs;
  options.threads = 2;
  options.quiet = true;
  DeepLearningTask<MnistRun> task(options);
  task.optimizer(optimizer).scheduler(schedule.base_lr(base_lr)).total_epochs(epochs).compile();
  const TrainingResult result = task.run();
  REQUIRE(result.epochs.size() == epochs);
  for (const EpochResult& epoch : result.epochs) {
    CHECK(std::isfinite(epoch.train_loss));
    CHECK(std::isfinite(epoch.test_loss));
  }
  CHECK(result.epochs[1].train_loss < result.epochs[0].train_loss);
  CHECK(result.best_top1 > 0.9);
}

void check_all_schedules(const AnyOptimizer& optimizer, double base_lr) {
  const auto check = [&](std::string_view name, const auto& schedule) {
    check_schedule(optimizer, name, schedule, base_lr);
  };
  check("ConstantLR", ConstantLR());
  check("StepLR", StepLR().step_size(1));
  check("MultiStepLR", MultiStepLR().milestones({1}));
  check("ExponentialLR", ExponentialLR().gamma(0.5));
  check("PolynomialLR", PolynomialLR().end_lr(0.0).step_by_batch());
  check("CosineAnnealingLR", CosineAnnealingLR().warmup(1).step_by_batch());
  check("CosineAnnealingWithWarmRestartsLR", CosineAnnealingWithWarmRestartsLR().t_0(1).step_by_batch());
  check("WSDLR", WSDLR().step_by_batch());
}

}  // namespace

TEST_CASE("SGD learns MNIST with every schedule") { check_all_schedules(SGD().nesterov().weight_decay(1e-4), 0.05); }
TEST_CASE("Adam learns MNIST with every schedule") { check_all_schedules(Adam(), 1e-3); }
TEST_CASE("AdamW learns MNIST with every schedule") { check_all_schedules(AdamW(), 1e-3); }
TEST_CASE("LARS learns MNIST with every schedule") {
  check_all_schedules(LARS().trust_coefficient(0.02).weight_decay(1e-4), 0.2);
}

}  // namespace tr
