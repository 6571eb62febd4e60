#pragma once

#include <cstdint>

#include "tr/base/flat_list.h"
#include "tr/op/graph.h"

namespace tr {

enum class EdgeKind : std::uint8_t {
  /// One node uses what the other wrote, or writes what the other still had to read.
  data,
  /// The later node writes into memory that held a tensor of the earlier node.
  reuse,
  /// A fence stands between.
  order,
};

/// `from` must have finished before `to` begins; both are positions in the graph's node list.
struct Edge {
  int from = -1;
  int to = -1;
  EdgeKind kind = EdgeKind::data;

  friend constexpr bool operator==(const Edge&, const Edge&) = default;
};

namespace detail {

/// Calls `f(tensor id, is_read, is_written)` once for each tensor that a node touches.
template <class F>
constexpr void for_each_operand(const Node& node, F&& f) {
  for (int id : node.in) {
    if (id < 0) continue;
    bool written = false;
    for (int other : node.out) written |= other == id;
    f(id, true, written);
  }
  for (int id : node.out) {
    if (id < 0) continue;
    bool read = false;
    for (int other : node.in) read |= other == id;
    if (!read) f(id, false, true);
  }
}

/// The readers of each tensor since it was last written, as linked lists in one pool.
class AccessHistory {
 public:
  constexpr explicit AccessHistory(int tensors) : writer_(tensors, -1), readers_(tensors, -1) {}

  /// Reports to `f(node)` what `node` has to wait for because of this access, and records the access.
  template <class F>
  constexpr void access(int tensor, int node, bool written, F&& f) {
    if (writer_[tensor] >= 0) f(writer_[tensor]);
    if (written) {
      for (int e = readers_[tensor]; e >= 0; e = pool_[e].next) f(pool_[e].node);
      writer_[tensor] = node;
      readers_[tensor] = -1;
    } else {
      readers_[tensor] = pool_.push({node, readers_[tensor]});
    }
  }

 private:
  struct Entry {
    int node = -1;
    int next = -1;
  };
  FlatList<int> writer_;
  FlatList<int> readers_;
  FlatList<Entry> pool_;
};

}  // namespace detail

/// The data edges of a graph and the order its fences impose, without duplicates.
constexpr FlatList<Edge> build_edges(const FlatList<Node>& nodes, int tensors) {
  FlatList<Edge> edges;
  detail::AccessHistory history(tensors);
  FlatList<int> seen(nodes.size(), -1);
  FlatList<bool> has_successor(nodes.size(), false);
  int fence = -1;
  for (int v = 0; v < nodes.size(); ++v) {
    const auto add = [&](int u, EdgeKind kind) {
      if (u == v || u < fence || seen[u] == v) return;
      seen[u] = v;
      has_successor[u] = true;
      edges.push({u, v, kind});
    };
    const int before = edges.size();
    detail::for_each_operand(nodes[v], [&](int tensor, bool, bool written) {
      history.access(tensor, v, written, [&](int u) { add(u, EdgeKind::data); });
    });
    if (nodes[v].is_fence()) {
      for (int u = fence < 0 ? 0 : fence; u < v; ++u) {
        if (!has_successor[u]) add(u, EdgeKind::order);
      }
      fence = v;
    } else if (fence >= 0 && edges.size() == before) {
      add(fence, EdgeKind::order);
    }
  }
  return edges;
}

}  // namespace tr
