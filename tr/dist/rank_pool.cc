#include "tr/dist/rank_pool.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "tr/base/error.h"

namespace tr {

RankPool::RankPool(int ranks, std::function<void()> setup) : failures_(static_cast<std::size_t>(ranks)) {
  threads_.reserve(static_cast<std::size_t>(ranks));
  try {
    for (int rank = 0; rank < ranks; ++rank) threads_.emplace_back([this, rank, setup] { serve(rank, setup); });
  } catch (const std::system_error& error) {
    join();
    throw Error(fmt::format("cannot start the thread of rank {} of {} ({}); use fewer ranks (--threads)",
                            threads_.size() + 1, ranks, error.what()));
  }
}

RankPool::~RankPool() { join(); }

void RankPool::join() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void RankPool::run(const std::function<void(ThreadCommunicator&)>& job) {
  ThreadGroup group(size());
  std::unique_lock lock(mutex_);
  job_ = &job;
  group_ = &group;
  running_ = size();
  for (std::exception_ptr& failure : failures_) failure = nullptr;
  ++generation_;
  wake_.notify_all();
  done_.wait(lock, [this] { return running_ == 0; });
  job_ = nullptr;
  group_ = nullptr;
  for (const std::exception_ptr& failure : failures_) {
    if (failure) std::rethrow_exception(failure);
  }
}

void RankPool::serve(int rank, const std::function<void()>& setup) {
  setup();
  int seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
    if (stopping_) return;
    seen = generation_;
    const auto& job = *job_;
    ThreadGroup& group = *group_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      ThreadCommunicator communicator(group, rank);
      job(communicator);
    } catch (const GroupAborted&) {
      // Another rank has the reason; whoever still waits for this one must not.
      group.abort();
    } catch (...) {
      failure = std::current_exception();
      group.abort();
    }
    lock.lock();
    failures_[static_cast<std::size_t>(rank)] = std::move(failure);
    if (--running_ == 0) done_.notify_all();
  }
}

}  // namespace tr
