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
struct MemoryPlan {
  std::array<std::int64_t, region_count> region_offset{};
  std::array<std::int64_t, region_count> region_bytes{};
  std::array<int, region_count> region_tensors{};
  std::int64_t shared_bytes = 0;
  std::int64_t local_bytes = 0;
  std::int64_t transient_offset = 0;
  std::int64_t transient_bytes = 0;
  /// What the pool would take if no two tensors shared memory.
  std::int64_t transient_bytes_unshared = 0;

  constexpr std::int64_t offset_of(Region region) const { return region_offset[static_cast<int>(region)]; }
  /// Regions of a range lie without a gap between them.
  constexpr std::int64_t bytes_of(RegionRange range) const {
    std::int64_t bytes = 0;
    for (int r = static_cast<int>(range.first); r <= static_cast<int>(range.last); ++r) bytes += region_bytes[r];
    return bytes;
  }

  friend constexpr bool operator==(const MemoryPlan&, const MemoryPlan&) = default;
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
  return is_weight_or_image(tensor.region) ? 2 * align_up((tensor.bytes() + 1) / 2) : align_up(tensor.bytes());
}

namespace detail {

/// Regions one after another in their order, tensors inside a region in the order of their ids.
constexpr void place_regions(FlatList<PlanTensor>& tensors, MemoryPlan& layout) {
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

/// Ranges of the pool in the order of their offsets, each with the nodes during which some tensor holds it. Finding a
/// place is the planner's dearest loop and the compiler counts its every step: hence ranges and not tensors, which are
/// many more, and a linked list, inside which nothing has to be moved.
class HeldRanges {
 public:
  /// For at most so many tensors, which live from node 0 to `last_node`.
  constexpr HeldRanges(int tensors, int last_node)
      : words_(last_node / 64 + 1), ranges_(tensors + 1), held_((tensors + 1) * words_, 0) {}

  /// The lowest offset from `base` on where `need` bytes are free from node `first` to node `last`; they are taken.
  constexpr std::int64_t take(std::int64_t base, std::int64_t need, int first, int last) {
    std::int64_t begin = base;
    std::int64_t end = base + need;
    const int word = first / 64;
    const std::uint64_t bits = mask(word, first, last);
    Range* before = ranges_.data();
    for (Range* range = before->next; range != nullptr && range->begin < end; range = range->next) {
      before = range;
      if (range->end <= begin) continue;
      if ((range->held[word] & bits) == 0 && !is_held_later(*range, first, last)) continue;
      begin = range->end;
      end = begin + need;
    }
    // Ranges that others hold at other times may begin behind the place found.
    while (before->begin > begin) before = before->previous;
    Range* same = before;
    while (same->begin == begin && same->end != end) same = same->previous;
    hold(same->begin == begin ? *same : insert(*before, begin, end), first, last);
    return begin;
  }

 private:
  struct Range {
    std::int64_t begin = -1;
    std::int64_t end = -1;
    std::uint64_t* held = nullptr;  // one bit a node
    Range* previous = nullptr;
    Range* next = nullptr;
  };

  /// The bits of word w that stand for the nodes from `first` to `last`.
  static constexpr std::uint64_t mask(int w, int first, int last) {
    std::uint64_t bits = ~std::uint64_t{0};
    if (w == first / 64) bits <<= first % 64;
    if (w == last / 64) bits &= ~std::uint64_t{0} >> (63 - last % 64);
    return bits;
  }
  /// Whether a bit is set behind the word of `first`.
  static constexpr bool is_held_later(const Range& range, int first, int last) {
    for (int w = first / 64 + 1; w <= last / 64; ++w) {
      if ((range.held[w] & mask(w, first, last)) != 0) return true;
    }
    return false;
  }
  static constexpr void hold(Range& range, int first, int last) {
    for (int w = first / 64; w <= last / 64; ++w) range.held[w] |= mask(w, first, last);
  }
  constexpr Range& insert(Range& before, std::int64_t begin, std::int64_t end) {
    ++size_;
    Range& range = ranges_[size_];
    range = {begin, end, held_.data() + size_ * words_, &before, before.next};
    if (before.next != nullptr) before.next->previous = &range;
    before.next = &range;
    return range;
  }

  int words_;
  int size_ = 0;
  FlatList<Range> ranges_;  // The first, before all offsets, is where the list begins.
  FlatList<std::uint64_t> held_;
};

/// Largest first, each at the lowest offset where it meets no tensor that lives at the same time (greedy by size:
/// Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020, section 5). Never takes more
/// than the sum.
constexpr std::int64_t place_by_lifetime(FlatList<PlanTensor>& tensors, TensorSpan span, std::int64_t base) {
  struct Sized {
    std::int64_t bytes = 0;
    int id = -1;
  };
  FlatList<Sized> order;
  int last_node = 0;
  for (int id : transients_of(tensors, span)) {
    order.push({slot_bytes(tensors[id].tensor), id});
    last_node = std::max(last_node, tensors[id].last);
  }
  std::sort(order.begin(), order.end(),
            [](const Sized& a, const Sized& b) { return a.bytes != b.bytes ? a.bytes > b.bytes : a.id < b.id; });
  HeldRanges held(order.size(), last_node);
  std::int64_t peak = base;
  for (const Sized& sized : order) {
    PlanTensor& t = tensors[sized.id];
    // A tensor that no node touches lives nowhere, but gets a place.
    t.tensor.offset = held.take(base, sized.bytes, std::max(t.first, 0), std::max(t.last, 0));
    peak = std::max(peak, t.tensor.offset + sized.bytes);
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
constexpr MemoryPlan place(FlatList<PlanTensor>& tensors, const std::array<TensorSpan, Graphs>& graphs, bool share) {
  MemoryPlan layout;
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
