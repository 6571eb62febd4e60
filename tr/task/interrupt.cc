#include "tr/task/interrupt.h"

#include <pthread.h>

#include <csignal>

namespace tr {
namespace {

struct sigaction current() {
  struct sigaction action {};
  sigaction(SIGINT, nullptr, &action);
  return action;
}

void install(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  // What waits goes on waiting.
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

/// The handler of a run. SA_RESETHAND would do the same where ThreadSanitizer does not answer for the kernel.
void restore_default(int /*signal*/) { install(SIG_DFL); }

/// The handler behind settle().
void do_nothing(int /*signal*/) {}

bool is(const struct sigaction& action, void (*handler)(int)) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == handler;
}

}  // namespace

// A run that was interrupted may still be there, settled, when the next one begins.
InterruptGuard::InterruptGuard() : listens_(is(current(), SIG_DFL) || is(current(), do_nothing)) {
  if (listens_) install(restore_default);
}

InterruptGuard::~InterruptGuard() {
  // A later run may listen by now.
  if (listens_ && (!settled_ || is(current(), do_nothing))) install(SIG_DFL);
}

bool InterruptGuard::pending() const { return listens_ && !settled_ && is(current(), SIG_DFL); }

void InterruptGuard::settle() {
  if (listens_) install(do_nothing);
  settled_ = true;
}

void InterruptGuard::block_on_this_thread() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace tr
