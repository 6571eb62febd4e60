#pragma once

#include <string>

#include "tr/base/flat_list.h"
#include "tr/op/layer.h"

namespace tr {

/// A layer alone in a graph: its tensors and the nodes of its forward and backward pass.
struct LayerProbe {
  FlatList<PlanTensor> tensors;
  FlatList<Node> nodes;
  LayerTensors ids;
  int backward_begins = 0;
  int data_gradient = -1;

  template <Layer L>
  LayerProbe(const L& layer, Site site, Precision precision, DType gradient_dtype) {
    GraphBuilder graph(tensors, nodes, precision, site.in.n);
    site.out = layer.output(site.in);
    layer.parameters(graph, site, ids);
    ids.input = graph.tensor(Region::f_feature, site.in, graph.feature_dtype(), -1);
    layer.forward(graph, site, ids);
    backward_begins = nodes.size();
    const int gradient = graph.tensor(Region::f_gradient, site.out, gradient_dtype, -1);
    data_gradient = layer.backward(graph, site, ids, gradient);
  }

  const DTensor& operator[](int id) const { return tensors[id].tensor; }
  int count(OpKind op) const {
    int n = 0;
    for (const Node& node : nodes) n += node.op == op ? 1 : 0;
    return n;
  }
};

template <Layer L>
std::string described(const L& layer) {
  TextBuilder text;
  layer.describe(text);
  return std::string(text.view());
}

template <Layer L>
std::string objection(const L& layer, const Shape& in) {
  TextBuilder text;
  layer.check(in, text);
  return std::string(text.view());
}

}  // namespace tr
