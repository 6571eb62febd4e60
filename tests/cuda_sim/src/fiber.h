#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/cuda_sim/src/range.h"

namespace cuda_sim {

/// Stacks for fibers, side by side, so that one comparison tells whether an address lies on one of them.
class Stacks {
 public:
  static constexpr std::size_t stack_bytes = std::size_t{1} << 18;

  explicit Stacks(std::size_t count);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  Range all() const { return all_; }
  /// The i-th; its lowest page is a guard.
  Range stack(std::size_t i) const;

 private:
  Range all_;
};

/// A function that runs on a stack of its own, gives control back in the middle, and may be resumed or forgotten: one
/// that is never resumed is not unwound, and its stack may be used again.
class Fiber {
 public:
  using Function = void (*)(void* argument);

  /// The function must not return; it ends by suspending for good.
  Fiber(const Range& stack, Function run, void* argument);

  /// Runs the fiber until it suspends itself. Not from another fiber.
  void resume();
  /// Called on the fiber: gives control back to resume().
  void suspend();

  Function function() const { return function_; }
  void* argument() const { return argument_; }
  /// Called on the fiber, once, when it first runs.
  void entered(void* caller);

 private:
  Range stack_;
  Function function_;
  void* argument_;
  void* context_;
  void* caller_ = nullptr;
  // What AddressSanitizer wants to know of both sides.
  void* fake_stack_ = nullptr;
  const void* caller_stack_ = nullptr;
  std::size_t caller_stack_bytes_ = 0;
};

}  // namespace cuda_sim
