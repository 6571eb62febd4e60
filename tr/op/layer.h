#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "tr/base/shape.h"
#include "tr/base/text.h"
#include "tr/op/graph.h"

namespace tr {

/// Where a layer stands in a model: its position in the blueprint, its shapes, and what was fused into it.
struct Site {
  int layer = -1;
  Shape in;
  Shape out;
  Activation activation = Activation::none;
  /// The layer that makes the logits keeps them in fp32, whatever the precision.
  bool feeds_loss = false;
  /// Whether a layer with parameters stands before this one, so that the gradient has to travel on.
  bool needs_data_gradient = false;

  friend constexpr bool operator==(const Site&, const Site&) = default;
};

/// The tensor ids that belong to one layer, −1 where it has none: its parameters, their working copies and gradients,
/// and what its forward pass leaves for its backward pass.
struct LayerTensors {
  int weight = -1;
  int bias = -1;
  int working_weight = -1;
  int weight_gradient = -1;
  int bias_gradient = -1;
  int input = -1;
  int output = -1;

  friend constexpr bool operator==(const LayerTensors&, const LayerTensors&) = default;
};

/// A layer: a small aggregate that a user writes into a blueprint. `check` appends the reason why the layer cannot take
/// an input of that shape and appends nothing if it can; only then is `output` asked. `parameters` declares tensors,
/// `forward` and `backward` append nodes and give the id of the output and of the input's gradient (−1 if nobody needs
/// it). `keeps_output` says whether the backward pass reads the layer's output, which then must not be written over.
template <class L>
concept Layer = requires(const L layer, Shape shape, TextBuilder& text, GraphBuilder& graph, const Site& site,
                         LayerTensors& ids) {
  { L::name } -> std::convertible_to<std::string_view>;
  layer.describe(text);
  layer.check(shape, text);
  { layer.output(shape) } -> std::same_as<Shape>;
  { layer.parameter_count(shape) } -> std::same_as<std::int64_t>;
  { layer.forward_flops(shape) } -> std::same_as<std::int64_t>;
  { layer.keeps_output(site) } -> std::same_as<bool>;
  layer.parameters(graph, site, ids);
  { layer.forward(graph, site, ids) } -> std::same_as<int>;
  { layer.backward(graph, site, ids, 0) } -> std::same_as<int>;
};

}  // namespace tr
