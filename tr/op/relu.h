#pragma once

#include <cstdint>
#include <string_view>

#include "tr/op/layer.h"

namespace tr {

/// y = max(0, x), element by element; a NaN stays a NaN. Behind a fully connected layer it is fused into that layer.
struct Relu {
  static constexpr std::string_view name = "relu";

  constexpr void describe(TextBuilder& text) const { text << "relu()"; }
  constexpr void check(const Shape&, TextBuilder&) const {}
  constexpr Shape output(const Shape& in) const { return in; }
  constexpr std::int64_t parameter_count(const Shape&) const { return 0; }
  constexpr std::int64_t forward_flops(const Shape& in) const { return in.sample_size(); }

  constexpr bool keeps_output(const Site& site) const { return site.needs_data_gradient; }
  constexpr void parameters(GraphBuilder&, const Site&, LayerTensors&) const {}

  /// relu_forward: in {x}, out {y}, in the precision of the step.
  constexpr int forward(GraphBuilder& graph, const Site& site, LayerTensors& ids) const {
    const DType dtype = site.feeds_loss ? DType::fp32 : graph.feature_dtype();
    ids.output = graph.tensor(Region::f_feature, site.out, dtype, site.layer);
    graph.node(OpKind::relu_forward, site.layer, operands(ids.input), operands(ids.output));
    return ids.output;
  }

  /// relu_backward: in {dy, y}, out {dx}, in place.
  constexpr int backward(GraphBuilder& graph, const Site& site, const LayerTensors& ids, int gradient) const {
    if (!site.needs_data_gradient) return -1;
    graph.node(OpKind::relu_backward, site.layer, operands(gradient, ids.output), operands(gradient));
    return gradient;
  }
};

constexpr Relu relu() { return {}; }

}  // namespace tr
