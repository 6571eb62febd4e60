#include "tr/exec/arenas.h"

namespace tr {

Arenas::Arenas(std::span<const MemoryPlan> layouts) : shared_(static_cast<std::size_t>(layouts.front().shared_bytes)) {
  local_.reserve(layouts.size());
  for (const MemoryPlan& layout : layouts) local_.emplace_back(static_cast<std::size_t>(layout.local_bytes));
}

std::byte* Arenas::address(const DTensor& tensor, int rank) const {
  std::byte* base = tensor.arena() == Arena::shared ? shared_.data() : local_[static_cast<std::size_t>(rank)].data();
  return base + tensor.offset;
}

}  // namespace tr
