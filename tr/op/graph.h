#pragma once

#include <array>
#include <cstdint>

#include "tr/base/flat_list.h"
#include "tr/op/operation.h"
#include "tr/tensor/dtensor.h"

namespace tr {

/// The operands of a node, padded with −1.
using Operands = std::array<int, 6>;

template <class... Id>
constexpr Operands operands(Id... ids) {
  static_assert(sizeof...(ids) <= 6);
  Operands result{-1, -1, -1, -1, -1, -1};
  int i = 0;
  ((result[i++] = ids), ...);
  return result;
}

/// Which queue of a device runs a node; a CPU rank runs all of them in order.
enum class Stream : std::uint8_t { compute, transfer, update };

/// One operation of a graph. Operands are tensor ids, −1 where an optional operand is absent; a tensor that stands
/// among the inputs and the outputs is changed in place. `layer` is the layer's position in the blueprint, −1 for none.
/// A range operation (`update`) names the regions of parameters that it covers as a whole.
struct Node {
  OpKind op = OpKind::meet;
  OpAttributes attributes;
  Stream stream = Stream::compute;
  int layer = -1;
  Operands in = operands();
  Operands out = operands();
  RegionRange range;

  /// A fence: everything before it in the graph's order precedes it, everything behind it follows.
  constexpr bool is_fence() const { return op == OpKind::meet; }

  friend constexpr bool operator==(const Node&, const Node&) = default;
};

/// A tensor of a plan with what the planner knows of it beyond its place: the layer it belongs to and, for transient
/// tensors, the first and the last node that touch it.
struct PlanTensor {
  DTensor tensor;
  int layer = -1;
  int first = -1;
  int last = -1;

  friend constexpr bool operator==(const PlanTensor&, const PlanTensor&) = default;
};

/// Appends tensors and nodes; what an operation's `forward` and `backward` write to.
class GraphBuilder {
 public:
  constexpr GraphBuilder(FlatList<PlanTensor>& tensors, FlatList<Node>& nodes, Precision precision, int rows)
      : tensors_(&tensors), nodes_(&nodes), precision_(precision), rows_(rows) {}

  /// A tensor of the given shape; for batched regions its rows are those of the builder.
  constexpr int tensor(Region region, Shape shape, DType dtype, int layer) {
    if (is_batched(region)) shape.n = rows_;
    PlanTensor declared;
    declared.tensor = {tensors_->size(), shape, dtype, region, -1};
    declared.layer = layer;
    return tensors_->push(declared);
  }
  constexpr void node(OpKind op, int layer, const Operands& in, const Operands& out,
                      Activation activation = Activation::none) {
    Node node;
    node.op = op;
    node.attributes.activation = activation;
    node.layer = layer;
    node.in = in;
    node.out = out;
    nodes_->push(node);
  }
  constexpr void node(const Node& node) { nodes_->push(node); }

  constexpr const DTensor& operator[](int id) const { return (*tensors_)[id].tensor; }
  constexpr Precision precision() const { return precision_; }
  /// The type of activations and of their gradients where they enter a matrix product.
  constexpr DType feature_dtype() const { return tr::feature_dtype(precision_); }
  constexpr int rows() const { return rows_; }

 private:
  FlatList<PlanTensor>* tensors_;
  FlatList<Node>* nodes_;
  Precision precision_;
  int rows_;
};

}  // namespace tr
