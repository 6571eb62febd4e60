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

/// A random order that respects all edges: the next node is any whose predecessors are done.
std::vector<int> random_order(const ComputationGraph& graph, std::mt19937& random) {
  std::vector<int> waiting(static_cast<std::size_t>(graph.nodes.size()), 0);
  for (const Edge& e : graph.edges) ++waiting[static_cast<std::size_t>(e.to)];
  std::vector<int> ready;
  std::vector<int> order;
  for (int v = 0; v < graph.nodes.size(); ++v) {
    if (waiting[static_cast<std::size_t>(v)] == 0) ready.push_back(v);
  }
  while (!ready.empty()) {
    const std::size_t pick = random() % ready.size();
    const int v = ready[pick];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(pick));
    order.push_back(v);
    for (const Edge& e : graph.edges) {
      if (e.from == v && --waiting[static_cast<std::size_t>(e.to)] == 0) ready.push_back(e.to);
    }
  }
  return order;
}

std::vector<float> weights_after(int steps, Rig::Config config) {
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
  for (int i = 0; i < steps; ++i) REQUIRE(rig.step() == StepStatus::ok);
  std::vector<float> weights;
  for (const PlanTensor& t : rig.plan().tensors) {
    if (!is_parameter(t.tensor.region)) continue;
    const auto values = rig.values<float>(t.tensor.id);
    weights.insert(weights.end(), values.begin(), values.end());
  }
  return weights;
}

}  // namespace

TEST_CASE("any legal order gives the same bits, with and without sharing memory") {
  std::mt19937 random(5);
  for (Precision precision : {Precision::fp32, Precision::bf16}) {
    Rig::Config config{.ranks = 2, .rows = 13, .precision = precision, .optimizer = AdamW()};
    const std::vector<float> right = weights_after(3, config);
    CHECK(std::isfinite(right[0]));
    config.share_memory = false;
    CHECK(weights_after(3, config) == right);
    config.share_memory = true;
    const Plan plan = make_plan(model, {.precision = precision, .train_rows = 7, .evaluate_rows = 7, .moments = 2});
    int reordered = 0;
    for (int i = 0; i < 10; ++i) {
      config.order = random_order(plan.graph(GraphKind::train), random);
      REQUIRE(static_cast<int>(config.order.size()) == plan.graph(GraphKind::train).nodes.size());
      reordered += std::is_sorted(config.order.begin(), config.order.end()) ? 0 : 1;
      CHECK(weights_after(3, config) == right);
    }
    CHECK(reordered > 0);
  }
}

}  // namespace tr
