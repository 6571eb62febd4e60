#pragma once

#include <array>
#include <cstdint>

#include "tr/base/error.h"

namespace tr {

/// Philox4x32-10, a bijection of the counter chosen by the key (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as
/// easy as 1, 2, 3. SC 2011).
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  auto [c0, c1, c2, c3] = counter;
  auto [k0, k1] = key;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t even = std::uint64_t{0xD2511F53U} * c0;
    const std::uint64_t odd = std::uint64_t{0xCD9E8D57U} * c2;
    c0 = static_cast<std::uint32_t>(odd >> 32) ^ c1 ^ k0;
    c2 = static_cast<std::uint32_t>(even >> 32) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(odd);
    c3 = static_cast<std::uint32_t>(even);
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return {c0, c1, c2, c3};
}

/// A number in (0, 1), never 0 and never 1, from the upper 24 bits: (⌊bits / 2^8⌋ + 1/2) / 2^24. Exact in double; the
/// largest value does not fit into a float, which would round it to 1.
constexpr double uniform(std::uint32_t bits) { return (static_cast<double>(bits >> 8) + 0.5) * 0x1p-24; }

/// What random numbers are drawn for; part of the counter, so that no two uses share a draw.
enum class Purpose : std::uint8_t { init, shuffle, dropout, augment };

/// One independent sequence of random numbers, a pure function of the element's index: who asks, when and in what order
/// cannot change a draw. key = seed; counter words = element/4 (two words, the lower first), step, purpose | id.
class RandomStream {
 public:
  /// `id` tells the uses of one purpose apart (a parameter, a layer, a data set), `step` their repetitions (a step or
  /// an epoch). Throws ValueError when the id does not fit into 24 bits.
  constexpr RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t id, std::uint32_t step = 0)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        step_(step),
        use_(static_cast<std::uint32_t>(purpose) << 24 | id) {
    if (id >> 24 != 0) value_error("the id of a random stream", id, "0 to 16777215");
  }

  /// The draws of the elements 4·index to 4·index + 3.
  constexpr std::array<std::uint32_t, 4> block(std::uint64_t index) const {
    return philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), step_, use_}, key_);
  }

  /// 32 random bits for one element; whoever needs many neighbours takes whole blocks.
  constexpr std::uint32_t bits(std::uint64_t element) const { return block(element / 4)[element % 4]; }

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint32_t step_;
  std::uint32_t use_;
};

}  // namespace tr
