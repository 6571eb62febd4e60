#include "tests/cuda_sim/src/shared_memory.h"

#include <algorithm>
#include <cstring>

namespace cuda_sim {
namespace {

bool ordered(const SharedAccess& before, const SharedAccess& now) {
  if (before.thread == now.thread || before.barriers != now.barriers) return true;
  return before.thread / 32 == now.thread / 32 && before.warp_steps != now.warp_steps;
}

}  // namespace

SharedMemory::SharedMemory() : cells_(capacity) {}

SharedMemory::Cell& SharedMemory::cell(Address key) {
  std::size_t at = key * 0x9e3779b97f4a7c15ULL >> 49;
  for (;; at = (at + 1) % capacity) {
    Cell& found = cells_[at];
    if (found.block == block_ && found.key == key) return found;
    if (found.block == block_) continue;
    // Read-only tables may be larger than any shared memory: what does not fit is not watched.
    if (++used_ > capacity / 2) {
      ++block_;
      used_ = 1;
    }
    found = Cell{.key = key, .block = block_};
    return found;
  }
}

void SharedMemory::note_reader(Cell& cell, std::uint8_t mask, const SharedAccess& by) {
  auto& [first, second] = cell.readers;
  if (cell.read_masks[0] == 0 || first.thread == by.thread || first.barriers != by.barriers) {
    if (cell.read_masks[0] != 0 && first.barriers != by.barriers) cell.read_masks = {};
    first = by;
    cell.read_masks[0] |= mask;
  } else if (cell.read_masks[1] == 0 || second.thread / 32 == first.thread / 32) {
    // One of another warp is worth more: an operation of the warp does not order it.
    if (second.thread != by.thread) cell.read_masks[1] = 0;
    second = by;
    cell.read_masks[1] |= mask;
  }
}

std::optional<std::uint32_t> SharedMemory::rival(const Cell& cell, std::uint8_t mask, bool write,
                                                 const SharedAccess& by) {
  const bool both_atomic = cell.writer.atomic && by.atomic;
  if ((cell.write_mask & mask) != 0 && !both_atomic && !ordered(cell.writer, by)) return cell.writer.thread;
  if (!write) return std::nullopt;
  for (std::size_t i = 0; i < cell.readers.size(); ++i) {
    if ((cell.read_masks[i] & mask) != 0 && !ordered(cell.readers[i], by)) return cell.readers[i].thread;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> SharedMemory::access(Address address, std::size_t bytes, bool write,
                                                  const SharedAccess& by) {
  for (const Address end = address + bytes; address < end;) {
    const Address key = address / granule, next = std::min((key + 1) * granule, end);
    const std::uint8_t mask = static_cast<std::uint8_t>(((1U << (next - address)) - 1) << (address % granule));
    Cell& at = cell(key);
    if (const auto other = rival(at, mask, write, by)) return other;
    if (write) {
      if (at.write_mask == 0) written_.push_back(key);
      if (at.writer.thread != by.thread || at.writer.barriers != by.barriers) at.write_mask = 0;
      at.writer = by;
      at.write_mask |= mask;
    } else {
      if (at.write_mask == 0 && at.read_masks[0] == 0) unset_reads_.insert(key);
      note_reader(at, mask, by);
    }
    address = next;
  }
  return std::nullopt;
}

void SharedMemory::end_block() {
  for (const Address key : written_) {
    ever_written_.insert(key);
    std::memset(reinterpret_cast<void*>(key * granule), 0xff, granule);  // NOLINT(performance-no-int-to-ptr)
  }
  written_.clear();
  ++block_;
  used_ = 0;
}

bool SharedMemory::take_unset_reads() {
  const bool result =
      std::any_of(unset_reads_.begin(), unset_reads_.end(), [&](Address key) { return ever_written_.contains(key); });
  unset_reads_.clear();
  ever_written_.clear();
  return result;
}

}  // namespace cuda_sim
