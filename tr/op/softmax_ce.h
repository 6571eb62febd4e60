#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tr/op/graph.h"

namespace tr {

/// What is summed over the rows of a batch: losses, rows whose label has the largest logit or one of the five largest,
/// rows, and rows with a label that is no class.
enum class Metric : std::uint8_t { loss, top1, top5, rows, illegal_labels };

inline constexpr int metric_count = static_cast<int>(Metric::illegal_labels) + 1;

/// One sum for each metric.
struct Metrics {
  std::array<double, metric_count> sums{};

  constexpr double& operator[](Metric metric) { return sums[static_cast<std::size_t>(metric)]; }
  constexpr double operator[](Metric metric) const { return sums[static_cast<std::size_t>(metric)]; }

  friend constexpr bool operator==(const Metrics&, const Metrics&) = default;
};

/// Softmax cross-entropy over the classes of each row, with smoothed targets (1 − ε)·onehot + ε/K; forward and backward
/// in one node, since the gradient (softmax − target)/B is at hand once the softmax is. The mean is taken over the rows
/// of the whole batch, not of the rank.
struct SoftmaxCe {
  int logits = -1;
  int labels = -1;
  int smoothing = -1;
  /// Sums over rows in fp64, one a `Metric`: of this step, and of all steps since they were last cleared.
  int result = -1;
  int accumulated = -1;

  /// softmax_ce: in {logits [B, K], labels [B], smoothing [1]}, out {d_logits [B, K], row_loss [B], row_rank [B]};
  /// accumulate_metrics: in {row_loss, row_rank}, out {result, accumulated}. Gives the id of d_logits, which stands in
  /// the memory of the logits where `overwrite` allows it and the types agree.
  constexpr int train(GraphBuilder& graph, bool overwrite) const {
    const Shape shape = graph[logits].shape;
    const bool in_place = overwrite && graph[logits].dtype == graph.feature_dtype();
    const int gradient = in_place ? logits : graph.tensor(Region::f_gradient, shape, graph.feature_dtype(), -1);
    rows(graph, OpKind::softmax_ce, gradient);
    return gradient;
  }

  /// softmax_ce_evaluate: in {logits, labels, smoothing}, out {none, row_loss, row_rank}; accumulate_metrics; and a
  /// meeting point, so that all ranks know of a loss that is not finite at the same batch.
  constexpr void evaluate(GraphBuilder& graph) const {
    rows(graph, OpKind::softmax_ce_evaluate, -1);
    graph.node(OpKind::meet, -1, operands(result), operands());
  }

 private:
  constexpr void rows(GraphBuilder& graph, OpKind op, int gradient) const {
    const int row_loss = graph.tensor(Region::t_temp, {}, DType::fp32, -1);
    const int row_rank = graph.tensor(Region::t_temp, {}, DType::int32, -1);
    graph.node(op, -1, operands(logits, labels, smoothing), operands(gradient, row_loss, row_rank));
    graph.node(OpKind::accumulate_metrics, -1, operands(row_loss, row_rank), operands(result, accumulated));
  }
};

}  // namespace tr
