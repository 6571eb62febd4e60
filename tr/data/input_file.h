#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tr {

/// A file read once from front to back, decompressed on the way when its first bytes are gzip's magic 1F 8B, whatever
/// its name. Several gzip members one after another read as one (RFC 1952, 2.2); every member's CRC and length are
/// checked.
///
/// All failures are DataError with the path and, where there is one, the byte.
class InputFile {
 public:
  /// Refuses what is not a regular file: reading a pipe or a device could block for ever.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const;
  bool is_gzip() const;
  /// Bytes on disk.
  std::int64_t file_size() const;
  /// The most bytes that reading can yield: exactly file_size() for a plain file; for gzip what the format's best
  /// possible ratio allows, so that a promise beyond it is known to be false before any of it is allocated.
  std::int64_t max_content_size() const;

  /// Fills `out`; returns fewer bytes than asked only at the end of the content, which for gzip means that the end was
  /// reached and its checksum verified.
  std::size_t read(std::span<std::uint8_t> out);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tr
