#include "tr/data/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <vector>

#include "tr/base/error.h"

namespace tr {
namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 16;

/// Deflate's longest match is 258 bytes and costs at least two bits (RFC 1951); a bit in a block header comes on top.
constexpr std::int64_t max_deflate_ratio = 1032;

[[noreturn]] void system_failure(const std::string& path, const char* action) {
  throw DataError(fmt::format("{}: {}: {}", path, action, std::strerror(errno)));
}

/// A regular file behind a small buffer.
class RawFile {
 public:
  explicit RawFile(const std::string& path) : path_(path), buffer_(buffer_size) {
    // Non-blocking, because opening a pipe for reading would otherwise wait for its writer before it can be refused.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) system_failure(path, "cannot be opened");
    try {
      inspect();
      fill();
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
  }
  ~RawFile() { ::close(descriptor_); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  const std::string& path() const { return path_; }
  std::int64_t size() const { return size_; }
  /// Position in the file of the next byte that available() shows.
  std::int64_t position() const { return loaded_ - static_cast<std::int64_t>(available().size()); }
  /// The bytes that are read but not consumed; empty at the end of the file.
  std::span<const std::uint8_t> available() const { return std::span(buffer_).subspan(begin_, end_ - begin_); }

  void consume(std::size_t count) {
    begin_ += count;
    if (begin_ == end_) fill();
  }

 private:
  void inspect() {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) system_failure(path_, "cannot be inspected");
    if (S_ISDIR(status.st_mode)) throw DataError(fmt::format("{}: is a directory, a file is expected", path_));
    if (!S_ISREG(status.st_mode)) throw DataError(fmt::format("{}: is not a regular file", path_));
    size_ = status.st_size;
  }

  void fill() {
    ssize_t count = 0;
    do {
      count = ::read(descriptor_, buffer_.data(), buffer_.size());
    } while (count < 0 && errno == EINTR);
    if (count < 0) system_failure(path_, "cannot be read");
    begin_ = 0;
    end_ = static_cast<std::size_t>(count);
    loaded_ += count;
  }

  std::string path_;
  std::vector<std::uint8_t> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::int64_t loaded_ = 0;
  std::int64_t size_ = 0;
  int descriptor_ = -1;
};

bool starts_gzip_member(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

/// Decompresses the gzip members that a raw file consists of.
class GzipReader {
 public:
  explicit GzipReader(RawFile& file) : file_(file) {
    // 16 asks zlib for the gzip wrapper and nothing else.
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) throw DataError(file.path() + ": zlib has no memory");
  }
  ~GzipReader() { inflateEnd(&stream_); }
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  std::size_t read(std::span<std::uint8_t> out) {
    std::size_t filled = 0;
    while (filled < out.size() && !at_end_) filled += inflate_some(out.subspan(filled));
    return filled;
  }

 private:
  std::size_t inflate_some(std::span<std::uint8_t> out) {
    const auto input = file_.available();
    if (input.empty()) {
      throw DataError(fmt::format("{}: the gzip data stops in the middle at byte {}, after {} decompressed bytes",
                                  file_.path(), file_.position(), produced_));
    }
    const auto room = std::min<std::size_t>(out.size(), std::numeric_limits<uInt>::max());
    // zlib's interface is not const-correct; inflate does not write to its input.
    stream_.next_in = const_cast<Bytef*>(input.data());
    stream_.avail_in = static_cast<uInt>(input.size());
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    const std::size_t count = room - stream_.avail_out;
    produced_ += static_cast<std::int64_t>(count);
    file_.consume(input.size() - stream_.avail_in);
    if (status == Z_STREAM_END) {
      next_member();
    } else if (status != Z_OK) {
      throw DataError(fmt::format("{}: the gzip data is damaged at byte {}, after {} decompressed bytes: {}",
                                  file_.path(), file_.position(), produced_,
                                  stream_.msg != nullptr ? stream_.msg : zError(status)));
    }
    return count;
  }

  void next_member() {
    const auto rest = file_.available();
    at_end_ = rest.empty();
    if (at_end_) return;
    // A lone last byte cannot be told from a magic cut in half; inflate then reports the missing rest.
    if (rest[0] != 0x1f) {
      throw DataError(fmt::format("{}: {} bytes after the end of the gzip data at byte {} belong to nothing",
                                  file_.path(), file_.size() - file_.position(), file_.position()));
    }
    inflateReset(&stream_);
  }

  RawFile& file_;
  z_stream stream_{};
  std::int64_t produced_ = 0;
  bool at_end_ = false;
};

std::size_t read_plain(RawFile& file, std::span<std::uint8_t> out) {
  std::size_t filled = 0;
  while (filled < out.size() && !file.available().empty()) {
    const auto part = file.available().first(std::min(file.available().size(), out.size() - filled));
    std::copy(part.begin(), part.end(), out.begin() + static_cast<std::ptrdiff_t>(filled));
    filled += part.size();
    file.consume(part.size());
  }
  return filled;
}

}  // namespace

class InputFile::Impl {
 public:
  explicit Impl(const std::string& path) : file(path) {
    if (starts_gzip_member(file.available())) gzip = std::make_unique<GzipReader>(file);
  }

  RawFile file;
  std::unique_ptr<GzipReader> gzip;
};

InputFile::InputFile(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
InputFile::~InputFile() = default;

const std::string& InputFile::path() const { return impl_->file.path(); }
bool InputFile::is_gzip() const { return impl_->gzip != nullptr; }
std::int64_t InputFile::file_size() const { return impl_->file.size(); }

std::int64_t InputFile::max_content_size() const { return is_gzip() ? file_size() * max_deflate_ratio : file_size(); }

std::size_t InputFile::read(std::span<std::uint8_t> out) {
  return is_gzip() ? impl_->gzip->read(out) : read_plain(impl_->file, out);
}

}  // namespace tr
