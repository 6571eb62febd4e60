#pragma once

#include <atomic>
#include <cstdint>

#include "tr/dist/communicator.h"

namespace tr {

/// Where the threads of one process meet. A thread that arrives early spins for some microseconds and then sleeps: on a
/// machine that is shared, waiting by spinning alone can be twenty times slower. Where there are more threads than
/// CPUs, it sleeps at once, since whoever it waits for may need its CPU.
class ThreadGroup {
 public:
  explicit ThreadGroup(int size);
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  int size() const { return size_; }

  /// Throws GroupAborted, here and in every rank that waits or will wait.
  void meet();
  /// Ends the group: called by a rank that cannot go on.
  void abort();

 private:
  const int size_;
  const int spins_;
  // Apart from each other, since one is written by all and the other polled by all.
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> phase_{0};
  std::atomic<bool> aborted_{false};
};

/// Thrown to the ranks that wait for one that has failed; the failure itself is what the caller gets to see.
struct GroupAborted {};

/// One rank's view of a group of threads.
class ThreadCommunicator {
 public:
  ThreadCommunicator(ThreadGroup& group, int rank) : group_(&group), rank_(rank) {}

  int rank() const { return rank_; }
  int size() const { return group_->size(); }
  void meet() { group_->meet(); }

 private:
  ThreadGroup* group_;
  int rank_;
};

static_assert(Communicator<ThreadCommunicator>);

}  // namespace tr
