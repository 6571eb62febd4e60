#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tr/base/philox.h"

namespace tr {

/// Shuffles one epoch's order, as much at a time as the caller likes: a uniformly random permutation of
/// [0, order.size()), a pure function of the size, the seed and the epoch.
///
/// The inside-out form of the Fisher–Yates shuffle (Knuth, The Art of Computer Programming 2, algorithm P): after n
/// elements the first n places hold a permutation of [0, n), so no pass has to number the elements first.
class EpochShuffle {
 public:
  /// `order` must stay alive; nothing is written before advance().
  EpochShuffle(std::uint64_t seed, int epoch, std::span<std::int32_t> order);

  /// Places up to `count` more elements.
  void advance(std::int64_t count);
  /// Places all that are left; only then the order is valid.
  void finish() { advance(static_cast<std::int64_t>(order_.size())); }

  int epoch() const { return epoch_; }
  std::span<std::int32_t> order() const { return order_; }

 private:
  std::uint32_t next_bits();
  /// A number in [0, range), each equally likely.
  std::uint32_t next_below(std::uint32_t range);

  RandomStream random_;
  int epoch_;
  std::span<std::int32_t> order_;
  std::uint32_t placed_ = 0;
  std::uint64_t drawn_ = 0;
  std::array<std::uint32_t, 4> block_{};
};

/// The orders of one epoch after the other, the next one prepared while the current one is used. Allocates when
/// constructed and never again.
class EpochOrder {
 public:
  EpochOrder(std::uint64_t seed, int size);
  // A copy would shuffle in the original's memory; a move takes that memory along.
  EpochOrder(EpochOrder&&) = default;
  EpochOrder& operator=(EpochOrder&&) = default;

  /// The order of `epoch`. What prepare_next() has left undone is done now. A span is valid until the next call for
  /// another epoch.
  std::span<const std::int32_t> of(int epoch);
  /// Places `count` elements of the order of the epoch after the one asked for last.
  void prepare_next(std::int64_t count) { next_.advance(count); }

 private:
  std::uint64_t seed_;
  std::vector<std::int32_t> memory_;
  EpochShuffle current_;
  EpochShuffle next_;
};

}  // namespace tr
