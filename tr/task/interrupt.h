#pragma once

#include <csignal>

namespace tr {

/// While it lives, SIGINT does not end the process but waits to be asked for: a run then ends after the step at hand.
/// No handler and no global: the signal stays blocked, and `pending` takes it.
class InterruptGuard {
 public:
  /// Blocks SIGINT on this thread and on threads it starts from now on; threads that exist already must have blocked
  /// it.
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Whether SIGINT has arrived since the last call.
  bool pending() const;

  /// Blocks SIGINT on this thread for good.
  static void block_on_this_thread();

 private:
  sigset_t before_{};
};

}  // namespace tr
