#include "tr/plan/edges.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/plan/random_model.h"
#include "tr/plan/runtime.h"

namespace tr {
namespace {

/// reach[v][u]: u must have finished before v, by a closure computed the slow and obvious way.
std::vector<std::vector<bool>> closure(int nodes, const std::vector<Edge>& edges) {
  std::vector<std::vector<bool>> reach(nodes, std::vector<bool>(nodes, false));
  for (int v = 0; v < nodes; ++v) {
    for (const Edge& e : edges) {
      if (e.to != v) continue;
      reach[v][e.from] = true;
      for (int u = 0; u < nodes; ++u) {
        if (reach[e.from][u]) reach[v][u] = true;
      }
    }
  }
  return reach;
}

std::vector<Edge> sorted_edges(const ComputationGraph& graph) {
  std::vector<Edge> edges(graph.edges.begin(), graph.edges.end());
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.to < b.to; });
  return edges;
}

bool touches(const Node& node, int id) {
  return std::count(node.in.begin(), node.in.end(), id) + std::count(node.out.begin(), node.out.end(), id) > 0;
}
bool writes(const Node& node, int id) { return std::count(node.out.begin(), node.out.end(), id) > 0; }

bool overlap(const DTensor& a, const DTensor& b) {
  return is_transient(a.region) && is_transient(b.region) && a.offset < b.offset + slot_bytes(b) &&
         b.offset < a.offset + slot_bytes(a) && a.bytes() > 0 && b.bytes() > 0;
}

/// Two nodes may run in either order only if neither writes a byte the other touches.
bool conflict(const Plan& plan, const Node& a, const Node& b) {
  for (const PlanTensor& s : plan.tensors) {
    if (!touches(a, s.tensor.id)) continue;
    for (const PlanTensor& t : plan.tensors) {
      if (!touches(b, t.tensor.id)) continue;
      const bool same = s.tensor.id == t.tensor.id;
      if ((same || overlap(s.tensor, t.tensor)) && (writes(a, s.tensor.id) || writes(b, t.tensor.id))) return true;
    }
  }
  return a.is_fence() || b.is_fence();
}

}  // namespace

TEST_CASE("nodes that touch the same bytes are ordered by the edges, whatever the model") {
  std::mt19937 random(11);
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const RandomModel model = random_model(random);
    PlanSpec spec = random_spec(random);
    spec.train_rows = spec.evaluate_rows = 5;
    spec.share_memory = true;
    const Plan plan = make_plan(model.spec(), spec);
    for (const ComputationGraph& graph : plan.atlas.graphs) {
      const auto reach = closure(graph.nodes.size(), sorted_edges(graph));
      bool ordered = true;
      for (int v = 0; v < graph.nodes.size(); ++v) {
        for (int u = 0; u < v; ++u) ordered &= reach[v][u] || !conflict(plan, graph.nodes[u], graph.nodes[v]);
      }
      CHECK(ordered);
    }
  }
}

TEST_CASE("no reuse edge follows from the others") {
  std::mt19937 random(12);
  int reuse_edges = 0;
  for (int i = 0; i < 40; ++i) {
    const RandomModel model = random_model(random);
    const Plan plan = make_plan(model.spec(), {.train_rows = 5, .evaluate_rows = 5});
    for (const ComputationGraph& graph : plan.atlas.graphs) {
      const std::vector<Edge> edges = sorted_edges(graph);
      for (std::size_t e = 0; e < edges.size(); ++e) {
        if (edges[e].kind != EdgeKind::reuse) continue;
        ++reuse_edges;
        std::vector<Edge> others = edges;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(e));
        CHECK_FALSE(closure(graph.nodes.size(), others)[edges[e].to][edges[e].from]);
      }
    }
  }
  CHECK(reuse_edges > 0);
}

TEST_CASE("every edge points forward and stands once") {
  std::mt19937 random(13);
  const RandomModel model = random_model(random);
  const Plan plan = make_plan(model.spec(), {.train_rows = 3, .evaluate_rows = 3});
  for (const ComputationGraph& graph : plan.atlas.graphs) {
    std::vector<std::pair<int, int>> seen;
    for (const Edge& e : graph.edges) {
      CHECK(e.from < e.to);
      seen.emplace_back(e.from, e.to);
    }
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
  }
}

}  // namespace tr
