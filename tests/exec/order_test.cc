#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/exec/rig.h"
#include "tr/base/bf16.h"

namespace tr {
namespace {

const std::vector<LayerRecord> layers{flatten(), fc(24), relu(), fc(40), relu(), fc(16), relu(), fc(10)};
const ModelSpec model{layers, {1, 5, 5, 1}, 10};

/// A random order that respects the edges: the next node is any whose predecessors are done. Shorter than the graph if
/// the edges hold a circle.
std::vector<int> random_order(int nodes, const std::vector<Edge>& edges, std::mt19937& random) {
  std::vector<int> waiting(static_cast<std::size_t>(nodes), 0);
  for (const Edge& e : edges) ++waiting[static_cast<std::size_t>(e.to)];
  std::vector<int> ready;
  std::vector<int> order;
  for (int v = 0; v < nodes; ++v) {
    if (waiting[static_cast<std::size_t>(v)] == 0) ready.push_back(v);
  }
  while (!ready.empty()) {
    const std::size_t pick = random() % ready.size();
    const int v = ready[pick];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(pick));
    order.push_back(v);
    for (const Edge& e : edges) {
      if (e.from == v && --waiting[static_cast<std::size_t>(e.to)] == 0) ready.push_back(e.to);
    }
  }
  return order;
}

std::vector<Edge> edges_of(const ComputationGraph& graph) { return {graph.edges.begin(), graph.edges.end()}; }

/// All that a step is for: weights, sums, and how it ended.
struct Outcome {
  std::vector<float> weights;
  Metrics sums;
  StepStatus status = StepStatus::ok;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome outcome_after(int steps, Rig::Config config) {
  Rig rig(model, config);
  rig.set(Scalar::learning_rate, 0.01F);
  for (int rank = 0; rank < config.ranks; ++rank) {
    const auto labels = rig.values<std::int32_t>(rig.plan(rank).fixed.labels[0], rank);
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i * 7 % 10);
    const int data = rig.plan(rank).fixed.data[0];
    const std::size_t count = static_cast<std::size_t>(rig.plan(rank).tensors[data].tensor.shape.size());
    for (std::size_t i = 0; i < count; ++i) {
      const float x = std::sin(static_cast<float>(i) * 0.3F);
      if (config.precision == Precision::fp32) {
        rig.values<float>(data, rank)[i] = x;
      } else {
        rig.values<Bf16>(data, rank)[i] = to_bf16(x);
      }
    }
  }
  Outcome outcome;
  for (int i = 0; i < steps && outcome.status == StepStatus::ok; ++i) outcome.status = rig.step();
  outcome.sums = rig.executor().accumulated();
  for (const PlanTensor& t : rig.plan().tensors) {
    if (!is_parameter(t.tensor.region)) continue;
    const auto values = rig.values<float>(t.tensor.id);
    outcome.weights.insert(outcome.weights.end(), values.begin(), values.end());
  }
  return outcome;
}

}  // namespace

TEST_CASE("any legal order gives the same bits, with and without sharing memory") {
  std::mt19937 random(5);
  for (Precision precision : precisions()) {
    // Seven rows a rank: the same lifetimes, and so the same edges, on both.
    Rig::Config config{.ranks = 2, .rows = 14, .precision = precision, .optimizer = AdamW()};
    const Outcome right = outcome_after(2, config);
    CHECK(right.status == StepStatus::ok);
    config.share_memory = false;
    CHECK(outcome_after(2, config) == right);
    config.share_memory = true;
    const Plan plan = make_plan(model, {.precision = precision, .train_rows = 7, .evaluate_rows = 7, .moments = 2});
    const ComputationGraph& graph = plan.atlas[GraphKind::train];
    int reordered = 0;
    for (int i = 0; i < 50; ++i) {
      config.order = random_order(graph.nodes.size(), edges_of(graph), random);
      REQUIRE(static_cast<int>(config.order.size()) == graph.nodes.size());
      reordered += std::is_sorted(config.order.begin(), config.order.end()) ? 0 : 1;
      CHECK(outcome_after(2, config) == right);
    }
    CHECK(reordered > 40);
  }
}

TEST_CASE("any legal order gives the same bits where the update needs norms") {
  std::mt19937 random(7);
  Rig::Config config{.ranks = 2, .rows = 14, .optimizer = LARS(), .clipping = GradientClipping().by_norm(0.1)};
  config.ema = EMA().decay(0.9);
  const Outcome right = outcome_after(3, config);
  CHECK(right.status == StepStatus::ok);
  const Plan plan =
      make_plan(model, {.train_rows = 7, .evaluate_rows = 7, .moments = 1, .norms = true, .average = true});
  const ComputationGraph& graph = plan.atlas[GraphKind::train];
  for (int i = 0; i < 50; ++i) {
    config.order = random_order(graph.nodes.size(), edges_of(graph), random);
    REQUIRE(static_cast<int>(config.order.size()) == graph.nodes.size());
    CHECK(outcome_after(3, config) == right);
  }
}

TEST_CASE("every reuse edge is needed: an order that breaks it alone gives other bits") {
  std::mt19937 random(6);
  int mutants = 0;
  for (Precision precision : precisions()) {
    Rig::Config config{.ranks = 1, .rows = 13, .precision = precision};
    const Outcome right = outcome_after(2, config);
    const Plan plan = make_plan(model, {.precision = precision, .train_rows = 13, .evaluate_rows = 13});
    const ComputationGraph& graph = plan.atlas[GraphKind::train];
    const std::vector<Edge> edges = edges_of(graph);
    for (std::size_t e = 0; e < edges.size(); ++e) {
      if (edges[e].kind != EdgeKind::reuse) continue;
      CAPTURE(edges[e].from);
      CAPTURE(edges[e].to);
      std::vector<Edge> broken = edges;
      std::swap(broken[e].from, broken[e].to);
      config.order = random_order(graph.nodes.size(), broken, random);
      // A circle would mean that the other edges imply this one.
      REQUIRE(static_cast<int>(config.order.size()) == graph.nodes.size());
      CHECK(outcome_after(2, config) != right);
      ++mutants;
    }
  }
  CHECK(mutants >= 2);
}

}  // namespace tr
