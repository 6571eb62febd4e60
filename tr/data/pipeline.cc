#include "tr/data/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tr/base/error.h"
#include "tr/data/shuffle.h"
#include "tr/dist/slice.h"

namespace tr {
namespace {

constexpr std::size_t cache_line = 64;

/// A count that only grows, that threads wait for, and that can be frozen. The frozen flag shares the word with the
/// count: a sleeper wakes only when the word changes, and a count that moved after the freeze would give two ranks two
/// answers about one batch.
class alignas(cache_line) Watermark {
 public:
  /// Raises the count to at least `count`; false when it is frozen below.
  bool raise_to(std::int64_t count) {
    std::int64_t word = word_.load(std::memory_order_relaxed);
    while (count_in(word) < count) {
      if (is_frozen(word)) return false;
      if (word_.compare_exchange_weak(word, 2 * count, std::memory_order_release, std::memory_order_relaxed)) {
        word_.notify_all();
        return true;
      }
    }
    return true;
  }

  /// Blocks until the count is at least `count`; false when it is frozen below.
  bool wait_for(std::int64_t count) const {
    std::int64_t word = word_.load(std::memory_order_acquire);
    while (count_in(word) < count) {
      if (is_frozen(word)) return false;
      word_.wait(word, std::memory_order_acquire);  // Spins briefly before it sleeps.
      word = word_.load(std::memory_order_acquire);
    }
    return true;
  }

  void freeze() {
    word_.fetch_or(1, std::memory_order_release);
    word_.notify_all();
  }

 private:
  static std::int64_t count_in(std::int64_t word) { return word / 2; }
  static bool is_frozen(std::int64_t word) { return word % 2 != 0; }

  std::atomic<std::int64_t> word_{0};
};

/// Counts down who still has to pass, once per use of a slot; the last one re-arms it.
class alignas(cache_line) Countdown {
 public:
  explicit Countdown(int from) : from_(from), left_(from) {}
  /// True for the last of `from` callers. It sees what all others did before their call.
  bool pass() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    // Nobody else comes by before this caller has announced that the slot changed hands.
    left_.store(from_, std::memory_order_relaxed);
    return true;
  }

 private:
  int from_;
  std::atomic<int> left_;
};

/// The first exception of several threads, for the ranks.
class Failure {
 public:
  /// True for the first one, which is kept.
  bool keep(std::exception_ptr exception) {
    if (taken_.test_and_set(std::memory_order_relaxed)) return false;
    exception_ = std::move(exception);
    kept_.store(true, std::memory_order_release);
    return true;
  }
  void rethrow() const {
    if (kept_.load(std::memory_order_acquire)) std::rethrow_exception(exception_);
  }

 private:
  std::atomic_flag taken_;
  std::atomic<bool> kept_{false};
  std::exception_ptr exception_;
};

/// Fills the rows [rows.first, rows.first + rows.count) of a batch, whichever ranks they belong to; `order` is that of
/// the epoch, not read where the batch is for evaluation.
void fill(const Ticket& ticket, std::int64_t number, const Slice& rows, std::span<const std::int32_t> order,
          const SampleSource& source, const std::vector<RankInput>& ranks) {
  const auto rank_count = static_cast<std::int64_t>(ranks.size());
  for (std::int64_t rank = 0; rank < rank_count; ++rank) {
    const Slice share = slice_of(ticket.rows, rank, rank_count);
    const std::int64_t begin = std::max(rows.first, share.first);
    const std::int64_t end = std::min(rows.first + rows.count, share.first + share.count);
    const RankInput& input = ranks[static_cast<std::size_t>(rank)];
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t position = ticket.first + row;
      const std::int64_t local = row - share.first;
      source.write({.training = ticket.training,
                    .epoch = ticket.epoch,
                    .sample = ticket.training ? order[static_cast<std::size_t>(position)] : position,
                    .image = input.images[number % 2] + static_cast<std::size_t>(local) * source.row_bytes,
                    .label = input.labels[number % 2] + local});
    }
  }
}

/// The order of the samples, for one thread that shuffles and any others that fill by it.
class Orders {
 public:
  Orders(const StreamConfig& config, std::uint64_t seed, int train_batches)
      : epochs_(config.epochs), size_(config.train_size), train_batches_(train_batches), order_(seed, size_) {}

  /// For the thread that shuffles: the order of the batch's epoch; empty for evaluation.
  std::span<const std::int32_t> lead(const Ticket& ticket) {
    if (!ticket.training) return {};
    const auto order = order_.of(ticket.epoch);
    if (ticket.batch == 0) {
      published_[ticket.epoch % 2] = order;
      complete_.raise_to(ticket.epoch + 1);
    }
    return order;
  }

  /// For the others: the same, once it is complete. Nothing when stop() came first.
  std::optional<std::span<const std::int32_t>> follow(const Ticket& ticket) const {
    if (!ticket.training) return std::span<const std::int32_t>{};
    if (!complete_.wait_for(ticket.epoch + 1)) return {};
    return published_[ticket.epoch % 2];
  }

  /// Shuffles so much of the next epoch's order that all of it is there when that epoch begins: done after the batch is
  /// handed over, a little each time, it never makes a batch late. The first batch of an epoch is left out: while it is
  /// filled, others may still fill the last one of the epoch before, by the order whose place the next one takes.
  void prepare_after(const Ticket& ticket) {
    if (!ticket.training || ticket.batch == 0 || ticket.epoch + 1 == epochs_) return;
    order_.prepare_next(slice_of(size_, ticket.batch - 1, train_batches_ - 1).count);
  }

  void stop() { complete_.freeze(); }

 private:
  int epochs_;
  int size_;
  int train_batches_;
  EpochOrder order_;
  std::span<const std::int32_t> published_[2];
  /// Epochs whose order is complete.
  Watermark complete_;
};

}  // namespace

class BatchPipeline::Impl {
 public:
  Impl(const PipelineConfig& config, SampleSource source, std::span<const RankInput> ranks)
      : stream(config.stream),
        source_(std::move(source)),
        ranks_(ranks.begin(), ranks.end()),
        worker_count_(config.workers),
        fillers_left_{Countdown(config.workers), Countdown(config.workers)},
        readers_left_{Countdown(static_cast<int>(ranks.size())), Countdown(static_cast<int>(ranks.size()))} {
    // Ranks that fill for themselves may be any number of batches apart, so each shuffles for itself.
    const std::size_t orders = worker_count_ == 0 ? ranks_.size() : 1;
    orders_.reserve(orders);
    for (std::size_t i = 0; i < orders; ++i) {
      orders_.push_back(std::make_unique<Orders>(config.stream, config.seed, stream.train_batches()));
    }
  }

  ~Impl() {
    stop();
    for (std::thread& thread : threads_) thread.join();
  }

  void start() {
    threads_.reserve(static_cast<std::size_t>(worker_count_));
    try {
      for (int worker = 0; worker < worker_count_; ++worker) threads_.emplace_back([this, worker] { run(worker); });
    } catch (const std::system_error& error) {
      throw Error(fmt::format("data worker {} of {} cannot be started: {}; use fewer --workers", threads_.size(),
                              worker_count_, error.what()));
    }
  }

  bool wait(std::int64_t number, int rank) {
    if (number >= stream.size()) return false;
    if (worker_count_ == 0) return fill_for(number, rank);
    if (filled_.wait_for(number + 1)) return true;
    failure_.rethrow();
    return false;
  }

  void release(std::int64_t number) {
    if (worker_count_ == 0) return;
    if (readers_left_[number % 2].pass()) released_.raise_to(number + 1);
  }

  void stop() {
    filled_.freeze();
    released_.freeze();
    for (const auto& orders : orders_) orders->stop();
  }

  const BatchStream stream;

 private:
  /// A rank's own rows, filled on its own thread. The count of filled batches is raised first: it decides once for all
  /// ranks whether the batch exists.
  bool fill_for(std::int64_t number, int rank) {
    if (!filled_.raise_to(number + 1)) {
      failure_.rethrow();
      return false;
    }
    try {
      const Ticket ticket = stream.at(number);
      Orders& orders = *orders_[static_cast<std::size_t>(rank)];
      const Slice rows = slice_of(ticket.rows, rank, static_cast<std::int64_t>(ranks_.size()));
      fill(ticket, number, rows, orders.lead(ticket), source_, ranks_);
      orders.prepare_after(ticket);
    } catch (...) {
      fail(std::current_exception());
      throw;
    }
    return true;
  }

  void run(int worker) {
    try {
      Orders& orders = *orders_.front();
      const bool leads = worker == 0;
      for (std::int64_t number = 0; number < stream.size(); ++number) {
        if (!released_.wait_for(number - 1)) return;  // The slot's previous batch is number - 2.
        const Ticket ticket = stream.at(number);
        const std::optional order = leads ? std::optional(orders.lead(ticket)) : orders.follow(ticket);
        if (!order) return;
        fill(ticket, number, slice_of(ticket.rows, worker, worker_count_), *order, source_, ranks_);
        if (fillers_left_[number % 2].pass() && !filled_.raise_to(number + 1)) return;
        if (leads) orders.prepare_after(ticket);
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void fail(std::exception_ptr exception) {
    // Only whose exception was kept may stop the run: before it is kept a rank would find nothing to rethrow.
    if (failure_.keep(std::move(exception))) stop();
  }

  SampleSource source_;
  std::vector<RankInput> ranks_;
  int worker_count_;
  std::vector<std::unique_ptr<Orders>> orders_;
  std::vector<std::thread> threads_;
  Failure failure_;
  /// Batches that all workers have filled, and that all ranks have released.
  Watermark filled_;
  Watermark released_;
  Countdown fillers_left_[2];
  Countdown readers_left_[2];
};

BatchPipeline::BatchPipeline(const PipelineConfig& config, SampleSource source, std::span<const RankInput> ranks) {
  if (config.workers < 0) value_error("workers", config.workers, "0 or more");
  if (ranks.empty()) value_error("ranks", 0, "at least 1");
  if (config.stream.train_size > source.train_size || config.stream.eval_size > source.eval_size) {
    throw ValueError(fmt::format("the run asks for {} training and {} test samples, the data set has {} and {}",
                                 config.stream.train_size, config.stream.eval_size, source.train_size,
                                 source.eval_size));
  }
  impl_ = std::make_unique<Impl>(config, std::move(source), ranks);
  impl_->start();
}

BatchPipeline::~BatchPipeline() = default;

const BatchStream& BatchPipeline::stream() const { return impl_->stream; }
bool BatchPipeline::wait(std::int64_t number, int rank) { return impl_->wait(number, rank); }
void BatchPipeline::release(std::int64_t number) { impl_->release(number); }
void BatchPipeline::stop() { impl_->stop(); }

}  // namespace tr
