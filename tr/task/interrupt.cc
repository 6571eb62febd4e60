#include "tr/task/interrupt.h"

#include <pthread.h>

#include <ctime>

namespace tr {
namespace {

sigset_t interrupt_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  const sigset_t set = interrupt_set();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

InterruptGuard::~InterruptGuard() {
  // One that came too late to matter must not end the process while it reports.
  (void)pending();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool InterruptGuard::pending() const {
  const sigset_t set = interrupt_set();
  const timespec now{};
  return sigtimedwait(&set, nullptr, &now) == SIGINT;
}

void InterruptGuard::block_on_this_thread() {
  const sigset_t set = interrupt_set();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace tr
