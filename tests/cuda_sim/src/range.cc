#include "tests/cuda_sim/src/range.h"

#include <algorithm>

namespace cuda_sim {

std::vector<Range> merged(std::vector<Range> ranges) {
  std::erase_if(ranges, [](const Range& range) { return range.begin >= range.end; });
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> result;
  for (const Range& range : ranges) {
    if (!result.empty() && range.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, range.end);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

std::size_t total_bytes(const std::vector<Range>& ranges) {
  std::size_t bytes = 0;
  for (const Range& range : ranges) bytes += range.bytes();
  return bytes;
}

std::vector<Range> uncovered(const std::vector<Range>& ranges, const std::vector<Range>& cover) {
  std::vector<Range> result;
  std::size_t next = 0;
  for (Range rest : ranges) {
    while (next < cover.size() && cover[next].end <= rest.begin) ++next;
    for (std::size_t i = next; i < cover.size() && cover[i].begin < rest.end; ++i) {
      if (cover[i].begin > rest.begin) result.push_back({rest.begin, cover[i].begin});
      rest.begin = std::min(cover[i].end, rest.end);
    }
    if (rest.begin < rest.end) result.push_back(rest);
  }
  return result;
}

}  // namespace cuda_sim
