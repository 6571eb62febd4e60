#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>

#include "tr/op/softmax_ce.h"
#include "tr/plan/arch.h"
#include "tr/plan/edges.h"
#include "tr/plan/scalars.h"
#include "tr/plan/spec.h"

namespace tr {

/// The tensors that every plan has, by id. Two input slots take turns: while a step reads one, the next batch is
/// written into the other. Graphs name slot a; an executor binds them once for each slot.
struct FixedTensors {
  std::array<int, scalar_count> scalars{};
  std::array<int, 2> labels{-1, -1};
  std::array<int, 2> data{-1, -1};
  /// Of a step on the batch in either slot: who still reads one step's results is not disturbed by the next step.
  std::array<int, 2> result{-1, -1};
  int accumulated = -1;
  /// One flag for each `update` node of the step, not 0 when a gradient or a weight of the share was not finite.
  std::array<int, 2> not_finite{-1, -1};
  /// Where a step needs norms, see `declare_update`; −1 elsewhere.
  int square_sums = -1;

  /// The tensor that stands for `id` when a graph runs on the batch in `slot`; graphs themselves name slot a.
  constexpr int in_slot(int id, int slot) const {
    for (const std::array<int, 2>& pair : {labels, data, result}) {
      if (id == pair[0]) return pair[slot];
    }
    return id;
  }
  constexpr int operator[](Scalar scalar) const { return scalars[static_cast<int>(scalar)]; }

  friend constexpr bool operator==(const FixedTensors&, const FixedTensors&) = default;
};

namespace detail {

/// What any graph may use: scalars, results and flags.
constexpr FixedTensors declare_results(GraphBuilder& graph) {
  FixedTensors fixed;
  for (int i = 0; i < scalar_count; ++i) {
    const bool integer = is_integer(static_cast<Scalar>(i));
    fixed.scalars[i] = graph.tensor(integer ? Region::s_scalar_int32 : Region::s_scalar_fp32, {},
                                    integer ? DType::int32 : DType::fp32, -1);
  }
  const Shape values{1, 1, 1, metric_count};
  for (int& result : fixed.result) result = graph.tensor(Region::r_result, values, DType::fp64, -1);
  for (int& flag : fixed.not_finite) flag = graph.tensor(Region::r_result, {}, DType::int32, -1);
  fixed.accumulated = graph.tensor(Region::r_accumulated, values, DType::fp64, -1);
  return fixed;
}

constexpr FixedTensors declare_fixed(GraphBuilder& graph, const ModelSpec& model) {
  FixedTensors fixed = declare_results(graph);
  fixed.labels[0] = graph.tensor(Region::i_a_label, {}, DType::int32, -1);
  fixed.data[0] = graph.tensor(Region::i_a_data, model.sample, graph.feature_dtype(), -1);
  fixed.labels[1] = graph.tensor(Region::i_b_label, {}, DType::int32, -1);
  fixed.data[1] = graph.tensor(Region::i_b_data, model.sample, graph.feature_dtype(), -1);
  return fixed;
}

constexpr void append_forward(GraphBuilder& graph, ArchPlan& arch, const FixedTensors& fixed) {
  int x = fixed.data[0];
  for (ArchLayer& layer : arch) {
    layer.tensors.input = x;
    x = visit(layer.record, [&](const auto& l) { return l.forward(graph, layer.site, layer.tensors); });
  }
}

constexpr SoftmaxCe loss_of(const ArchPlan& arch, const FixedTensors& fixed) {
  return {.logits = arch[arch.size() - 1].tensors.output,
          .labels = fixed.labels[0],
          .smoothing = fixed[Scalar::label_smoothing],
          .result = fixed.result[0],
          .accumulated = fixed.accumulated};
}

/// Whether anything but the loss still needs the logits.
constexpr bool logits_are_kept(const GraphBuilder& graph, const ArchPlan& arch) {
  const int logits = arch[arch.size() - 1].tensors.output;
  bool kept = is_input(graph[logits].region);
  for (const ArchLayer& layer : arch) {
    const bool keeps = visit(layer.record, [&](const auto& l) { return l.keeps_output(layer.site); });
    kept |= keeps && layer.tensors.output == logits;
  }
  return kept;
}

constexpr void append_backward(GraphBuilder& graph, const ArchPlan& arch, int gradient) {
  for (int i = arch.size() - 1; i >= 0 && gradient >= 0; --i) {
    const ArchLayer& layer = arch[i];
    gradient =
        visit(layer.record, [&](const auto& l) { return l.backward(graph, layer.site, layer.tensors, gradient); });
  }
}

/// First and last node that touch each transient tensor. What a graph reads before it writes it comes from outside, and
/// lives from before the first node to behind the last.
constexpr void mark_lifetimes(const FlatList<Node>& nodes, FlatList<PlanTensor>& tensors) {
  for (int v = 0; v < nodes.size(); ++v) {
    for_each_operand(nodes[v], [&](int id, bool read, bool) {
      PlanTensor& t = tensors[id];
      if (!is_transient(t.tensor.region)) return;
      const bool from_outside = t.first < 0 && read;
      if (t.first < 0) t.first = from_outside ? 0 : v;
      t.last = from_outside ? nodes.size() : std::max(t.last, v);
    });
  }
}

}  // namespace detail

}  // namespace tr
