#include "tr/data/shuffle.h"

#include <algorithm>
#include <utility>

namespace tr {

EpochShuffle::EpochShuffle(std::uint64_t seed, int epoch, std::span<std::int32_t> order)
    : random_(seed, Purpose::shuffle, 0, static_cast<std::uint32_t>(epoch)), epoch_(epoch), order_(order) {}

void EpochShuffle::advance(std::int64_t count) {
  const auto size = static_cast<std::int64_t>(order_.size());
  const auto end = static_cast<std::uint32_t>(std::min(size, placed_ + count));
  for (; placed_ < end; ++placed_) {
    const std::uint32_t other = next_below(placed_ + 1);
    order_[placed_] = order_[other];
    order_[other] = static_cast<std::int32_t>(placed_);
  }
}

std::uint32_t EpochShuffle::next_bits() {
  if (drawn_ % 4 == 0) block_ = random_.block(drawn_ / 4);
  return block_[drawn_++ % 4];
}

// Lemire, Fast random integer generation in an interval, ACM TOMACS 2019: the upper half of bits·range, drawn again in
// the 2^32 mod range cases that would favour some results.
std::uint32_t EpochShuffle::next_below(std::uint32_t range) {
  std::uint64_t product = std::uint64_t{next_bits()} * range;
  if (static_cast<std::uint32_t>(product) < range) {
    const std::uint32_t surplus = (0U - range) % range;
    while (static_cast<std::uint32_t>(product) < surplus) product = std::uint64_t{next_bits()} * range;
  }
  return static_cast<std::uint32_t>(product >> 32);
}

EpochOrder::EpochOrder(std::uint64_t seed, int size)
    : seed_(seed),
      memory_(2 * static_cast<std::size_t>(size)),
      current_(seed, 0, std::span(memory_).first(static_cast<std::size_t>(size))),
      next_(seed, 1, std::span(memory_).last(static_cast<std::size_t>(size))) {}

std::span<const std::int32_t> EpochOrder::of(int epoch) {
  if (current_.epoch() != epoch) {
    if (next_.epoch() == epoch) {
      std::swap(current_, next_);
    } else {
      current_ = EpochShuffle(seed_, epoch, current_.order());
    }
    next_ = EpochShuffle(seed_, epoch + 1, next_.order());
  }
  current_.finish();
  return current_.order();
}

}  // namespace tr
