#include "tr/data/batch_stream.h"

#include <doctest/doctest.h>

#include <vector>

#include "tr/base/error.h"

namespace tr {
namespace {

constexpr StreamConfig small{
    .train_size = 42, .eval_size = 10, .batch = 16, .eval_batch = 4, .drop_last = false, .epochs = 2};

/// The stream as nested loops would produce it.
std::vector<Ticket> by_loops(const StreamConfig& c) {
  std::vector<Ticket> tickets;
  const auto add = [&](bool training, int epoch, int size, int batch, bool drop_last) {
    int number = 0;
    for (int first = 0; first < size; first += batch) {
      const int rows = size - first < batch ? size - first : batch;
      if (rows == batch || !drop_last) tickets.push_back({training, epoch, number++, rows, first});
    }
  };
  for (int epoch = 1; epoch <= c.epochs; ++epoch) {
    add(true, epoch - 1, c.train_size, c.batch, c.drop_last);
    const bool selected = (epoch - c.validate_offset) % c.validate_every == 0;
    if (selected || epoch == c.epochs) add(false, epoch - 1, c.eval_size, c.eval_batch, false);
  }
  return tickets;
}

std::vector<Ticket> listed(const BatchStream& stream) {
  std::vector<Ticket> tickets;
  for (std::int64_t i = 0; i < stream.size(); ++i) tickets.push_back(stream.at(i));
  return tickets;
}

std::vector<int> training_rows(StreamConfig config) {
  config.epochs = 1;
  std::vector<int> rows;
  for (const Ticket& ticket : listed(BatchStream(config))) {
    if (ticket.training) rows.push_back(ticket.rows);
  }
  return rows;
}

}  // namespace

TEST_CASE("42 samples at 16 give 16, 16, 10, and with drop_last 16, 16") {
  StreamConfig config = small;
  CHECK(training_rows(config) == std::vector<int>{16, 16, 10});
  config.drop_last = true;
  CHECK(training_rows(config) == std::vector<int>{16, 16});
  config.train_size = 48;
  CHECK(training_rows(config) == std::vector<int>{16, 16, 16});
  config.train_size = 5;
  config.drop_last = false;
  CHECK(training_rows(config) == std::vector<int>{5});
}

TEST_CASE("the stream is what nested loops over epochs and batches give") {
  int compared = 0;
  for (int epochs : {1, 2, 5, 7}) {
    for (int every : {1, 2, 3, 10}) {
      for (int offset : {-4, 0, 1, 2, 9}) {
        for (bool drop_last : {false, true}) {
          for (int eval_size : {3, 4, 10}) {
            const StreamConfig config{.train_size = 42,
                                      .eval_size = eval_size,
                                      .batch = 16,
                                      .eval_batch = 4,
                                      .drop_last = drop_last,
                                      .epochs = epochs,
                                      .validate_every = every,
                                      .validate_offset = offset};
            const BatchStream stream(config);
            const auto loops = by_loops(config);
            REQUIRE(listed(stream) == loops);
            for (const Ticket& ticket : loops) compared += ticket.training || stream.validates_after(ticket.epoch);
          }
        }
      }
    }
  }
  CHECK(compared > 1000);
}

TEST_CASE("evaluation sees every sample once, with drop_last too") {
  StreamConfig config = small;
  config.drop_last = true;
  int samples = 0;
  for (const Ticket& ticket : listed(BatchStream(config))) samples += ticket.training ? 0 : ticket.rows;
  CHECK(samples == 2 * 10);
}

TEST_CASE("a stream of two billion epochs is computed, not listed") {
  const BatchStream stream({.train_size = 2'000'000'000,
                            .eval_size = 1,
                            .batch = 1,
                            .eval_batch = 1,
                            .drop_last = false,
                            .epochs = 2'000'000'000,
                            .validate_every = 2'000'000'000});
  CHECK(stream.size() == 4'000'000'000'000'000'001);
  CHECK(stream.at(stream.size() - 1) == Ticket{false, 1'999'999'999, 0, 1, 0});
  CHECK(stream.at(stream.size() - 2) == Ticket{true, 1'999'999'999, 1'999'999'999, 1, 1'999'999'999});
}

TEST_CASE("settings without a batch or an epoch are refused by name") {
  const auto refused = [](auto change) {
    StreamConfig config = small;
    change(config);
    CHECK_THROWS_AS(BatchStream{config}, ValueError);
  };
  CHECK_NOTHROW(BatchStream{small});
  refused([](StreamConfig& c) { c.train_size = 0; });
  refused([](StreamConfig& c) { c.eval_size = 0; });
  refused([](StreamConfig& c) { c.batch = 0; });
  refused([](StreamConfig& c) { c.eval_batch = -1; });
  refused([](StreamConfig& c) { c.epochs = 0; });
  refused([](StreamConfig& c) { c.validate_every = 0; });
  StreamConfig config = small;
  config.drop_last = true;
  config.batch = 43;
  CHECK_THROWS_WITH_AS(BatchStream{config},
                       "42 training samples give no batch of 43 with drop_last; use a smaller batch", ValueError);
}

}  // namespace tr
