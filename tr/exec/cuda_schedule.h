// For the CUDA backend's own files.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tr/exec/cuda_handles.h"
#include "tr/op/graph.h"

namespace tr {

inline constexpr int stream_count = 3;

/// The queues of a device, by tr::Stream.
class CudaStreams {
 public:
  CudaStreams();
  cudaStream_t operator[](Stream stream) const { return streams_[static_cast<std::size_t>(stream)].get(); }

 private:
  std::array<CudaStream, stream_count> streams_;
};

/// Bytes that a task reads or, with `written`, writes and maybe reads.
struct CudaAccess {
  const void* data = nullptr;
  std::int64_t bytes = 0;
  bool written = false;
};

/// A piece of a step: what it puts on a stream, and all memory that this touches.
struct CudaTask {
  std::string name;
  Stream stream = Stream::compute;
  std::vector<CudaAccess> accesses;
  std::function<void(cudaStream_t)> issue;

  void reads(const void* data, std::int64_t bytes) { accesses.push_back({data, bytes, false}); }
  void writes(const void* data, std::int64_t bytes) { accesses.push_back({data, bytes, true}); }
};

/// The tasks of a step on several streams, in an order that would be right on one. Where two tasks on different streams
/// touch the same bytes, and one of them writes, the later one waits for the earlier one; of these waits only those are
/// made that no other implies. A step begins and ends on the compute stream: all its work is ordered behind what that
/// was given before, and what it is given next is ordered behind all work of the step.
class CudaSchedule {
 public:
  void add(CudaTask task);
  /// Finds the waits; to be called once, behind the last add().
  void seal();
  /// Puts all tasks on the streams, for the device to do at once or, where the compute stream is captured, to record.
  void issue(const CudaStreams& streams) const;

 private:
  static constexpr int none = -1;
  /// For each stream how many of its tasks are known to be done.
  using Clock = std::array<int, stream_count>;
  struct Entry {
    CudaTask task;
    /// What it waits for; an entry `begin` means the step's begin.
    std::vector<int> waits;
    /// Its place among the events; `none` where nobody waits for it.
    int event = none;
    /// Its place on its stream, from 1, and what is known to be done when it is.
    int place = 0;
    Clock done{};
  };
  static constexpr int begin = -2;

  std::vector<int> needed_by(int entry) const;
  std::vector<int> reduced(std::vector<int> candidates, const Clock& known) const;
  void wait_for(Entry& entry, int earlier, Clock& known);
  void seal_end(const Clock& known, const std::array<int, stream_count>& last);
  void wait(cudaStream_t stream, int earlier) const;

  std::vector<Entry> entries_;
  std::vector<CudaEvent> events_;
  CudaEvent begin_;
  std::vector<int> end_waits_;
};

}  // namespace tr
