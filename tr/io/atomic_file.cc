#include "tr/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "tr/base/error.h"

namespace tr {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, std::string_view reason) {
  throw Error(fmt::format("cannot write '{}': {}", path.native(), reason));
}

[[noreturn]] void fail(const fs::path& path, int error) { fail(path, std::generic_category().message(error)); }

/// Whether standard output or error goes to this very file, under whatever name: /dev/stdout, /proc/self/fd/2, its own.
bool is_standard_output(const struct stat& file) {
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status {};
    if (fstat(descriptor, &status) == 0 && status.st_dev == file.st_dev && status.st_ino == file.st_ino) return true;
  }
  return false;
}

/// Where symbolic links lead that end in no file yet; elsewhere the kernel follows them.
fs::path behind_links(fs::path path) {
  std::error_code none;
  while (fs::is_symlink(path, none)) {
    const fs::path link = fs::read_symlink(path, none);
    path = path.parent_path() / link;
  }
  return path;
}

/// Where the bytes really go, and what stands there.
struct Target {
  fs::path path;
  std::optional<struct stat> status;
};

/// Once it is sure that a file may stand there.
Target resolve(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail(path, errno);
    fs::path target = behind_links(path);
    if (target.filename().empty()) fail(path, "it does not end in a file name");
    const fs::path directory = target.has_parent_path() ? target.parent_path() : ".";
    std::error_code ignored;
    if (!fs::is_directory(directory, ignored)) fail(path, fmt::format("no directory '{}'", directory.native()));
    return {std::move(target), {}};
  }
  if (S_ISDIR(status.st_mode)) fail(path, "it is a directory, not a file");
  // Renaming over a device would replace the device itself.
  if (!S_ISREG(status.st_mode)) fail(path, "it is not a regular file");
  // And renaming over what is still being printed to would lose it all.
  if (is_standard_output(status)) fail(path, "the program's own output goes there");
  if (access(path.c_str(), W_OK) != 0) fail(path, errno);
  std::error_code error;
  fs::path target = fs::canonical(path, error);
  if (error) fail(path, error.value());
  return {std::move(target), status};
}

/// A new file beside `target`; removed when it goes out of scope, unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const Target& target) : target_(target.path) {
    // Attempts differ because a process that was killed may have left a file under this one's number.
    for (int attempt = 0; attempt < 100 && file_ < 0; ++attempt) {
      // A long name is cut, so that the temporary one is not too long where the final one is not.
      path_ = target_;
      path_.replace_filename(
          fmt::format(".{:.200}.{}-{}.tmp", target_.filename().native(), static_cast<long>(getpid()), attempt));
      file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file_ < 0 && errno != EEXIST) break;
    }
    if (file_ < 0) fail(target_, errno);
    if (target.status) take_after(*target.status);
  }
  ~TemporaryFile() {
    if (file_ >= 0) close(file_);
    if (!renamed_) unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view contents) {
    while (!contents.empty()) {
      const ssize_t written = ::write(file_, contents.data(), contents.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(target_, errno);
      contents.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void rename_to_target() {
    if (fsync(file_) != 0) fail(target_, errno);
    if (close(std::exchange(file_, -1)) != 0) fail(target_, errno);
    if (std::rename(path_.c_str(), target_.c_str()) != 0) fail(target_, errno);
    renamed_ = true;
    sync_directory();
  }

 private:
  /// Mode, group and owner of the file that is replaced. Only the superuser may give a file to another owner, and
  /// others only to a group of their own; what the mode allowed to a group must not be allowed to another one.
  void take_after(const struct stat& status) {
    const bool same_group =
        fchown(file_, status.st_uid, status.st_gid) == 0 || fchown(file_, static_cast<uid_t>(-1), status.st_gid) == 0;
    const mode_t mode = status.st_mode & (same_group ? 07777 : 0707);
    if (fchmod(file_, mode) != 0) fail(target_, errno);
  }

  /// The new name is on the disk only when its directory is. Some file systems cannot sync a directory; the file is
  /// complete there all the same.
  void sync_directory() const {
    const fs::path directory = target_.has_parent_path() ? target_.parent_path() : ".";
    const int handle = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0) return;
    fsync(handle);
    close(handle);
  }

  fs::path target_;
  fs::path path_;
  int file_ = -1;
  bool renamed_ = false;
};

}  // namespace

void write_file(const std::string& path, std::string_view contents) {
  TemporaryFile file(resolve(path));
  file.write(contents);
  file.rename_to_target();
}

void check_writable(const std::string& path) { const TemporaryFile file(resolve(path)); }

}  // namespace tr
