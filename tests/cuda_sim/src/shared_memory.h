#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "tests/cuda_sim/src/range.h"

namespace cuda_sim {

/// Who touches a block's shared memory, and after how many barriers.
struct SharedAccess {
  std::uint32_t thread;      // in the block
  std::uint32_t barriers;    // that the thread has passed
  std::uint32_t warp_steps;  // operations of its warp that it has passed
  bool atomic;
};

/// The shared memory of the block that runs: finds threads that touch the same bytes with no barrier between. Static
/// memory that a kernel writes is taken for shared memory, since `__shared__` means `static` here.
class SharedMemory {
 public:
  static constexpr std::size_t most_bytes = std::size_t{48} << 10;

  SharedMemory();

  /// The other thread, if this access races with one of its.
  std::optional<std::uint32_t> access(Address address, std::size_t bytes, bool write, const SharedAccess& by);
  /// Bytes that the block wrote.
  std::size_t written_bytes() const { return written_.size() * granule; }
  /// Poisons what the block wrote, and forgets it.
  void end_block();
  /// Whether since the last call a block read what only another block wrote, or what was written after.
  bool take_unset_reads();

 private:
  static constexpr std::size_t granule = 4;
  static constexpr std::size_t capacity = std::size_t{1} << 15;

  /// What is known of four bytes. The masks have a bit a byte.
  struct Cell {
    Address key = 0;
    std::uint64_t block = 0;
    SharedAccess writer = {};
    std::array<SharedAccess, 2> readers = {};
    std::uint8_t write_mask = 0;
    std::array<std::uint8_t, 2> read_masks = {};
  };

  Cell& cell(Address key);
  static void note_reader(Cell& cell, std::uint8_t mask, const SharedAccess& by);
  static std::optional<std::uint32_t> rival(const Cell& cell, std::uint8_t mask, bool write, const SharedAccess& by);

  std::vector<Cell> cells_;
  std::vector<Address> written_;
  std::unordered_set<Address> unset_reads_, ever_written_;
  std::uint64_t block_ = 1;
  std::size_t used_ = 0;
};

}  // namespace cuda_sim
