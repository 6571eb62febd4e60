#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tr {

using Bytes = std::vector<std::uint8_t>;

/// A directory of its own, removed with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  /// Path of a file in the directory.
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const Bytes& bytes) const;

 private:
  std::string path_;
};

/// One gzip member.
Bytes gzipped(const Bytes& bytes);

/// The bytes of `a` followed by those of `b`.
Bytes operator+(Bytes a, const Bytes& b);

/// An IDX file of unsigned bytes: magic, sizes, values.
Bytes idx_file(const std::vector<std::uint32_t>& sizes, const Bytes& values);

/// Bytes 0, 1, 2, … with a period that divides no power of two.
Bytes counting(std::size_t count);

/// The message of the exception of type E that `action` throws; another or none fails the test that looks into it.
template <class E, class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace tr
