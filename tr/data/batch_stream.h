#pragma once

#include <cstdint>

namespace tr {

/// What decides the sequence of batches of a whole run.
struct StreamConfig {
  int train_size = 0;
  int eval_size = 0;
  /// Rows of a full training batch, over all ranks.
  int batch = 0;
  /// Rows of a full evaluation batch, over all ranks.
  int eval_batch = 0;
  /// Whether a training batch with fewer rows is left out; evaluation always sees every sample.
  bool drop_last = false;
  int epochs = 0;
  /// Evaluation follows each epoch, counted from 1, where (epoch - validate_offset) mod validate_every is 0, and always
  /// the last one.
  int validate_every = 1;
  int validate_offset = 0;
};

/// One batch of the run.
struct Ticket {
  bool training = true;
  /// Counted from 0; of an evaluation batch, the epoch that it follows.
  int epoch = 0;
  /// Counted from 0 within the epoch's training, or within one evaluation.
  int batch = 0;
  /// Samples in it, over all ranks; the last batch may have fewer than the others.
  int rows = 0;
  /// Position of the first one in the epoch's order, which for evaluation is the order of the data set.
  std::int64_t first = 0;

  friend constexpr bool operator==(const Ticket&, const Ticket&) = default;
};

/// The batches of a run by number: a pure function, so that whoever prepares a batch and whoever uses it agree on it
/// without talking to each other.
class BatchStream {
 public:
  /// Throws ValueError for a size, batch, number of epochs or period below 1, and for a training set that drop_last
  /// would leave without a batch.
  explicit BatchStream(const StreamConfig& config);

  /// Number of batches in the run.
  std::int64_t size() const { return first_of(config_.epochs); }
  /// Batch `number`, in [0, size()).
  Ticket at(std::int64_t number) const;

  /// Training batches of one epoch.
  int train_batches() const { return train_batches_; }
  /// Batches of one evaluation.
  int eval_batches() const { return eval_batches_; }
  /// Whether an evaluation follows `epoch`, counted from 0.
  bool validates_after(int epoch) const;
  const StreamConfig& config() const { return config_; }

 private:
  /// Number of the first batch of `epoch`.
  std::int64_t first_of(int epoch) const;

  StreamConfig config_;
  int train_batches_ = 0;
  int eval_batches_ = 0;
};

}  // namespace tr
