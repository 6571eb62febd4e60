#include "tests/cuda_sim/src/touched.h"

#include <algorithm>
#include <bit>

namespace cuda_sim {

void Touched::set_valid(const Range& range, bool valid) {
  const std::size_t end = range.end - begin_;
  if (pages_.size() * page_bytes < end) pages_.resize((end + page_bytes - 1) / page_bytes);
  for (std::size_t at = range.begin - begin_; at < end;) {
    std::unique_ptr<Page>& page = pages_[at / page_bytes];
    if (page == nullptr) page = std::make_unique<Page>();
    const std::size_t bit = at % 64, count = std::min(64 - bit, end - at);
    const std::uint64_t mask = (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << bit;
    std::uint64_t& word = page->valid[at / 64 % words];
    word = valid ? word | mask : word & ~mask;
    at += count;
  }
}

bool Touched::access_slowly(Address address, std::size_t bytes, bool write) {
  if ((address - begin_) / page_bytes >= pages_.size()) return false;
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, 64 - (address - begin_) % 64);
    if (!access(address, part, write)) return false;
    address += part;
    bytes -= part;
  }
  return true;
}

void Touched::open(Page& page, std::size_t index) {
  page.epoch = epoch_;
  for (auto& words_of : page.touched) words_of.fill(0);
  open_.push_back(index);
}

void Touched::start() {
  ++epoch_;
  open_.clear();
}

std::vector<Range> Touched::collect(bool write) {
  std::sort(open_.begin(), open_.end());
  std::vector<Range> result;
  for (const std::size_t index : open_) {
    const auto& bits = pages_[index]->touched[write ? 1 : 0];
    for (std::size_t word = 0; word < words; ++word) {
      std::uint64_t left = bits[word];
      while (left != 0) {
        const int first = std::countr_zero(left), length = std::countr_one(left >> first);
        const Address begin = begin_ + index * page_bytes + word * 64 + static_cast<std::size_t>(first);
        const Address end = begin + static_cast<std::size_t>(length);
        if (!result.empty() && result.back().end == begin) {
          result.back().end = end;
        } else {
          result.push_back({begin, end});
        }
        const std::uint64_t done = length == 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << length) - 1) << first;
        left &= ~done;
      }
    }
  }
  return result;
}

}  // namespace cuda_sim
