#pragma once

#include <random>
#include <string>

#include "tests/exec/precisions.h"
#include "tr/blueprint/blueprint.h"
#include "tr/task/deep_learning_task.h"

namespace tr {

/// Five classes of 4x4 pictures: a bright spot of its own for each class, in noise. 330 to learn from, 110 to be judged
/// by, so that batches of 64 end with 10 and with 46.
struct Spots {
  static constexpr std::string_view name = "spots";
  static constexpr Shape sample{1, 4, 4, 1};
  static constexpr int classes = 5;
  static constexpr Normalization normalization{{0.5F}, {0.25F}};

  static Dataset make(int size, unsigned seed) {
    std::mt19937 random(seed);
    Dataset data{.source = "made up", .sample = sample, .classes = classes, .images = {}, .labels = {}};
    for (int i = 0; i < size; ++i) {
      const int label = static_cast<int>(random() % classes);
      for (int p = 0; p < 16; ++p) {
        data.images.push_back(static_cast<std::uint8_t>(random() % 128 + (p / 3 == label ? 100 : 0)));
      }
      data.labels.push_back(label);
    }
    return data;
  }
  static DataSplits open(const std::string&) { return {make(330, 1), make(110, 2)}; }
};

struct SmallNet {
  static constexpr auto blueprint = seq(flatten(), fc(32), relu(), fc(24), relu(), fc(5));
};

struct SmallRun {
  using model = SmallNet;
  using data = Spots;
  static constexpr int batch = 64;
};

inline Options small_options(int threads = 1, Precision precision = Precision::fp32) {
  Options options;
  options.epochs = 3;
  options.threads = threads;
  options.precision = precision;
  options.quiet = true;
  return options;
}

/// Everything set, ready to compile.
template <class Run = SmallRun>
DeepLearningTask<Run>& set_up(DeepLearningTask<Run>& task, const Options& options) {
  return task.loss(CrossEntropyLoss().label_smoothing(0.1))
      .optimizer(AdamW().weight_decay(1e-4))
      .scheduler(CosineAnnealingLR().base_lr(1e-2).step_by_batch())
      .total_epochs(options.epochs);
}

template <class Run = SmallRun>
TrainingResult train(const Options& options) {
  DeepLearningTask<Run> task(options);
  set_up(task, options).compile();
  return task.run();
}

}  // namespace tr
