#pragma once

namespace tr {

/// Lets a run hear SIGINT. While it lives, the first one does not end the process but waits to be asked for, and a
/// second one ends it at once, as it would without this. Passive where SIGINT would not end the process anyway: one
/// that was told to ignore it goes on ignoring it, and one with a handler of its own keeps that.
///
/// Nothing is global but what the kernel keeps: the handler brings the default action back, and that it is back is how
/// one sees that SIGINT has arrived. Of two runs at the same time in one process the first one hears.
class InterruptGuard {
 public:
  InterruptGuard();
  /// SIGINT is as it was.
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Whether SIGINT has arrived, before settle().
  bool pending() const;

  /// From here on SIGINT does nothing, however often it comes: the run is over, and what it brought is to be written.
  void settle();

  /// Keeps SIGINT away from this thread for good, so that nothing on it is woken or cut short.
  static void block_on_this_thread();

 private:
  bool listens_;
  bool settled_ = false;
};

}  // namespace tr
