#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tr/data/batch_stream.h"
#include "tr/data/sample_source.h"

namespace tr {

/// The two buffer slots of one rank: batch k lies in slot k mod 2. A slot takes the rank's rows of the largest batch,
/// that is ceil(batch / ranks) rows of SampleSource::row_bytes, without gaps, and as many labels.
struct RankInput {
  std::byte* images[2] = {nullptr, nullptr};
  std::int32_t* labels[2] = {nullptr, nullptr};
};

struct PipelineConfig {
  StreamConfig stream;
  /// Decides the order of the samples together with the epoch; nothing else does.
  std::uint64_t seed = 0;
  /// Threads that fill batches ahead of their use; with 0 each rank fills its own rows when it asks for them.
  int workers = 0;
};

/// Fills the ranks' input buffers with the batches of a BatchStream, one batch ahead of their use.
///
/// The rows of a batch are split over the ranks by slice_of(rows, rank, ranks); rows of a buffer beyond a rank's share
/// keep what an earlier batch left there. Worker w of W fills slice_of(rows, w, W) of every batch, so no row is handed
/// out and none is locked; the workers agree by counting who is done. A waiting thread spins for some microseconds and
/// then sleeps. Buffers hold the same bytes for any number of workers. Nothing is allocated between construction and
/// destruction, unless a worker fails.
class BatchPipeline {
 public:
  /// Starts the workers. Throws ValueError for a stream that asks for more samples than the source has, no ranks, or a
  /// negative number of workers, and Error when a thread cannot be started. The buffers must outlive the pipeline.
  BatchPipeline(const PipelineConfig& config, SampleSource source, std::span<const RankInput> ranks);
  /// Stops and joins the workers; no rank may be inside wait() any more.
  ~BatchPipeline();
  BatchPipeline(const BatchPipeline&) = delete;
  BatchPipeline& operator=(const BatchPipeline&) = delete;

  const BatchStream& stream() const;

  /// Blocks until batch `number` is in slot number mod 2 of `rank`. False when there is no such batch, because the run
  /// ends before it or stop() came first. Every rank gets the same answer about the same ticket, whenever it asks, so
  /// that ranks which meet in the step leave the run together.
  /// Rethrows what a worker threw; from then on it is thrown at every rank that waits for an unfilled batch.
  /// Each rank asks for its tickets in ascending order.
  bool wait(std::int64_t number, int rank);

  /// To be called once by each rank, in ascending order, when it no longer reads the slot of batch `number`.
  void release(std::int64_t number);

  /// Ends the run early: no further batch appears, and who waits wakes up. May be called from any thread, repeatedly.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tr
