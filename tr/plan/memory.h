#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "tr/base/aligned.h"
#include "tr/base/flat_list.h"
#include "tr/plan/edges.h"

namespace tr {

/// Where the bytes of a plan lie. Region bytes and offsets count whole alignment units; the transient regions share one
/// pool, which lies at the end of the local arena.
struct MemoryLayout {
  std::array<std::int64_t, region_count> region_offset{};
  std::array<std::int64_t, region_count> region_bytes{};
  std::array<int, region_count> region_tensors{};
  std::int64_t shared_bytes = 0;
  std::int64_t local_bytes = 0;
  std::int64_t transient_offset = 0;
  std::int64_t transient_bytes = 0;
  /// What the pool would take if no two tensors shared memory.
  std::int64_t transient_bytes_unshared = 0;

  friend constexpr bool operator==(const MemoryLayout&, const MemoryLayout&) = default;
};

/// The transient tensors of one graph are those among the ids from `first` to `end`; they never live while another
/// graph's do.
struct TensorSpan {
  int first = 0;
  int end = 0;

  friend constexpr bool operator==(const TensorSpan&, const TensorSpan&) = default;
};

/// What a tensor takes of its region. Weights and their images are rounded to twice the alignment, so that a copy in
/// half the precision lies at exactly half the offset and one range operation can write both.
constexpr std::int64_t slot_bytes(const DTensor& tensor) {
  const bool has_half_copy = tensor.region == Region::w_fc_weight || tensor.region == Region::g_fc_weight ||
                             tensor.region == Region::m_fc_weight || tensor.region == Region::v_fc_weight;
  return has_half_copy ? 2 * align_up((tensor.bytes() + 1) / 2) : align_up(tensor.bytes());
}

namespace detail {

/// Regions one after another in their order, tensors inside a region in the order of their ids.
constexpr void place_regions(FlatList<PlanTensor>& tensors, MemoryLayout& layout) {
  for (const PlanTensor& t : tensors) {
    const int region = static_cast<int>(t.tensor.region);
    layout.region_bytes[region] += slot_bytes(t.tensor);
    ++layout.region_tensors[region];
  }
  std::array<std::int64_t, region_count> next{};
  for (int r = 0; r < region_count; ++r) {
    const Region region = static_cast<Region>(r);
    if (is_transient(region)) continue;
    std::int64_t& total = arena_of(region) == Arena::shared ? layout.shared_bytes : layout.local_bytes;
    layout.region_offset[r] = next[r] = total;
    total += layout.region_bytes[r];
  }
  for (PlanTensor& t : tensors) {
    if (is_transient(t.tensor.region)) continue;
    std::int64_t& at = next[static_cast<int>(t.tensor.region)];
    t.tensor.offset = at;
    at += slot_bytes(t.tensor);
  }
  layout.transient_offset = layout.local_bytes;
}

constexpr FlatList<int> transients_of(const FlatList<PlanTensor>& tensors, TensorSpan span) {
  FlatList<int> ids;
  for (int id = span.first; id < span.end; ++id) {
    if (is_transient(tensors[id].tensor.region)) ids.push(id);
  }
  return ids;
}

/// Largest first, each at the lowest offset where it meets no tensor that lives at the same time (greedy by size:
/// Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020, section 5). Never takes more
/// than the sum.
constexpr std::int64_t place_by_lifetime(FlatList<PlanTensor>& tensors, TensorSpan span, std::int64_t base) {
  FlatList<int> order = transients_of(tensors, span);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const std::int64_t size_a = tensors[a].tensor.bytes();
    const std::int64_t size_b = tensors[b].tensor.bytes();
    return size_a != size_b ? size_a > size_b : a < b;
  });
  FlatList<int> placed;  // by offset
  std::int64_t peak = base;
  for (int id : order) {
    PlanTensor& t = tensors[id];
    const std::int64_t need = slot_bytes(t.tensor);
    std::int64_t offset = base;
    int position = placed.size();
    for (int i = 0; i < placed.size(); ++i) {
      const PlanTensor& other = tensors[placed[i]];
      if (other.last < t.first || t.last < other.first) continue;
      if (other.tensor.offset >= offset + need) break;
      offset = std::max(offset, other.tensor.offset + slot_bytes(other.tensor));
    }
    while (position > 0 && tensors[placed[position - 1]].tensor.offset > offset) --position;
    placed.insert(position, id);
    t.tensor.offset = offset;
    peak = std::max(peak, offset + need);
  }
  return peak - base;
}

constexpr std::int64_t place_in_sequence(FlatList<PlanTensor>& tensors, TensorSpan span, std::int64_t base) {
  std::int64_t at = base;
  for (int id : transients_of(tensors, span)) {
    tensors[id].tensor.offset = at;
    at += slot_bytes(tensors[id].tensor);
  }
  return at - base;
}

}  // namespace detail

/// Gives every tensor its offset; each graph's transient tensors start anew at the pool's first byte.
template <std::size_t Graphs>
constexpr MemoryLayout place(FlatList<PlanTensor>& tensors, const std::array<TensorSpan, Graphs>& graphs, bool share) {
  MemoryLayout layout;
  detail::place_regions(tensors, layout);
  for (const TensorSpan& span : graphs) {
    std::int64_t sum = 0;
    for (int id : detail::transients_of(tensors, span)) sum += slot_bytes(tensors[id].tensor);
    const std::int64_t bytes = share ? detail::place_by_lifetime(tensors, span, layout.transient_offset)
                                     : detail::place_in_sequence(tensors, span, layout.transient_offset);
    layout.transient_bytes = std::max(layout.transient_bytes, bytes);
    layout.transient_bytes_unshared = std::max(layout.transient_bytes_unshared, sum);
  }
  layout.local_bytes += layout.transient_bytes;
  return layout;
}

}  // namespace tr
