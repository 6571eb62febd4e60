#pragma once

#include <cstdint>
#include <cstdio>

#include "tr/base/clock.h"
#include "tr/io/result.h"

namespace tr {

/// Shows how training goes: one line an epoch, and on a terminal another one below it, rewritten in place at most ten
/// times a second, with a bar, the mean loss of the epoch so far, images per second and the time left of the whole run.
/// No line is wider than the terminal, or than 80 columns where there is none: the epoch's goes without images per
/// second, then the rate, the time and the training loss; the other has a shorter bar, then none. Shows nothing where
/// it is to be quiet. Only construction allocates.
class Progress {
 public:
  /// Gives seconds; steady_seconds() but in tests.
  using Clock = double (*)();
  /// Gives the columns of the terminal that is written to, 0 where that is none.
  using Columns = int (*)();

  /// The clock starts here. Writes to stdout.
  Progress(int epochs, std::int64_t samples_per_epoch, int steps_per_epoch, bool quiet);
  Progress(int epochs, std::int64_t samples_per_epoch, int steps_per_epoch, bool quiet, std::FILE* out, Columns columns,
           Clock clock = steady_seconds);
  /// Wipes an unfinished line, and the ^C that a terminal may have put there, so that whatever is printed next stands
  /// by itself.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A step is done: `epoch` counts from 1, `batch` from 0 in each epoch; `rows` samples had the mean loss `loss`.
  void step(int epoch, int batch, int rows, double loss);
  /// An epoch is done, evaluation included; what comes next is timed from here.
  void epoch(const EpochResult& result);

 private:
  void draw(int epoch, int batch, double now);
  void wipe();

  std::FILE* out_;
  Columns columns_;
  Clock clock_;
  bool quiet_;
  bool rewrites_;
  int epochs_;
  std::int64_t samples_per_epoch_;
  int steps_per_epoch_;

  double run_start_;
  double epoch_start_;
  double next_draw_;
  std::int64_t run_samples_ = 0;
  std::int64_t epoch_samples_ = 0;
  double epoch_loss_sum_ = 0.0;
};

}  // namespace tr
