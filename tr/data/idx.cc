#include "tr/data/idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string_view>

#include "tr/base/error.h"
#include "tr/data/input_file.h"

namespace tr {
namespace {

constexpr std::uint8_t unsigned_byte = 0x08;

std::string_view element_name(std::uint8_t code) {
  switch (code) {
    case unsigned_byte: return "unsigned bytes";
    case 0x09: return "signed bytes";
    case 0x0b: return "16-bit integers";
    case 0x0c: return "32-bit integers";
    case 0x0d: return "32-bit floats";
    case 0x0e: return "64-bit floats";
    default: return {};
  }
}

/// What a file of this rank holds, in a reader's words.
std::string content_name(int rank) {
  if (rank == 1) return "labels (1 dimension)";
  if (rank == 3) return "images (3 dimensions)";
  return fmt::format("an array of {} dimensions", rank);
}

void read_header(InputFile& file, std::span<std::uint8_t> out, std::int64_t position) {
  const auto count = static_cast<std::int64_t>(file.read(out));
  if (count == static_cast<std::int64_t>(out.size())) return;
  throw DataError(fmt::format("{}: the IDX header needs {} bytes, the {} ends after {}", file.path(),
                              position + static_cast<std::int64_t>(out.size()),
                              file.is_gzip() ? "decompressed content" : "file", position + count));
}

void check_magic(const InputFile& file, std::span<const std::uint8_t, 4> magic, int rank) {
  const auto element = element_name(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || element.empty() || magic[3] == 0) {
    throw DataError(
        fmt::format("{}: not an IDX file: it starts with {:02X} {:02X} {:02X} {:02X}, expected 00 00 08 "
                    "{:02X}",
                    file.path(), magic[0], magic[1], magic[2], magic[3], rank));
  }
  if (magic[3] != rank) {
    throw DataError(fmt::format("{}: these are {}, expected are {}; are two files swapped?", file.path(),
                                content_name(magic[3]), content_name(rank)));
  }
  if (magic[2] != unsigned_byte) {
    throw DataError(fmt::format("{}: the elements are {} (type {:02X} at byte 2), expected are {} (type {:02X})",
                                file.path(), element, magic[2], element_name(unsigned_byte), unsigned_byte));
  }
}

/// Throws unless a file whose header takes `header` bytes can hold `payload` more, before anything is allocated.
void check_promise(const InputFile& file, std::int64_t header, std::int64_t payload, std::uint32_t count) {
  const std::int64_t expected = header + payload;
  if (!file.is_gzip() && file.file_size() != expected) {
    throw DataError(fmt::format("{}: expected {} bytes for the {} samples of its header, the file has {}", file.path(),
                                expected, count, file.file_size()));
  }
  if (expected > file.max_content_size()) {
    throw DataError(
        fmt::format("{}: expected {} bytes for the {} samples of its header, a gzip file of {} bytes "
                    "holds at most {}",
                    file.path(), expected, count, file.file_size(), file.max_content_size()));
  }
  if (count > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) {
    throw DataError(fmt::format("{}: {} samples, at most {} are supported", file.path(), count,
                                std::numeric_limits<std::int32_t>::max()));
  }
}

/// Reads exactly `payload` bytes. Memory grows with what has really arrived, so that a header's lie costs at most twice
/// the bytes that are there.
std::vector<std::uint8_t> read_payload(InputFile& file, std::int64_t header, std::int64_t payload) {
  const auto expected = static_cast<std::size_t>(payload);
  // Eight times: images of digits compress about five-fold, so usually the first allocation is the last.
  std::size_t target = std::min(expected, 8 * static_cast<std::size_t>(file.file_size()));
  std::vector<std::uint8_t> values;
  std::size_t filled = 0;
  while (filled < expected) {
    values.resize(target);
    filled += file.read(std::span(values).subspan(filled));
    if (filled < target) {
      throw DataError(fmt::format("{}: expected {} bytes{}, found {}", file.path(), header + payload,
                                  file.is_gzip() ? " after decompression" : "",
                                  header + static_cast<std::int64_t>(filled)));
    }
    target = std::min(expected, 2 * target);
  }
  std::uint8_t extra = 0;
  if (file.read({&extra, 1}) != 0) {
    throw DataError(fmt::format("{}: expected {} bytes{}, more follow", file.path(), header + payload,
                                file.is_gzip() ? " after decompression" : ""));
  }
  return values;
}

std::uint32_t big_endian(std::span<const std::uint8_t, 4> bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

/// Reads a file of shape [count, inner...].
template <std::size_t rank>
std::vector<std::uint8_t> read_idx(const std::string& path, const std::array<int, rank - 1>& inner) {
  constexpr std::int64_t header = 4 + 4 * static_cast<std::int64_t>(rank);
  InputFile file(path);
  std::array<std::uint8_t, 4> magic{};
  read_header(file, magic, 0);
  check_magic(file, magic, rank);

  std::array<std::uint8_t, 4 * rank> sizes{};
  read_header(file, sizes, 4);
  const auto size_at = [&](std::size_t i) { return big_endian(std::span<const std::uint8_t, 4>(&sizes[4 * i], 4)); };
  std::int64_t payload = size_at(0);
  for (std::size_t i = 1; i < rank; ++i) {
    if (size_at(i) != static_cast<std::uint32_t>(inner[i - 1])) {
      throw DataError(fmt::format("{}: dimension {} is {} (byte {}), expected is {}", path, i, size_at(i), 4 + 4 * i,
                                  inner[i - 1]));
    }
    payload *= inner[i - 1];
  }
  check_promise(file, header, payload, size_at(0));
  return read_payload(file, header, payload);
}

}  // namespace

IdxImages read_idx_images(const std::string& path, int height, int width) {
  IdxImages images;
  images.pixels = read_idx<3>(path, {height, width});
  images.count =
      static_cast<int>(images.pixels.size() / (static_cast<std::size_t>(height) * static_cast<std::size_t>(width)));
  return images;
}

std::vector<std::uint8_t> read_idx_labels(const std::string& path) { return read_idx<1>(path, {}); }

}  // namespace tr
