#pragma once

#include <cstdint>
#include <string_view>

#include "tr/op/layer.h"

namespace tr {

/// Fully connected layer: y[b, k] = Σ_c x[b, c]·weight[k, c] + bias[k], weight [out, 1, 1, in], bias [out] or none.
struct Fc {
  int out = 0;
  bool has_bias = true;

  static constexpr std::string_view name = "fc";
  /// A weight tensor has fewer elements than this, so that its size in bytes stays far from overflow.
  static constexpr std::int64_t max_weights = std::int64_t{1} << 40;

  constexpr Fc bias(bool on) const { return {out, on}; }

  constexpr void describe(TextBuilder& text) const { text << "fc(out=" << out << (has_bias ? ")" : ", bias=false)"); }
  constexpr void check(const Shape& in, TextBuilder& why) const {
    if (out < 1) {
      why << "a width of " << out << " is not positive";
    } else if (!in.is_flat()) {
      append_sample_shape(why << "its input ", in) << " is not flat; put flatten() before it";
    } else if (in.sample_size() * out >= max_weights) {
      why << "its weight of " << in.sample_size() << " x " << out << " elements is too large";
    }
  }
  constexpr Shape output(const Shape& in) const { return {in.n, 1, 1, out}; }
  constexpr std::int64_t parameter_count(const Shape& in) const {
    return in.sample_size() * out + (has_bias ? out : 0);
  }
  /// Two for each multiply-add, as the field counts.
  constexpr std::int64_t forward_flops(const Shape& in) const { return 2 * in.sample_size() * out; }

  constexpr bool keeps_output(const Site& site) const { return site.activation != Activation::none; }
  constexpr void parameters(GraphBuilder& graph, const Site& site, LayerTensors& ids) const {
    const Shape weight{out, 1, 1, site.in.c};
    const Shape vector{1, 1, 1, out};
    const int layer = site.layer;
    ids.weight = graph.tensor(Region::w_fc_weight, weight, DType::fp32, layer);
    ids.weight_gradient = graph.tensor(Region::g_fc_weight, weight, DType::fp32, layer);
    if (graph.precision() != Precision::fp32) {
      ids.working_weight = graph.tensor(Region::a_fc_weight, weight, graph.feature_dtype(), layer);
    }
    if (!has_bias) return;
    ids.bias = graph.tensor(Region::w_fc_bias, vector, DType::fp32, layer);
    ids.bias_gradient = graph.tensor(Region::g_fc_bias, vector, DType::fp32, layer);
  }

  /// fc_forward: in {x [B, in], weight [out, in], bias}, out {y [B, out], z}. In 16 bits the product is kept in fp32 in
  /// z until bias and activation are applied, so that the output is rounded once.
  constexpr int forward(GraphBuilder& graph, const Site& site, LayerTensors& ids) const {
    const DType dtype = site.feeds_loss ? DType::fp32 : graph.feature_dtype();
    ids.output = graph.tensor(Region::f_feature, site.out, dtype, site.layer);
    const int z = dtype == DType::fp32 ? -1 : graph.tensor(Region::t_temp, site.out, DType::fp32, site.layer);
    graph.node(OpKind::fc_forward, site.layer, operands(ids.input, operand_weight(ids), ids.bias),
               operands(ids.output, z), site.activation);
    return ids.output;
  }

  /// fc_backward_bias: in {dy, y if an activation is fused}, out {dz, db}; fc_backward_weight: in {x, dz}, out {dW};
  /// fc_backward_data: in {dz, weight}, out {dx}, in fp32 whatever the precision.
  constexpr int backward(GraphBuilder& graph, const Site& site, const LayerTensors& ids, int gradient) const {
    const bool activated = site.activation != Activation::none;
    const bool convert = graph[gradient].dtype != graph.feature_dtype();
    int dz = gradient;
    if (convert) dz = graph.tensor(Region::f_gradient, site.out, graph.feature_dtype(), site.layer);
    if (activated || convert || has_bias) {
      graph.node(OpKind::fc_backward_bias, site.layer, operands(gradient, activated ? ids.output : -1),
                 operands(activated || convert ? dz : -1, ids.bias_gradient), site.activation);
    }
    graph.node(OpKind::fc_backward_weight, site.layer, operands(ids.input, dz), operands(ids.weight_gradient));
    if (!site.needs_data_gradient) return -1;
    const int dx = graph.tensor(Region::f_gradient, site.in, DType::fp32, site.layer);
    graph.node(OpKind::fc_backward_data, site.layer, operands(dz, operand_weight(ids)), operands(dx));
    return dx;
  }

 private:
  static constexpr int operand_weight(const LayerTensors& ids) {
    return ids.working_weight >= 0 ? ids.working_weight : ids.weight;
  }
};

constexpr Fc fc(int out) { return {.out = out}; }

}  // namespace tr
