#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/base/near.h"
#include "tests/task/small_run.h"
#include "tr/base/error.h"

// What the settings of a run do to it: schedules, averages, limits, and steps that fail.

namespace tr {
namespace {

/// A schedule of a user's own: half the rate in every later epoch.
struct Halving {
  float base = 0.0F;

  constexpr Halving prepare(int, int) const { return *this; }
  constexpr float lr(int epoch, int) const { return epoch == 0 ? base : base / 2; }
};

/// A rate of 0.01 but for one batch.
struct Wrong {
  float rate = 0.0F;
  int epoch = 0;
  int batch = 0;

  constexpr Wrong prepare(int, int) const { return *this; }
  constexpr float lr(int e, int b) const { return e == epoch && b == batch ? rate : 0.01F; }
};

struct Exploding {
  Exploding prepare(int, int) const { return *this; }
  float lr(int epoch, int batch) const { return epoch == 1 && batch == 2 ? std::numeric_limits<float>::max() : 0.01F; }
};

/// What a call throws, or nothing.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a schedule of one's own sets the rate of every step") {
  Options options = small_options();
  DeepLearningTask<SmallRun> task(options);
  task.optimizer(AdamW()).scheduler(Halving{0.02F}).total_epochs(2);
  task.compile();
  const TrainingResult result = task.run();
  CHECK(near(result.epochs[0].lr, 0.02, 1e-6));
  CHECK(near(result.epochs[1].lr, 0.01, 1e-6));
}

TEST_CASE("a schedule of one's own that gives no rate is refused with the epoch and the batch") {
  struct Case {
    float rate;
    int epoch;
    int batch;
    const char* text;
  };
  for (const Case& wrong :
       {Case{-0.1F, 1, 2, "rate of -0.1 in epoch 2, batch 3"}, Case{-0.1F, 0, 0, "rate of -0.1 in epoch 1, batch 1"},
        Case{std::nanf(""), 0, 1, "rate of nan in epoch 1, batch 2"},
        Case{std::numeric_limits<float>::infinity(), 2, 0, "rate of inf in epoch 3, batch 1"}}) {
    for (int threads : {1, 3}) {
      DeepLearningTask<SmallRun> task(small_options(threads));
      task.optimizer(SGD()).scheduler(Wrong{wrong.rate, wrong.epoch, wrong.batch}).total_epochs(3);
      std::string text;
      try {
        task.compile();
        task.run();
      } catch (const ValueError& error) {
        text = error.what();
      }
      CAPTURE(text);
      CHECK(text.find(wrong.text) != std::string::npos);
    }
  }
}

TEST_CASE("an average that forgets at once evaluates as the weights do") {
  for (Precision precision : precisions()) {
    for (int threads : {1, 2}) {
      const Options options = small_options(threads, precision);
      const TrainingResult plain = train(options);
      DeepLearningTask<SmallRun> task(options);
      set_up(task, options).ema(EMA().decay(0.0).evaluate()).compile();
      const TrainingResult averaged = task.run();
      CHECK(averaged.weights_hash == plain.weights_hash);
      for (std::size_t e = 0; e < plain.epochs.size(); ++e) {
        CHECK(averaged.epochs[e].test_loss == plain.epochs[e].test_loss);
        CHECK(averaged.epochs[e].top1 == plain.epochs[e].top1);
      }
    }
  }
}

TEST_CASE("evaluating the average disturbs no bit of the training, and gives other results than the weights") {
  for (Precision precision : precisions()) {
    const Options options = small_options(2, precision);
    const TrainingResult plain = train(options);
    DeepLearningTask<SmallRun> task(options);
    set_up(task, options).ema(EMA().decay(0.9).evaluate()).compile();
    const TrainingResult averaged = task.run();
    CHECK(averaged.weights_hash == plain.weights_hash);
    for (std::size_t e = 0; e < plain.epochs.size(); ++e) {
      CHECK(averaged.epochs[e].train_loss == plain.epochs[e].train_loss);
      CHECK(averaged.epochs[e].test_loss != plain.epochs[e].test_loss);
    }
  }
}

TEST_CASE("a weight that is not finite stops the run and is named") {
  for (int threads : {1, 2}) {
    DeepLearningTask<SmallRun> task(small_options(threads));
    task.optimizer(SGD()).scheduler(Exploding()).total_epochs(4);
    task.compile();
    std::string text;
    try {
      task.run();
    } catch (const Error& error) {
      text = error.what();
    }
    CAPTURE(text);
    CHECK(text.find("training batch 3 of epoch 2") != std::string::npos);
    CHECK(text.find("learning rate 3.4028235e+38") != std::string::npos);
    CHECK(text.find("first non-finite tensor: w_fc_") != std::string::npos);
  }
}

TEST_CASE("ranks that far outnumber the CPUs agree on a failure") {
  // A rank that is ahead must not show the others what it has not yet met them about.
  for (int i = 0; i < 40; ++i) {
    DeepLearningTask<SmallRun> task(small_options(16));
    task.optimizer(SGD()).scheduler(Exploding()).total_epochs(4);
    task.compile();
    CHECK_THROWS_AS(task.run(), Error);
  }
}

TEST_CASE("contradictions across settings are found when a task compiles, and name both sides") {
  const auto refused = [](const auto& schedule) {
    DeepLearningTask<SmallRun> task(small_options());
    task.optimizer(SGD()).scheduler(schedule).total_epochs(3);
    return error_of([&] { task.compile(); });
  };
  CHECK(refused(ConstantLR().warmup(4)) == "warmup is 4 epochs, legal is at most the 3 epochs of the run");
  CHECK(refused(PolynomialLR().base_lr(0.1).end_lr(0.2)) == "end_lr is 0.2, legal is at most base_lr, which is 0.1");
  CHECK(refused(CosineAnnealingLR().base_lr(1e-7)) == "eta_min is 1e-06, legal is at most base_lr, which is 1e-07");
  CHECK(refused(MultiStepLR().milestones({2, 1})) ==
        "milestones has 1 after 2, legal is each later than the one before");
  CHECK(refused(ConstantLR().warmup_start_lr(0.01).warmup_start_factor(0.5)) ==
        "the warm-up starts both at warmup_start_lr 0.01 and at warmup_start_factor 0.5; give one");
  CHECK(refused(WSDLR().warmup(3)).empty());
}

TEST_CASE("a norm too large to be clipped stops the run before the weights are touched, and says so") {
  for (int threads : {1, 2}) {
    DeepLearningTask<SmallRun> task(small_options(threads));
    task.optimizer(SGD())
        .clipping(GradientClipping().by_norm(static_cast<double>(std::numeric_limits<float>::min())))
        .scheduler(ConstantLR())
        .total_epochs(1)
        .compile();
    const std::string text = error_of([&] { task.run(); });
    CAPTURE(text);
    CHECK(text.find("the gradients' norm in training batch 1 of epoch 1") != std::string::npos);
    CHECK(text.find("too large to be clipped") != std::string::npos);
  }
}

}  // namespace tr
