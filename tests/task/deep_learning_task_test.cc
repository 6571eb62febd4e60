#include "tr/task/deep_learning_task.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/base/near.h"
#include "tests/task/signals.h"
#include "tests/task/small_run.h"
#include "tr/base/error.h"
#include "tr/io/report.h"

namespace tr {
namespace {

/// What goes to stderr while the object lives.
class CapturedStderr {
 public:
  CapturedStderr() : before_(dup(STDERR_FILENO)) { dup2(fileno(file_.get()), STDERR_FILENO); }
  ~CapturedStderr() {
    dup2(before_, STDERR_FILENO);
    close(before_);
  }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;

  std::string text() const {
    std::string text;
    std::rewind(file_.get());
    for (int c = std::fgetc(file_.get()); c != EOF; c = std::fgetc(file_.get())) text += static_cast<char>(c);
    return text;
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_{std::tmpfile()};
  int before_;
};

template <class Call>
std::string state_error(Call&& call) {
  try {
    call();
  } catch (const StateError& error) {
    return error.what();
  }
  return "no StateError";
}

/// Sends SIGINT to its own process when asked for the rate of a certain batch, and sees it arrive.
struct Interrupting {
  int epoch = 0;
  int batch = 0;

  Interrupting prepare(int, int) const { return *this; }
  float lr(int e, int b) const {
    if (e != epoch || b != batch) return 0.01F;
    kill(getpid(), SIGINT);
    while (!is_handled_by(SIG_DFL)) std::this_thread::yield();
    return 0.01F;
  }
};

/// Sends SIGINT to its own process at every batch.
struct SendingToTheDeaf {
  SendingToTheDeaf prepare(int, int) const { return *this; }
  float lr(int, int) const {
    kill(getpid(), SIGINT);
    return 0.01F;
  }
};

/// Spots, but for what `open` gives.
struct SpotsType {
  static constexpr std::string_view name = "spots";
  static constexpr Shape sample = Spots::sample;
  static constexpr int classes = Spots::classes;
  static constexpr Normalization normalization = Spots::normalization;
};
struct WrongPictures : SpotsType {
  static DataSplits open(const std::string&) {
    DataSplits data = Spots::open("");
    data.test.sample = {1, 2, 8, 1};
    return data;
  }
};
struct NoSamples : SpotsType {
  static DataSplits open(const std::string&) { return {Spots::make(0, 1), Spots::make(10, 2)}; }
};
struct WrongLabel : SpotsType {
  static DataSplits open(const std::string&) {
    DataSplits data = Spots::open("");
    data.train.labels[17] = -3;
    return data;
  }
};

template <class Data>
struct RunOn {
  using model = SmallNet;
  using data = Data;
  static constexpr int batch = 64;
};

struct OneSample {
  static constexpr std::string_view name = "one sample";
  static constexpr Shape sample = Spots::sample;
  static constexpr int classes = Spots::classes;
  static constexpr Normalization normalization = Spots::normalization;
  static DataSplits open(const std::string&) { return {Spots::make(1, 1), Spots::make(1, 2)}; }
};

struct OneSampleRun {
  using model = SmallNet;
  using data = OneSample;
  static constexpr int batch = 64;
};

}  // namespace

TEST_CASE("a run learns, and says what it did") {
  for (Precision precision : precisions()) {
    const TrainingResult result = train(small_options(2, precision));
    REQUIRE(result.epochs.size() == 3);
    CHECK(result.epochs[2].train_loss < result.epochs[0].train_loss);
    CHECK(result.best_top1 > 0.9);
    CHECK(result.epochs[static_cast<std::size_t>(result.best_epoch) - 1].top1 == result.best_top1);
    CHECK(result.model == "SmallNet");
    CHECK(result.precision == name_of(precision));
    CHECK_FALSE(result.instructions.empty());
    CHECK(result.instructions.find(',') == std::string::npos);
    CHECK(result.epochs[1].epoch == 2);
    CHECK_FALSE(result.interrupted);
  }
}

TEST_CASE("the same seed gives the same bits, whatever the number of workers") {
  for (int threads : {1, 3}) {
    Options options = small_options(threads);
    const std::uint64_t hash = train(options).weights_hash;
    for (int workers : {0, 1, 2, 5}) {
      options.workers = workers;
      CHECK(train(options).weights_hash == hash);
    }
    options.seed = 2;
    CHECK(train(options).weights_hash != hash);
  }
}

TEST_CASE("the number of ranks changes a result by rounding alone") {
  const TrainingResult one = train(small_options(1));
  for (int threads : {2, 3, 7}) {
    const TrainingResult many = train(small_options(threads));
    for (std::size_t e = 0; e < one.epochs.size(); ++e) {
      CHECK(near(many.epochs[e].train_loss, one.epochs[e].train_loss, 1e-4));
      CHECK(near(many.epochs[e].test_loss, one.epochs[e].test_loss, 1e-4));
    }
  }
}

TEST_CASE("ranks without a row take part and change nothing") {
  const TrainingResult one = train<OneSampleRun>(small_options(1));
  const TrainingResult five = train<OneSampleRun>(small_options(5));
  CHECK(near(five.epochs[2].train_loss, one.epochs[2].train_loss, 1e-6));
  CHECK(five.epochs[2].top1 == one.epochs[2].top1);
}

TEST_CASE("ranks that will never have a row are warned of, whether the batch or the data set is small") {
  const auto warnings = [](auto&& compile) {
    const CapturedStderr captured;
    compile();
    return captured.text();
  };
  CHECK(warnings([] { train<OneSampleRun>(small_options(5)); }) ==
        "warning: 5 ranks for batches of 1 row: 4 of them have nothing to do\n");
  CHECK(warnings([] { train<OneSampleRun>(small_options(1)); }).empty());
  CHECK(warnings([] { train(small_options(65)); }) ==
        "warning: 65 ranks for batches of 64 rows: 1 of them have nothing to do\n");
}

TEST_CASE("calls in the wrong phase say so") {
  DeepLearningTask<SmallRun> task(small_options());
  CHECK(state_error([&] { task.run(); }) == "run() before compile()");
  CHECK(state_error([&] { task.compile(); }) == "compile() before optimizer(): say which optimizer trains the model");
  task.optimizer(AdamW());
  CHECK(state_error([&] { task.compile(); }) == "compile() before scheduler(): say which learning rates it takes");
  task.scheduler(ConstantLR().base_lr(0.01));
  CHECK(state_error([&] { task.compile(); }) == "compile() before total_epochs(): say how many epochs the run has");
  task.total_epochs(1).compile();
  const std::string fixed = "() after compile(): a compiled task cannot be changed; make a new one";
  CHECK(state_error([&] { task.loss(CrossEntropyLoss()); }) == "loss" + fixed);
  CHECK(state_error([&] { task.optimizer(AdamW()); }) == "optimizer" + fixed);
  CHECK(state_error([&] { task.scheduler(ConstantLR()); }) == "scheduler" + fixed);
  CHECK(state_error([&] { task.initializer(XavierNormal()); }) == "initializer" + fixed);
  CHECK(state_error([&] { task.total_epochs(2); }) == "total_epochs" + fixed);
  CHECK(state_error([&] { task.validate_every(2); }) == "validate_every" + fixed);
  CHECK(state_error([&] { task.early_stop_by_top1(0.5); }) == "early_stop_by_top1" + fixed);
  CHECK(state_error([&] { task.compile(); }) == "compile() was already called");
  task.run();
  CHECK(state_error([&] { task.run(); }) == "run() was already called; make a new task for another run");
  CHECK(state_error([&] { task.dry_run(); }) == "dry_run() after run()");
}

TEST_CASE("a failed compile leaves a task that can be mended") {
  DeepLearningTask<SmallRun> task(small_options());
  task.optimizer(SGD().momentum(0.0).nesterov()).scheduler(ConstantLR().base_lr(0.01)).total_epochs(1);
  CHECK_THROWS_AS(task.compile(), ValueError);
  task.optimizer(SGD().nesterov());
  CHECK_NOTHROW(task.compile());
  CHECK_NOTHROW(task.run());
}

TEST_CASE("settings out of range are refused with their range") {
  DeepLearningTask<SmallRun> task(small_options());
  CHECK_THROWS_WITH_AS(task.total_epochs(0), "total_epochs is 0, legal is 1 or more", ValueError);
  CHECK_THROWS_AS(task.validate_every(0), ValueError);
  CHECK_THROWS_AS(task.validate_every(1, -1), ValueError);
  CHECK_THROWS_AS(task.early_stop_by_top1(1.5), ValueError);
  CHECK_THROWS_AS(task.early_stop_by_top1(std::nan("")), ValueError);
}

TEST_CASE("evaluation comes when it is due, and behind the last epoch") {
  Options options = small_options();
  options.epochs = 5;
  DeepLearningTask<SmallRun> task(options);
  set_up(task, options).validate_every(3, 1).compile();
  const TrainingResult result = task.run();
  std::vector<int> evaluated;
  for (const EpochResult& epoch : result.epochs) {
    if (epoch.evaluated) evaluated.push_back(epoch.epoch);
  }
  CHECK(evaluated == std::vector<int>{1, 4, 5});
}

TEST_CASE("a run ends when it is good enough") {
  Options options = small_options(2);
  options.epochs = 50;
  DeepLearningTask<SmallRun> task(options);
  set_up(task, options).early_stop_by_top1(0.5).compile();
  const TrainingResult result = task.run();
  CHECK(result.epochs.size() < 50);
  CHECK(result.best_top1 >= 0.5);
  CHECK(result.epochs.back().epoch == result.best_epoch);
}

TEST_CASE("SIGINT ends a run behind the step at hand, with the epochs that are complete") {
  const Disposition plain(SIG_DFL);
  for (int threads : {1, 3}) {
    DeepLearningTask<SmallRun> task(small_options(threads));
    task.optimizer(AdamW()).scheduler(Interrupting{1, 2}).total_epochs(4);
    task.compile();
    const TrainingResult result = task.run();
    CHECK(result.interrupted);
    CHECK(result.epochs.size() == 1);
    // The second press comes late: all is written, and the task is still there.
    for (int i = 0; i < 3; ++i) kill(getpid(), SIGINT);
    CHECK(report(result) == 130);
  }
  CHECK(is_handled_by(SIG_DFL));
}

TEST_CASE("behind a run that was not interrupted SIGINT is what it was, and one that is ignored stays ignored") {
  const Disposition plain(SIG_DFL);
  DeepLearningTask<SmallRun> task(small_options());
  set_up(task, small_options()).compile();
  task.run();
  CHECK(is_handled_by(SIG_DFL));
  const Disposition ignored(SIG_IGN);
  DeepLearningTask<SmallRun> deaf(small_options());
  deaf.optimizer(AdamW()).scheduler(SendingToTheDeaf()).total_epochs(2);
  deaf.compile();
  const TrainingResult result = deaf.run();
  CHECK_FALSE(result.interrupted);
  CHECK(result.epochs.size() == 2);
}

TEST_CASE("options made by hand are checked") {
  Options options = small_options(0);
  CHECK_THROWS_AS(DeepLearningTask<SmallRun>{options}, ValueError);
  options.threads = 1;
  options.workers = -1;
  CHECK_THROWS_AS(DeepLearningTask<SmallRun>{options}, ValueError);
}

TEST_CASE("a data set that is not what its type declares is refused") {
  CHECK_THROWS_AS(train<RunOn<WrongPictures>>(small_options()), DataError);
  CHECK_THROWS_AS(train<RunOn<NoSamples>>(small_options()), DataError);
  std::string text;
  try {
    train<RunOn<WrongLabel>>(small_options());
  } catch (const DataError& error) {
    text = error.what();
  }
  CAPTURE(text);
  CHECK(text.find("17") != std::string::npos);
  CHECK(text.find("-3") != std::string::npos);
}

TEST_CASE("a dry run plans, prints and trains nothing") {
  Options options = small_options(2);
  DeepLearningTask<SmallRun> task(options);
  const TrainingResult result = set_up(task, options).dry_run();
  CHECK(result.dry);
  CHECK(result.epochs.empty());
  CHECK_FALSE(result.plan.empty());
  CHECK(report(result) == 0);
}

}  // namespace tr
