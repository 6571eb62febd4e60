#include "tr/task/interrupt.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "tests/task/signals.h"

namespace tr {
namespace {

void interrupt() { kill(getpid(), SIGINT); }

void own_handler(int /*signal*/) {}

/// The wait status of a process of its own that runs `work` and, if that comes to its end, exits with 7.
template <class Work>
int status_of(Work&& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("one SIGINT is noted and ends nothing") {
  const Disposition plain(SIG_DFL);
  {
    const InterruptGuard guard;
    CHECK_FALSE(guard.pending());
    interrupt();
    CHECK(guard.pending());
    CHECK(guard.pending());
  }
  CHECK(is_handled_by(SIG_DFL));
}

TEST_CASE("a second SIGINT ends the process at once") {
  const Disposition plain(SIG_DFL);
  const int status = status_of([] {
    const InterruptGuard guard;
    interrupt();
    if (guard.pending()) interrupt();
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGINT);
}

TEST_CASE("when the run is over, SIGINT does nothing, however often it comes, until the guard is gone") {
  const Disposition plain(SIG_DFL);
  for (const bool before : {false, true}) {
    CAPTURE(before);
    const int status = status_of([&] {
      InterruptGuard guard;
      if (before) interrupt();
      guard.settle();
      for (int i = 0; i < 3; ++i) interrupt();
      if (guard.pending()) _exit(1);
    });
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 7);
  }
  const int status = status_of([] {
    { InterruptGuard().settle(); }
    interrupt();
  });
  CHECK(WIFSIGNALED(status));
}

TEST_CASE("a process that ignores SIGINT goes on ignoring it") {
  const Disposition ignored(SIG_IGN);
  {
    InterruptGuard guard;
    interrupt();
    CHECK_FALSE(guard.pending());
    CHECK(is_handled_by(SIG_IGN));
    guard.settle();
    CHECK(is_handled_by(SIG_IGN));
  }
  CHECK(is_handled_by(SIG_IGN));
}

TEST_CASE("a process with a handler of its own keeps it") {
  const Disposition own(own_handler);
  {
    InterruptGuard guard;
    interrupt();
    CHECK_FALSE(guard.pending());
    guard.settle();
    CHECK(is_handled_by(own_handler));
  }
  CHECK(is_handled_by(own_handler));
}

TEST_CASE("the next run listens while one that was interrupted still tears down, and is not taken for interrupted") {
  const Disposition plain(SIG_DFL);
  auto first = std::make_unique<InterruptGuard>();
  interrupt();
  first->settle();
  const InterruptGuard second;
  CHECK_FALSE(second.pending());
  first.reset();
  CHECK_FALSE(second.pending());
  interrupt();
  CHECK(second.pending());
}

}  // namespace tr
