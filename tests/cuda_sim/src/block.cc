#include "tests/cuda_sim/src/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace cuda_sim {

// The built-in variables as the stand-in sees them, under the names that kernels link against. One set for the program;
// only the thread that holds the simulator's lock runs kernels.
uint3 thread_index __asm__("threadIdx");
uint3 block_index __asm__("blockIdx");
dim3 block_size __asm__("blockDim");
dim3 grid_size __asm__("gridDim");

namespace {

constexpr std::uint32_t most_threads = 1024;

std::string triple(const uint3& at) { return fmt::format("({}, {}, {})", at.x, at.y, at.z); }

uint3 unfold(std::uint32_t index, const dim3& counts) {
  return {index % counts.x, index / counts.x % counts.y, index / counts.x / counts.y};
}

}  // namespace

BlockRunner::BlockRunner() : stacks_(most_threads + 1), stack_range_(stacks_.all()) {}

std::string BlockRunner::run(const Grid& grid, std::uint64_t seed, const std::function<void()>& end_block) {
  grid_ = &grid;
  failure_.clear();
  block_size = grid.threads;
  grid_size = grid.blocks;
  count_ = grid.threads.x * grid.threads.y * grid.threads.z;
  reversed_ = (seed & 1U) != 0;
  rotation_ = static_cast<std::uint32_t>((seed >> 8) % count_);
  const std::uint64_t blocks = std::uint64_t{grid.blocks.x} * grid.blocks.y * grid.blocks.z;
  const std::uint64_t first = (seed >> 1) % blocks;
  for (std::uint64_t i = 0; i < blocks && failure_.empty(); ++i) {
    const std::uint64_t block = (i + first) % blocks;
    run_block(static_cast<std::uint32_t>(reversed_ ? blocks - 1 - block : block));
    if (failure_.empty()) end_block();
  }
  grid_ = nullptr;
  return failure_;
}

void BlockRunner::start_block(std::uint32_t block) {
  block_index = unfold(block, grid_->blocks);
  threads_.assign(count_, ThreadState{});
  warps_.resize((count_ + 31) / 32);
  for (std::uint32_t i = 0; i < warps_.size(); ++i) {
    const std::uint32_t lanes = std::min(32U, count_ - 32 * i);
    warps_[i].arrived = warps_[i].parity = 0;
    warps_[i].lanes = lanes == 32 ? ~0U : (1U << lanes) - 1;
  }
  ready_.clear();
  fresh_ = returned_ = at_barrier_ = 0;
}

void BlockRunner::run_block(std::uint32_t block) {
  start_block(block);
  while (returned_ < count_) {
    if (!ready_.empty()) {
      const std::uint32_t next = ready_.back();
      ready_.pop_back();
      turn_to(next);
      resume(threads_[next].fiber);
    } else if (fresh_ < count_) {
      resume(idle_fiber());
    } else {
      failure_ = stuck();
      failure_code_ = cudaErrorLaunchFailure;
    }
    if (!failure_.empty()) break;
  }
  if (failure_.empty()) return;
  // Those that wait are never resumed; their stacks are used again.
  fibers_.clear();
  idle_.clear();
}

void BlockRunner::resume(Fiber* fiber) {
  running_ = fiber;
  fiber->resume();
  running_ = nullptr;
}

Fiber* BlockRunner::idle_fiber() {
  if (idle_.empty()) {
    fibers_.push_back(std::make_unique<Fiber>(stacks_.stack(fibers_.size()), run_fiber, this));
    return fibers_.back().get();
  }
  Fiber* fiber = idle_.back();
  idle_.pop_back();
  return fiber;
}

void BlockRunner::run_fiber(void* runner) {
  for (BlockRunner& self = *static_cast<BlockRunner*>(runner);;) {
    self.run_fresh_threads();
    self.idle_.push_back(self.running_);
    self.running_->suspend();
  }
}

std::uint32_t BlockRunner::nth_thread(std::uint32_t n) const {
  const std::uint32_t rotated = (n + rotation_) % count_;
  return reversed_ ? count_ - 1 - rotated : rotated;
}

void BlockRunner::run_fresh_threads() {
  // Each run of the kernel may come back on this fiber long after, when other fibers have started the next threads.
  while (fresh_ < count_) {
    const std::uint32_t next = nth_thread(fresh_++);
    threads_[next].fiber = running_;
    turn_to(next);
    grid_->thread(grid_->kernel, grid_->arguments);
    threads_[current_].state = State::returned;
    ++returned_;
  }
}

void BlockRunner::turn_to(std::uint32_t thread) {
  current_ = thread;
  threads_[thread].state = State::running;
  thread_index = unfold(thread, grid_->threads);
}

void BlockRunner::wait(State state) {
  threads_[current_].state = state;
  running_->suspend();
}

void BlockRunner::block_barrier() {
  ++threads_[current_].barriers;
  if (++at_barrier_ < count_) {
    wait(State::at_block_barrier);
    return;
  }
  at_barrier_ = 0;
  for (std::uint32_t n = count_; n-- > 0;) {
    if (const std::uint32_t thread = nth_thread(n); thread != current_) ready_.push_back(thread);
  }
}

const std::uint64_t* BlockRunner::warp_exchange(WarpOperation operation, unsigned mask, std::uint64_t value) {
  const std::uint32_t me = current_, lane = me % 32;
  Warp& warp = warps_[me / 32];
  if (mask != warp.lanes) {
    fail("a warp operation names the lanes " + std::to_string(mask) + ", its warp has " + std::to_string(warp.lanes) +
         "; only whole warps are supported");
  }
  if (warp.arrived != 0 && warp.operation != operation) fail("the lanes of a warp do different operations");
  warp.operation = operation;
  // Two sets: a fast lane may bring its next value before a slow one has read this one's, but no lane gets further.
  auto& values = warp.values[warp.parity];
  values[lane] = value;
  ++threads_[me].warp_steps;
  warp.arrived |= 1U << lane;
  if (warp.arrived != warp.lanes) {
    wait(State::at_warp_operation);
    return values.data();
  }
  warp.arrived = 0;
  warp.parity ^= 1U;
  for (std::uint32_t other = me / 32 * 32; other < std::min(count_, me / 32 * 32 + 32); ++other) {
    if (other != me) ready_.push_back(other);
  }
  for (std::uint32_t i = static_cast<std::uint32_t>(std::popcount(warp.lanes)); i < 32; ++i) values[i] = 0;
  return values.data();
}

void BlockRunner::fail(const std::string& what, cudaError_t code) {
  failure_ = what + ", " + place(current_);
  failure_code_ = code;
  running_->suspend();
  __builtin_trap();
}

std::string BlockRunner::place(std::uint32_t thread) const {
  return "thread " + triple(unfold(thread, grid_->threads)) + " of block " + triple(block_index) + " of " + grid_->name;
}

std::string BlockRunner::stuck() const {
  // No thread can run, so some wait for others that have returned or wait elsewhere.
  const auto first = [&](State state) {
    const auto found = std::find_if(threads_.begin(), threads_.end(), [=](const auto& t) { return t.state == state; });
    return static_cast<std::uint32_t>(found - threads_.begin());
  };
  const std::uint32_t barrier = first(State::at_block_barrier), warp = first(State::at_warp_operation);
  const std::uint32_t returned = first(State::returned);
  std::string text = barrier < count_ ? place(barrier) + " waits in __syncthreads()"
                                      : place(warp) + " waits for the lanes of its warp";
  if (returned < count_) return text + ", but thread " + triple(unfold(returned, grid_->threads)) + " has returned";
  return text + ", but thread " + triple(unfold(warp, grid_->threads)) + " waits for the lanes of its warp";
}

}  // namespace cuda_sim
