#include "tr/data/batch_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "tr/base/error.h"

namespace tr {
namespace {

void require_positive(const char* parameter, int value) {
  if (value < 1) value_error(parameter, value, "at least 1");
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

int batches_of(int size, int batch, bool drop_last) { return size / batch + (size % batch != 0 && !drop_last ? 1 : 0); }

}  // namespace

BatchStream::BatchStream(const StreamConfig& config) : config_(config) {
  require_positive("training samples", config.train_size);
  require_positive("evaluation samples", config.eval_size);
  require_positive("batch", config.batch);
  require_positive("evaluation batch", config.eval_batch);
  require_positive("epochs", config.epochs);
  require_positive("validate_every", config.validate_every);
  train_batches_ = batches_of(config.train_size, config.batch, config.drop_last);
  eval_batches_ = batches_of(config.eval_size, config.eval_batch, false);
  if (train_batches_ == 0) {
    throw ValueError(fmt::format("{} training samples give no batch of {} with drop_last; use a smaller batch",
                                 config.train_size, config.batch));
  }
}

bool BatchStream::validates_after(int epoch) const {
  const std::int64_t from_one = std::int64_t{epoch} + 1;
  return from_one == config_.epochs || (from_one - config_.validate_offset) % config_.validate_every == 0;
}

std::int64_t BatchStream::first_of(int epoch) const {
  // The epochs in [1, epoch] that the period selects are a difference of two floors; the last of the run comes on top.
  const std::int64_t offset = config_.validate_offset;
  const std::int64_t every = config_.validate_every;
  std::int64_t evaluations = floor_div(epoch - offset, every) - floor_div(-offset, every);
  if (epoch == config_.epochs && (epoch - offset) % every != 0) ++evaluations;
  return std::int64_t{epoch} * train_batches_ + evaluations * eval_batches_;
}

Ticket BatchStream::at(std::int64_t number) const {
  int low = 0;
  int high = config_.epochs;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (first_of(middle) <= number ? low : high) = middle;
  }
  Ticket ticket{.epoch = low};
  auto batch = static_cast<int>(number - first_of(low));
  ticket.training = batch < train_batches_;
  if (!ticket.training) batch -= train_batches_;
  const int full = ticket.training ? config_.batch : config_.eval_batch;
  const int size = ticket.training ? config_.train_size : config_.eval_size;
  ticket.batch = batch;
  ticket.first = std::int64_t{batch} * full;
  ticket.rows = static_cast<int>(std::min<std::int64_t>(full, size - ticket.first));
  return ticket;
}

}  // namespace tr
