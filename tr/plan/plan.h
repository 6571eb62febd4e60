#pragma once

#include <array>
#include <span>

#include "tr/algo/initializer.h"
#include "tr/plan/arch.h"
#include "tr/plan/graphs.h"
#include "tr/plan/memory.h"
#include "tr/plan/reuse.h"
#include "tr/plan/update.h"

namespace tr {

/// What a graph is for.
enum class GraphKind : std::uint8_t { train, evaluate };

inline constexpr int graph_count = 2;

constexpr std::string_view name_of(GraphKind kind) { return kind == GraphKind::train ? "train" : "evaluate"; }

/// A ComputationGraph: nodes in a legal order and the edges that any other order must respect.
struct ComputationGraph {
  FlatList<Node> nodes;
  FlatList<Edge> edges;
};

/// A graph with the number of rows it runs on: a full batch, or the last partial one. Nothing moves between variants;
/// the tail of each batched tensor is not touched.
struct Variant {
  GraphKind kind = GraphKind::train;
  /// Rows of this rank, and of the whole batch over all ranks. `as_planned` leaves every tensor its planned shape, and
  /// the mean of a loss to the rows of its own input.
  int rows = as_planned;
  int total_rows = 0;
  /// Whether the running average of the weights takes the place of the weights. Working copies are not part of this:
  /// whoever runs such a variant makes them from the average first.
  bool averaged = false;

  static constexpr int as_planned = -1;

  friend constexpr bool operator==(const Variant&, const Variant&) = default;
};

/// All graphs of a task, one for each purpose, and the variants that a run needs of them; they share one memory plan.
struct GraphAtlas {
  std::array<ComputationGraph, graph_count> graphs;
  /// Known when the data set is.
  FlatList<Variant> variants;

  constexpr const ComputationGraph& operator[](GraphKind kind) const { return graphs[static_cast<int>(kind)]; }
};

/// Everything that is known of a run before it starts: the layers, the tensors of all graphs with their places, and the
/// graphs.
struct Plan {
  PlanSpec spec;
  ArchPlan arch;
  FixedTensors fixed;
  FlatList<PlanTensor> tensors;
  GraphAtlas atlas;
  std::array<TensorSpan, graph_count> transients{};
  MemoryPlan memory;
  /// What each tensor starts with, by id.
  FlatList<InitConfig> inits;
};

/// Asks an initialisation policy what the parameters start with. Everything else, such as moments and running
/// variances, starts as `Initializer` has it, whatever a policy says.
template <class Policy>
constexpr void derive_inits(Plan& plan, const Policy& policy) {
  plan.inits = FlatList<InitConfig>(plan.tensors.size());
  for (const PlanTensor& t : plan.tensors) {
    const Region region = t.tensor.region;
    plan.inits[t.tensor.id] = is_parameter(region) ? policy.config(region) : Initializer().config(region);
  }
}

/// The tensor that is a parameter's image; it must be in the plan.
constexpr int image_of(const Plan& plan, int parameter, Image image) {
  const Region region = plan.tensors[parameter].tensor.region;
  int place = 0;
  for (int id = 0; id < parameter; ++id) place += plan.tensors[id].tensor.region == region ? 1 : 0;
  for (const PlanTensor& t : plan.tensors) {
    if (t.tensor.region == image_of(region, image) && place-- == 0) return t.tensor.id;
  }
  return -1;
}

/// Gives a scalar its first value.
constexpr void set_scalar(Plan& plan, Scalar scalar, double value) {
  plan.inits[plan.fixed[scalar]] = {static_cast<float>(value), InitKind::constants, FanMode::fan_in};
}

namespace detail {

constexpr void build_train_graph(Plan& plan) {
  GraphBuilder graph(plan.tensors, plan.atlas.graphs[0].nodes, plan.spec.precision, plan.spec.train_rows);
  plan.transients[0].first = plan.tensors.size();
  append_forward(graph, plan.arch, plan.fixed);
  const int gradient = loss_of(plan.arch, plan.fixed).train(graph, !logits_are_kept(graph, plan.arch));
  append_backward(graph, plan.arch, gradient);
  plan.transients[0].end = plan.tensors.size();
}

constexpr void build_evaluate_graph(Plan& plan) {
  GraphBuilder graph(plan.tensors, plan.atlas.graphs[1].nodes, plan.spec.precision, plan.spec.evaluate_rows);
  plan.transients[1].first = plan.tensors.size();
  ArchPlan arch;
  for (const ArchLayer& layer : plan.arch) arch.push(layer);
  append_forward(graph, arch, plan.fixed);
  loss_of(arch, plan.fixed).evaluate(graph);
  plan.transients[1].end = plan.tensors.size();
}

constexpr void build_update(Plan& plan) {
  declare_update(plan.tensors, plan.spec, plan.fixed);
  GraphBuilder graph(plan.tensors, plan.atlas.graphs[0].nodes, plan.spec.precision, plan.spec.train_rows);
  append_update(graph, plan.fixed);
}

}  // namespace detail

/// Makes layers, tensors, nodes and places; the same function plans while the compiler runs and when a run knows its
/// rows. A model that cannot be built leaves its reason in `error` and an unfinished plan behind. (The plan is filled
/// in place: g++ 12 loses track of allocations inside a constant expression when such a structure is returned.)
constexpr void build_plan(const ModelSpec& model, const PlanSpec& spec, Plan& plan, TextBuilder& error) {
  plan.spec = spec;
  build_arch(model, spec, plan.arch, error);
  if (!error.empty()) return;

  FlatList<Node> none;
  GraphBuilder declare(plan.tensors, none, spec.precision, std::max(spec.train_rows, spec.evaluate_rows));
  for (ArchLayer& layer : plan.arch) {
    visit(layer.record, [&](const auto& l) { l.parameters(declare, layer.site, layer.tensors); });
  }
  plan.fixed = detail::declare_fixed(declare, model);
  detail::build_train_graph(plan);
  detail::build_evaluate_graph(plan);
  detail::build_update(plan);

  for (ComputationGraph& graph : plan.atlas.graphs) detail::mark_lifetimes(graph.nodes, plan.tensors);
  plan.memory = place(plan.tensors, plan.transients, spec.share_memory);
}

/// Adds to a built plan what only a run reads: the edges of its graphs and the initial values. Not asked of the
/// compiler, who would take as long for it as for all the rest.
constexpr void complete_plan(Plan& plan) {
  derive_inits(plan, Initializer());
  for (int g = 0; g < graph_count; ++g) {
    plan.atlas.graphs[g].edges = build_edges(plan.atlas.graphs[g].nodes, plan.tensors.size());
    append_reuse_edges(plan.atlas.graphs[g].nodes, plan.tensors, plan.transients[g], plan.atlas.graphs[g].edges);
  }
}

}  // namespace tr
