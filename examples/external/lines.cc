// A project of its own that uses Tech-Renaissance: its own pictures, its own model, its own schedule. From this folder:
//   ../../tools/bazelw run -c opt //:lines

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>

#include "tr/tr.h"

namespace {

/// Noisy pictures of one line, which is level, upright, or falls or rises diagonally; which of them is the class.
struct Lines {
  static constexpr int side = 12;
  static constexpr std::string_view name = "lines";
  static constexpr tr::Shape sample{1, side, side, 1};
  static constexpr int classes = 4;
  static constexpr tr::Normalization normalization{{0.3F}, {0.2F}};

  static tr::DataSplits open(const std::string& /*directory*/) { return {draw(4000, 1), draw(1000, 2)}; }

 private:
  static tr::Dataset draw(int count, unsigned seed) {
    tr::Dataset data;
    data.source = "drawn";
    data.sample = sample;
    data.classes = classes;
    std::mt19937 random(seed);
    for (int i = 0; i < count; ++i) {
      const auto label = static_cast<std::int32_t>(random() % classes);
      const int place = static_cast<int>(random() % side);
      for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
          const auto noise = static_cast<std::uint8_t>(random() % 128);
          data.images.push_back(on_line(label, place, x, y) ? static_cast<std::uint8_t>(noise + 100) : noise);
        }
      }
      data.labels.push_back(label);
    }
    return data;
  }

  static bool on_line(int label, int place, int x, int y) {
    switch (label) {
      case 0: return y == place;
      case 1: return x == place;
      case 2: return (x + place) % side == y;
      default: return (x + y) % side == place;
    }
  }
};

struct Net {
  static constexpr auto blueprint = tr::seq(tr::flatten(), tr::repeat<2>(tr::fc(128), tr::relu()), tr::fc(4));
};

struct LinesRun {
  using model = Net;
  using data = Lines;
  static constexpr int batch = 100;
};

/// Rises in a straight line to the peak in the middle of the run, and falls back.
struct Triangle {
  float peak = 0.0F;
  int steps_per_epoch = 0;
  int steps = 0;

  Triangle prepare(int total_epochs, int steps_an_epoch) const {
    return {peak, steps_an_epoch, total_epochs * steps_an_epoch};
  }
  float lr(int epoch, int batch) const {
    const int step = epoch * steps_per_epoch + batch;
    const int to_the_nearer_end = step < steps - step ? step + 1 : steps - step;
    return peak * static_cast<float>(2 * to_the_nearer_end) / static_cast<float>(steps);
  }
};

static_assert(tr::DatasetType<Lines> && tr::RunType<LinesRun> && tr::Scheduler<Triangle>);

}  // namespace

int main(int argc, char** argv) try {
  tr::Options options;
  options.epochs = 12;
  options = tr::parse_options(argc, argv, options);

  tr::DeepLearningTask<LinesRun> task(options);
  Triangle schedule;
  schedule.peak = 0.005F;
  task.optimizer(tr::AdamW().weight_decay(1e-4)).scheduler(schedule).total_epochs(options.epochs);
  task.compile();
  const tr::TrainingResult result = task.run();

  const int status = tr::report(result);
  // One of four is right by chance.
  constexpr double learned = 0.9;
  if (status != 0 || result.best_top1 >= learned) return status;
  std::fprintf(stderr, "top-1 of %.2f %% is below %.2f %%: this is no way to learn\n", 100 * result.best_top1,
               100 * learned);
  return 1;
} catch (const std::exception& error) {
  return tr::report(error);
}
