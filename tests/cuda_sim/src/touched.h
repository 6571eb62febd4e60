#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/cuda_sim/src/range.h"

namespace cuda_sim {

/// What one kernel at a time reads and writes in one window of memory, byte by byte.
class Touched {
 public:
  explicit Touched(Address begin) : begin_(begin) {}

  /// From now on the bytes of the range may, or may not, be touched.
  void set_valid(const Range& range, bool valid);

  /// Notes an access of up to 64 bytes. False, and nothing noted, if a byte of it is not valid.
  bool access(Address address, std::size_t bytes, bool write) {
    const std::size_t offset = address - begin_, word = offset / 64 % words, bit = offset % 64;
    if (offset / page_bytes >= pages_.size() || bit + bytes > 64) return access_slowly(address, bytes, write);
    Page* page = pages_[offset / page_bytes].get();
    const std::uint64_t mask = (bytes == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes) - 1) << bit;
    if (page == nullptr || (page->valid[word] & mask) != mask) return false;
    if (page->epoch != epoch_) open(*page, offset / page_bytes);
    page->touched[write ? 1 : 0][word] |= mask;
    return true;
  }

  /// Forgets the accesses so far.
  void start();
  /// The bytes read (or written) since then, merged.
  std::vector<Range> collect(bool write);

 private:
  static constexpr std::size_t page_bytes = 4096;
  static constexpr std::size_t words = page_bytes / 64;

  /// A bit a byte.
  struct Page {
    std::uint64_t epoch = 0;
    std::array<std::uint64_t, words> valid = {};
    std::array<std::array<std::uint64_t, words>, 2> touched = {};
  };

  bool access_slowly(Address address, std::size_t bytes, bool write);
  void open(Page& page, std::size_t index);

  Address begin_;
  std::uint64_t epoch_ = 1;
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<std::size_t> open_;  // pages touched in this epoch
};

}  // namespace cuda_sim
