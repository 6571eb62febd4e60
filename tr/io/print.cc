#include "tr/io/print.h"

#include <fmt/format.h>
#include <pthread.h>
#include <stdio_ext.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace tr {
namespace {

/// While it lives, this thread gets no SIGPIPE; other threads, and what the process does about one, stay as they are.
class PipeShield {
 public:
  PipeShield() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t before;
    sigpending(&before);
    was_pending_ = sigismember(&before, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &mask_);
  }
  ~PipeShield() {
    const timespec now{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  PipeShield(const PipeShield&) = delete;
  PipeShield& operator=(const PipeShield&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t mask_{};
  bool was_pending_ = false;
};

/// 0, or the errno of the failure.
int try_to_print(std::FILE* out, std::string_view text) {
  const PipeShield shield;
  errno = 0;
  const bool taken = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  if (std::fflush(out) == 0 && taken) return 0;
  const int error = errno;
  // Or it would be tried again, unshielded, when the process ends.
  __fpurge(out);
  return error == 0 ? EIO : error;
}

}  // namespace

bool print(std::FILE* out, std::string_view text) {
  const int error = try_to_print(out, text);
  errno = error;
  return error == 0;
}

void warn(std::string_view text) { print(stderr, fmt::format("warning: {}\n", text)); }

}  // namespace tr
