#pragma once

#include <algorithm>
#include <cstdint>

#include "tr/base/flat_list.h"
#include "tr/op/graph.h"

namespace tr {

/// Norms are sums over chunks of fixed places, taken in the order of the chunks: whoever computes a chunk, and however
/// many ranks there are, the sum of the same numbers has the same bits. A chunk never leaves its tensor, so those of
/// one tensor also give that tensor's norm.
struct Chunk {
  /// Id of the parameter, the chunk's first element in it, and how many it has.
  int tensor = -1;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// At most so many elements make a chunk.
inline constexpr std::int64_t chunk_size = 16384;

constexpr std::int64_t chunk_count(std::int64_t elements) { return (elements + chunk_size - 1) / chunk_size; }

/// The chunks of all parameters in a range of regions, in the order in which they lie in memory.
constexpr FlatList<Chunk> chunks_of(const FlatList<PlanTensor>& tensors, const RegionRange& range) {
  FlatList<Chunk> chunks;
  for (int r = static_cast<int>(range.first); r <= static_cast<int>(range.last); ++r) {
    for (const PlanTensor& t : tensors) {
      if (t.tensor.region != static_cast<Region>(r)) continue;
      const std::int64_t size = t.tensor.shape.size();
      for (std::int64_t first = 0; first < size; first += chunk_size) {
        chunks.push({t.tensor.id, first, std::min(chunk_size, size - first)});
      }
    }
  }
  return chunks;
}

}  // namespace tr
