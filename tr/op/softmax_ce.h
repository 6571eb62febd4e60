#pragma once

#include "tr/op/graph.h"

namespace tr {

/// Softmax cross-entropy over the classes of each row, with smoothed targets (1 − ε)·onehot + ε/K; forward and backward
/// in one node, since the gradient (softmax − target)/B is at hand once the softmax is. The mean is taken over the rows
/// of the whole batch, not of the rank.
struct SoftmaxCe {
  int logits = -1;
  int labels = -1;
  int smoothing = -1;
  /// Three sums and two counts in fp64: loss, top-1, top-5, rows, rows with an illegal label.
  int result = -1;
  int accumulated = -1;

  static constexpr int result_values = 5;

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

  /// softmax_ce_evaluate: in {logits, labels, smoothing}, out {none, row_loss, row_rank}, and accumulate_metrics.
  constexpr void evaluate(GraphBuilder& graph) const { rows(graph, OpKind::softmax_ce_evaluate, -1); }

 private:
  constexpr void rows(GraphBuilder& graph, OpKind op, int gradient) const {
    const int row_loss = graph.tensor(Region::t_temp, {}, DType::fp32, -1);
    const int row_rank = graph.tensor(Region::t_temp, {}, DType::int32, -1);
    graph.node(op, -1, operands(logits, labels, smoothing), operands(gradient, row_loss, row_rank));
    graph.node(OpKind::accumulate_metrics, -1, operands(row_loss, row_rank), operands(result, accumulated));
  }
};

}  // namespace tr
