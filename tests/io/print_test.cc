#include "tr/io/print.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <string>

#include "tests/io/files.h"

namespace tr {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using Stream = std::unique_ptr<std::FILE, Close>;

/// A pipe that nobody reads.
Stream deserted_pipe() {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  return Stream(fdopen(ends[1], "w"));
}

bool sigpipe_is_pending() {
  sigset_t set;
  sigpending(&set);
  return sigismember(&set, SIGPIPE) == 1;
}

}  // namespace

TEST_CASE("what is printed is there at once") {
  const TemporaryDirectory directory;
  const Stream out(std::fopen((directory / "out").c_str(), "w"));
  CHECK(print(out.get(), "one\n"));
  CHECK(contents_of(directory / "out") == "one\n");
  CHECK(print(out.get(), ""));
  CHECK(std::ferror(out.get()) == 0);
}

TEST_CASE("a full disk is no success, whether the text fits into a buffer or not, and is remembered") {
  for (const std::size_t size : {std::size_t{1}, std::size_t{1} << 20}) {
    const Stream out(std::fopen("/dev/full", "w"));
    CHECK_FALSE(print(out.get(), std::string(size, 'x')));
    CHECK(errno == ENOSPC);
    CHECK(std::ferror(out.get()) != 0);
  }
}

TEST_CASE("a reader that has gone ends nothing, now or when the stream is closed, and other signals are as before") {
  for (const std::size_t size : {std::size_t{1}, std::size_t{1} << 20}) {
    const Stream out = deserted_pipe();
    CHECK_FALSE(print(out.get(), std::string(size, 'x')));
    CHECK(errno == EPIPE);
    CHECK_FALSE(sigpipe_is_pending());
  }
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  CHECK(sigismember(&now, SIGPIPE) == 0);
}

TEST_CASE("a SIGPIPE that was pending before stays so") {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  raise(SIGPIPE);
  const CapturedStream out;
  CHECK(print(out.file(), "x"));
  CHECK(sigpipe_is_pending());
  const timespec zero{};
  CHECK(sigtimedwait(&pipe, nullptr, &zero) == SIGPIPE);
  pthread_sigmask(SIG_UNBLOCK, &pipe, nullptr);
}

}  // namespace tr
