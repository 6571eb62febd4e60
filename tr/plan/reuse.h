#pragma once

#include <algorithm>
#include <cstdint>

#include "tr/base/flat_list.h"
#include "tr/plan/edges.h"
#include "tr/plan/memory.h"

namespace tr {

namespace detail {

/// For each node, the nodes that must have finished before it: one bit a node.
class Ancestors {
 public:
  constexpr explicit Ancestors(int nodes) : words_((nodes + 63) / 64), bits_(nodes * words_, 0) {}

  constexpr bool has(int node, int ancestor) const {
    return (bits_[node * words_ + ancestor / 64] >> (ancestor % 64) & 1U) != 0;
  }
  constexpr void add(int node, int ancestor) {
    for (int w = 0; w < words_; ++w) bits_[node * words_ + w] |= bits_[ancestor * words_ + w];
    bits_[node * words_ + ancestor / 64] |= std::uint64_t{1} << (ancestor % 64);
  }

 private:
  int words_;
  FlatList<std::uint64_t> bits_;
};

/// Who last held each byte of the transient pool: disjoint pieces, linked in the order of their offsets.
class Owners {
 public:
  /// Reports the owners of [begin, end) to `f` and makes `tensor` the owner.
  template <class F>
  constexpr void take(std::int64_t begin, std::int64_t end, int tensor, F&& f) {
    int before = head;
    int at = pieces_[head].next;
    while (at != none && pieces_[at].end <= begin) {
      before = at;
      at = pieces_[at].next;
    }
    if (at != none && pieces_[at].begin < begin) {
      // What the piece keeps in front of the new one; the rest of it is treated as any other below.
      before = link(before, {pieces_[at].begin, begin, pieces_[at].tensor, at});
      pieces_[at].begin = begin;
    }
    while (at != none && pieces_[at].begin < end) {
      f(pieces_[at].tensor);
      if (pieces_[at].end > end) {
        pieces_[at].begin = end;
        break;
      }
      at = pieces_[at].next;
    }
    link(before, {begin, end, tensor, at});
  }

 private:
  static constexpr int head = 0;
  static constexpr int none = -1;
  struct Piece {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    int tensor = -1;
    int next = none;
  };

  constexpr int link(int before, const Piece& piece) {
    const int at = pieces_.push(piece);
    pieces_[before].next = at;
    return at;
  }

  FlatList<Piece> pieces_{1, Piece()};
};

/// The nodes that touch each tensor of a span, in order.
class Accessors {
 public:
  constexpr Accessors(const FlatList<Node>& nodes, TensorSpan span)
      : first_(span.first), heads_(span.end - span.first, -1) {
    for (int v = 0; v < nodes.size(); ++v) {
      for_each_operand(nodes[v], [&](int id, bool, bool) {
        if (id < span.first || id >= span.end) return;
        int& head = heads_[id - first_];
        head = pool_.push({v, head});
      });
    }
  }
  /// From the last to the first.
  template <class F>
  constexpr void for_each_backwards(int tensor, F&& f) const {
    for (int e = heads_[tensor - first_]; e >= 0; e = pool_[e].next) f(pool_[e].node);
  }

 private:
  struct Entry {
    int node = -1;
    int next = -1;
  };
  int first_;
  FlatList<int> heads_;
  FlatList<Entry> pool_;
};

}  // namespace detail

/// Appends the reuse edges of a graph: from every node that touches a tensor to the first node of the tensor that takes
/// over its memory, unless other edges already imply it. With them, any order that respects all edges gives the same
/// bits.
constexpr void append_reuse_edges(const FlatList<Node>& nodes, const FlatList<PlanTensor>& tensors, TensorSpan span,
                                  FlatList<Edge>& edges) {
  detail::Ancestors ancestors(nodes.size());
  detail::Owners owners;
  const detail::Accessors accessors(nodes, span);
  const int data_edges = edges.size();
  int next_edge = 0;  // edges come sorted by their target
  for (int v = 0; v < nodes.size(); ++v) {
    for (; next_edge < data_edges && edges[next_edge].to == v; ++next_edge) ancestors.add(v, edges[next_edge].from);
    detail::for_each_operand(nodes[v], [&](int id, bool, bool) {
      if (id < span.first || id >= span.end || tensors[id].first != v) return;
      const DTensor& tensor = tensors[id].tensor;
      if (!is_transient(tensor.region) || tensor.bytes() == 0) return;
      owners.take(tensor.offset, tensor.offset + slot_bytes(tensor), id, [&](int old) {
        accessors.for_each_backwards(old, [&](int u) {
          if (ancestors.has(v, u)) return;
          ancestors.add(v, u);
          edges.push({u, v, EdgeKind::reuse});
        });
      });
    });
  }
}

}  // namespace tr
