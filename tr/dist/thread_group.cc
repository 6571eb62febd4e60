#include "tr/dist/thread_group.h"

#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tr {
namespace {

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Some tens of microseconds: longer than the ranks of a balanced step drift apart, shorter than a time slice.
constexpr int patience = 2000;

}  // namespace

ThreadGroup::ThreadGroup(int size)
    : size_(size), spins_(static_cast<unsigned>(size) <= std::thread::hardware_concurrency() ? patience : 0) {}

void ThreadGroup::meet() {
  const std::uint32_t phase = phase_.load(std::memory_order_acquire);
  if (aborted_.load(std::memory_order_acquire)) throw GroupAborted{};
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.fetch_add(1, std::memory_order_acq_rel);
    phase_.notify_all();
  } else {
    for (int i = 0; i < spins_ && phase_.load(std::memory_order_acquire) == phase; ++i) relax();
    phase_.wait(phase, std::memory_order_acquire);
  }
  if (aborted_.load(std::memory_order_acquire)) throw GroupAborted{};
}

void ThreadGroup::abort() {
  aborted_.store(true, std::memory_order_release);
  phase_.fetch_add(1, std::memory_order_acq_rel);
  phase_.notify_all();
}

}  // namespace tr
