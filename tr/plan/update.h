#pragma once

#include <array>
#include <cstdint>

#include "tr/op/graph.h"
#include "tr/plan/chunks.h"
#include "tr/plan/graphs.h"
#include "tr/plan/spec.h"

namespace tr::detail {

/// What an optimizer adds to the tensors of a plan, always the last ones: images of the parameters, in their order, and
/// the sums of squares that norms are made of: of each chunk of the biases and then of the weights, that of the
/// gradient and that of the parameter.
constexpr void declare_update(FlatList<PlanTensor>& tensors, const PlanSpec& spec, FixedTensors& fixed) {
  const int parameters = tensors.size();
  const auto declare_image = [&](Image kind) {
    for (int id = 0; id < parameters; ++id) {
      PlanTensor image = tensors[id];
      if (!is_parameter(image.tensor.region)) continue;
      image.tensor.region = image_of(image.tensor.region, kind);
      image.tensor.id = tensors.size();
      tensors.push(image);
    }
  };
  if (spec.moments > 0) declare_image(Image::moment1);
  if (spec.moments > 1) declare_image(Image::moment2);
  if (spec.average) declare_image(Image::average);
  if (!spec.norms) return;
  std::int64_t chunks = 0;
  for (const PlanTensor& t : tensors) {
    if (is_parameter(t.tensor.region)) chunks += chunk_count(t.tensor.shape.size());
  }
  PlanTensor sums;
  sums.tensor = {tensors.size(), {static_cast<int>(chunks), 1, 1, 2}, DType::fp64, Region::n_square_sum, -1};
  fixed.square_sums = tensors.push(sums);
}

/// The end of a training step. meet: in what every rank looks at, of all ranks, before it goes on; up to there a step
/// has changed nothing, and leaves all as it was if it stops. reduce_gradients, where a norm is needed first: sums a
/// range's gradients over the ranks, in their order, into this rank's share of its own; out {square_sums}. update:
/// applies the optimizer to this rank's share of a range, with the sum that reduce_gradients left or else summing
/// itself; in {square_sums} or none, out {not_finite}. Both are range operations: their operands are whole regions of
/// all ranks, which only a fence can order. advance_step: in {beta1, beta2, step}, out {step, bias_correction1,
/// bias_correction2}, for the step to come, on the first rank alone, since these live once.
constexpr void append_update(GraphBuilder& graph, const FixedTensors& fixed) {
  constexpr std::array ranges{bias_range, weight_range};
  const auto range_node = [&](OpKind op, const RegionRange& range, int in, int out) {
    Node node;
    node.op = op;
    node.stream = Stream::update;
    node.in = operands(in);
    node.out = operands(out);
    node.range = range;
    graph.node(node);
  };
  graph.node(OpKind::meet, -1, operands(fixed.result[0]), operands());
  if (fixed.square_sums >= 0) {
    for (const RegionRange& range : ranges) range_node(OpKind::reduce_gradients, range, -1, fixed.square_sums);
    graph.node(OpKind::meet, -1, operands(fixed.square_sums), operands());
  }
  for (int i = 0; i < static_cast<int>(ranges.size()); ++i) {
    range_node(OpKind::update, ranges[i], fixed.square_sums, fixed.not_finite[i]);
  }
  graph.node(OpKind::meet, -1, operands(fixed.not_finite[0], fixed.not_finite[1]), operands());
  Node advance;
  advance.op = OpKind::advance_step;
  advance.stream = Stream::update;
  advance.in = operands(fixed[Scalar::beta1], fixed[Scalar::beta2], fixed[Scalar::step]);
  advance.out = operands(fixed[Scalar::step], fixed[Scalar::bias_correction1], fixed[Scalar::bias_correction2]);
  graph.node(advance);
}

}  // namespace tr::detail
