#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "tr/dist/thread_group.h"

namespace tr {

/// The rank threads of a process. They live as long as the pool, because what a library prepares on a thread has to be
/// used on that thread.
class RankPool {
 public:
  /// `setup` runs once on each new thread, before its first job. Throws Error when a thread cannot be started.
  RankPool(int ranks, std::function<void()> setup);
  ~RankPool();
  RankPool(const RankPool&) = delete;
  RankPool& operator=(const RankPool&) = delete;

  int size() const { return static_cast<int>(threads_.size()); }

  /// Runs `job` on every rank and returns when all have finished. The first exception of a rank, in rank order, is
  /// thrown on; the other ranks leave their next `meet`.
  void run(const std::function<void(ThreadCommunicator&)>& job);

 private:
  void join();
  void serve(int rank, const std::function<void()>& setup);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const std::function<void(ThreadCommunicator&)>* job_ = nullptr;
  ThreadGroup* group_ = nullptr;
  int generation_ = 0;
  int running_ = 0;
  bool stopping_ = false;
  std::vector<std::exception_ptr> failures_;
  std::vector<std::thread> threads_;
};

}  // namespace tr
