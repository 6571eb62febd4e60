#include "tr/io/atomic_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "tests/io/files.h"
#include "tr/base/error.h"

namespace tr {
namespace {

namespace fs = std::filesystem;

std::string reason(const std::string& path) {
  try {
    check_writable(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// No file of this process grows beyond the limit while the object lives; a write that would is an error.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

}  // namespace

TEST_CASE("a file is written whole, with the permissions of any new file, and nothing lies beside it") {
  const TemporaryDirectory directory;
  const std::string binary("a\0b\n", 4);
  const mode_t mask = umask(022);
  write_file(directory / "out.json", binary);
  umask(mask);
  CHECK(contents_of(directory / "out.json") == binary);
  CHECK(directory.entries() == 1);
  CHECK(static_cast<int>(fs::status(directory / "out.json").permissions()) == 0644);
  write_file(directory / "out.json", "");
  CHECK(contents_of(directory / "out.json").empty());
  CHECK(directory.entries() == 1);
}

TEST_CASE("a write that fails half-way leaves the old file as it was and nothing beside it") {
  const TemporaryDirectory directory;
  const std::string path = directory / "out.json";
  write_file(path, "old");
  {
    const FileSizeLimit limit(4096);
    CHECK_THROWS_WITH_AS(write_file(path, std::string(10000, 'x')),
                         ("cannot write '" + path + "': File too large").c_str(), Error);
  }
  CHECK(contents_of(path) == "old");
  CHECK(directory.entries() == 1);
}

TEST_CASE("the check leaves no file behind and an old file untouched") {
  const TemporaryDirectory directory;
  check_writable(directory / "new.json");
  CHECK(directory.entries() == 0);
  write_file(directory / "old.json", "old");
  check_writable(directory / "old.json");
  CHECK(contents_of(directory / "old.json") == "old");
  CHECK(directory.entries() == 1);
}

TEST_CASE("a path where no file can be written is named with the reason, and writing fails as the check does") {
  const TemporaryDirectory directory;
  write_file(directory / "file", "x");
  const auto message = [](const std::string& path, const std::string& why) {
    return "cannot write '" + path + "': " + why;
  };
  const std::string missing = directory / "none/out.json";
  CHECK(reason(missing) == message(missing, "no directory '" + directory / "none'"));
  const std::string inside = directory / "file/out.json";
  CHECK(reason(inside) == message(inside, "Not a directory"));
  CHECK(reason(directory.path()) == message(directory.path(), "it is a directory, not a file"));
  CHECK(reason(directory / "none/") == message(directory / "none/", "it does not end in a file name"));
  CHECK(reason("/dev/null") == message("/dev/null", "it is not a regular file"));
  CHECK(reason("/proc/out.json") == message("/proc/out.json", "No such file or directory"));
  const std::string long_name = directory / std::string(300, 'n');
  CHECK(reason(long_name) == message(long_name, "File name too long"));
  CHECK(reason("") == message("", "it does not end in a file name"));
  CHECK_THROWS_WITH_AS(write_file(missing, "x"), reason(missing).c_str(), Error);
  CHECK(directory.entries() == 1);
}

TEST_CASE("the file that the program prints to is refused, under any of its names") {
  const TemporaryDirectory directory;
  const std::string file = directory / "out.txt";
  write_file(file, "printed before");
  std::fflush(stdout);
  const int before = dup(STDOUT_FILENO);
  const int opened = open(file.c_str(), O_WRONLY | O_APPEND);
  REQUIRE(dup2(opened, STDOUT_FILENO) == STDOUT_FILENO);
  const std::string by_device = reason("/dev/stdout");
  const std::string by_name = reason(file);
  dup2(before, STDOUT_FILENO);
  close(before);
  close(opened);
  CHECK(by_device == "cannot write '/dev/stdout': the program's own output goes there");
  CHECK(by_name == "cannot write '" + file + "': the program's own output goes there");
  CHECK_NOTHROW(write_file(file, "x"));
}

TEST_CASE("a symbolic link stays one and its target is replaced") {
  const TemporaryDirectory directory;
  fs::create_directory(directory / "results");
  write_file(directory / "results/run1.json", "old");
  fs::create_symlink("results/run1.json", directory / "latest.json");
  write_file(directory / "latest.json", "new");
  CHECK(fs::is_symlink(directory / "latest.json"));
  CHECK(contents_of(directory / "results/run1.json") == "new");
}

TEST_CASE("a symbolic link to no file yet stays one, through several links, and its target is made") {
  const TemporaryDirectory directory;
  fs::create_directory(directory / "results");
  fs::create_symlink("results/run1.json", directory / "run.json");
  fs::create_symlink(directory / "run.json", directory / "latest.json");
  check_writable(directory / "latest.json");
  write_file(directory / "latest.json", "new");
  CHECK(fs::is_symlink(directory / "latest.json"));
  CHECK(fs::is_symlink(directory / "run.json"));
  CHECK(contents_of(directory / "results/run1.json") == "new");
  CHECK(directory.entries() == 3);
  fs::create_symlink("none/run1.json", directory / "lost.json");
  CHECK(reason(directory / "lost.json") ==
        "cannot write '" + (directory / "lost.json") + "': no directory '" + (directory / "none'"));
  fs::create_symlink("loop.json", directory / "loop.json");
  CHECK(reason(directory / "loop.json") ==
        "cannot write '" + (directory / "loop.json") + "': Too many levels of symbolic links");
}

TEST_CASE("the new file has the mode of the old one") {
  const TemporaryDirectory directory;
  const std::string path = directory / "out.json";
  for (const mode_t mode : {0600U, 0664U, 0640U, 0777U}) {
    std::ofstream(path) << "old";
    chmod(path.c_str(), mode);
    write_file(path, "new");
    CHECK(contents_of(path) == "new");
    CHECK(static_cast<mode_t>(fs::status(path).permissions()) == mode);
  }
}

TEST_CASE("the new file has the owner and group of the old one, where the process may give files away") {
  const TemporaryDirectory directory;
  const std::string path = directory / "out.json";
  std::ofstream(path) << "old";
  if (chown(path.c_str(), 1234, 5678) != 0) return;  // Only the superuser may.
  write_file(path, "new");
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK(status.st_uid == 1234);
  CHECK(status.st_gid == 5678);
}

TEST_CASE("what a killed process left behind is in nobody's way, and a long name leaves room for the temporary one") {
  const TemporaryDirectory directory;
  const std::string leftover = directory / (".out.json." + std::to_string(getpid()) + "-0.tmp");
  std::ofstream(leftover) << "half";
  write_file(directory / "out.json", "whole");
  CHECK(contents_of(directory / "out.json") == "whole");
  CHECK(contents_of(leftover) == "half");
  const std::string long_name = directory / std::string(255, 'n');
  write_file(long_name, "x");
  CHECK(contents_of(long_name) == "x");
}

}  // namespace tr
