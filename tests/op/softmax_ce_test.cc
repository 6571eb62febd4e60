#include "tr/op/softmax_ce.h"

#include <doctest/doctest.h>

#include "tr/base/flat_list.h"

namespace tr {
namespace {

struct LossGraph {
  FlatList<PlanTensor> tensors;
  FlatList<Node> nodes;
  SoftmaxCe loss;

  LossGraph(Precision precision, DType logits, bool overwrite) : graph_(tensors, nodes, precision, 6) {
    loss.logits = graph_.tensor(Region::f_feature, {1, 1, 1, 10}, logits, 0);
    loss.labels = graph_.tensor(Region::i_a_label, {}, DType::int32, -1);
    loss.smoothing = graph_.tensor(Region::s_scalar_fp32, {}, DType::fp32, -1);
    loss.result = graph_.tensor(Region::r_result, {1, 1, 1, metric_count}, DType::fp64, -1);
    loss.accumulated = graph_.tensor(Region::r_accumulated, {1, 1, 1, metric_count}, DType::fp64, -1);
    gradient = loss.train(graph_, overwrite);
  }

  int gradient = -1;

 private:
  GraphBuilder graph_;
};

}  // namespace

TEST_CASE("the gradient takes the logits' memory where types and readers allow it") {
  CHECK(LossGraph(Precision::fp32, DType::fp32, true).gradient == 0);
  CHECK(LossGraph(Precision::bf16, DType::bf16, true).gradient == 0);
  CHECK(LossGraph(Precision::fp32, DType::fp32, false).gradient != 0);
  const LossGraph mixed(Precision::bf16, DType::fp32, true);
  CHECK(mixed.gradient != 0);
  CHECK(mixed.tensors[mixed.gradient].tensor.dtype == DType::bf16);
  CHECK(mixed.tensors[mixed.gradient].tensor.shape == Shape{6, 1, 1, 10});
}

TEST_CASE("rows are summed behind the loss") {
  const LossGraph graph(Precision::fp32, DType::fp32, true);
  REQUIRE(graph.nodes.size() == 2);
  CHECK(graph.nodes[0].op == OpKind::softmax_ce);
  CHECK(graph.nodes[0].in == operands(graph.loss.logits, graph.loss.labels, graph.loss.smoothing));
  CHECK(graph.nodes[1].op == OpKind::accumulate_metrics);
  CHECK(graph.nodes[1].in == operands(graph.nodes[0].out[1], graph.nodes[0].out[2]));
  CHECK(graph.nodes[1].out == operands(graph.loss.result, graph.loss.accumulated));
}

}  // namespace tr
