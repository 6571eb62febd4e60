#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cuda_sim {

using Address = std::uintptr_t;

/// Bytes of memory: [begin, end).
struct Range {
  Address begin = 0;
  Address end = 0;

  std::size_t bytes() const { return end - begin; }
  bool contains(Address address) const { return address >= begin && address < end; }
  bool contains(const Range& other) const { return other.begin >= begin && other.end <= end; }
};

inline Range range_of(const void* data, std::size_t bytes) {
  const Address begin = reinterpret_cast<Address>(data);
  return {begin, begin + bytes};
}

/// Sorted, and ranges that touch are one.
std::vector<Range> merged(std::vector<Range> ranges);
std::size_t total_bytes(const std::vector<Range>& ranges);
/// The parts of `ranges` (merged) that no range of `cover` (merged) has.
std::vector<Range> uncovered(const std::vector<Range>& ranges, const std::vector<Range>& cover);

}  // namespace cuda_sim
