#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda_runtime.h"
#include "tests/cuda_sim/src/fiber.h"

namespace cuda_sim {

/// What the lanes of a warp do together.
enum class WarpOperation { barrier, shuffle, vote };

/// One kernel and how often to run it.
struct Grid {
  std::string name;
  dim3 blocks;
  dim3 threads;
  const void* kernel;
  const void* arguments;
  Thread thread;
};

/// Runs kernels, block after block, each thread on a fiber. A thread that never waits costs no switch: the fiber that
/// runs it goes on to the next.
class BlockRunner {
 public:
  BlockRunner();

  /// Runs all threads; seed chooses the order of blocks and threads. Returns what went wrong, or nothing. end_block is
  /// called after each block that came to its end.
  std::string run(const Grid& grid, std::uint64_t seed, const std::function<void()>& end_block);

  // On a fiber, for the thread that runs.
  void block_barrier();
  /// Each lane brings a value. Returns those of all 32, valid until the next call.
  const std::uint64_t* warp_exchange(WarpOperation operation, unsigned mask, std::uint64_t value);
  std::uint32_t thread() const { return current_; }
  std::uint32_t barriers() const { return threads_[current_].barriers; }
  std::uint32_t warp_steps() const { return threads_[current_].warp_steps; }
  /// Ends the kernel with an error.
  [[noreturn]] void fail(const std::string& what, cudaError_t code = cudaErrorLaunchFailure);
  /// What CUDA would say of the failure that run() returned.
  cudaError_t failure_code() const { return failure_code_; }

  const Range& stacks() const { return stack_range_; }

 private:
  enum class State : std::uint8_t { not_started, running, at_block_barrier, at_warp_operation, returned };

  struct ThreadState {
    State state = State::not_started;
    Fiber* fiber = nullptr;
    std::uint32_t barriers = 0;
    std::uint32_t warp_steps = 0;
  };

  /// The operation that lanes of a warp are about to do together.
  struct Warp {
    std::array<std::array<std::uint64_t, 32>, 2> values;
    unsigned arrived = 0;
    unsigned lanes = 0;
    std::uint32_t parity = 0;
    WarpOperation operation = WarpOperation::barrier;
  };

  static void run_fiber(void* runner);
  void run_fresh_threads();
  void run_block(std::uint32_t block);
  void start_block(std::uint32_t block);
  void turn_to(std::uint32_t thread);
  void wait(State state);
  void resume(Fiber* fiber);
  Fiber* idle_fiber();
  std::string stuck() const;
  std::string place(std::uint32_t thread) const;
  std::uint32_t nth_thread(std::uint32_t n) const;

  Stacks stacks_;
  Range stack_range_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  Fiber* running_ = nullptr;

  const Grid* grid_ = nullptr;
  std::vector<ThreadState> threads_;
  std::vector<Warp> warps_;
  std::vector<std::uint32_t> ready_;
  std::uint32_t count_ = 0, fresh_ = 0, returned_ = 0, at_barrier_ = 0, current_ = 0;
  std::uint32_t rotation_ = 0;
  bool reversed_ = false;
  std::string failure_;
  cudaError_t failure_code_ = cudaSuccess;
};

}  // namespace cuda_sim
