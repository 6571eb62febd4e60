#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tr {

/// What an epoch brought. Losses are means over samples.
struct EpochResult {
  /// Counted from 1.
  int epoch = 0;
  /// The learning rate of the epoch's last step.
  double lr = 0.0;
  double train_loss = 0.0;
  /// Whether this epoch was evaluated; the three below are 0 if not.
  bool evaluated = false;
  double test_loss = 0.0;
  /// Fractions, 0 to 1.
  double top1 = 0.0;
  double top5 = 0.0;
  /// Training and evaluation together.
  double seconds = 0.0;
  /// Training samples per second of training alone.
  double images_per_second = 0.0;
};

struct RegionBytes {
  std::string region;
  int tensors = 0;
  std::int64_t bytes = 0;
};

/// What a run brought, complete epochs only.
struct TrainingResult {
  std::string model;
  int threads = 1;
  std::string precision;
  std::uint64_t seed = 0;
  /// The widest instruction set that the matrix library computed with, such as "AVX-512 BF16".
  std::string instructions{};
  std::vector<EpochResult> epochs;
  /// The best fraction of right answers and its epoch, counted from 1; 0 and 0 if no epoch was evaluated.
  double best_top1 = 0.0;
  int best_epoch = 0;
  double total_seconds = 0.0;
  /// Over all weights and biases as they are now; equal hashes mean equal bits.
  std::uint64_t weights_hash = 0;
  std::vector<RegionBytes> plan;
  /// Whether the run was ended by SIGINT.
  bool interrupted = false;
  /// Whether the run was only planned.
  bool dry = false;
};

}  // namespace tr
