#pragma once

#include <cstdint>
#include <string_view>

namespace tr {

/// What a node of a computation graph does. The operands of each kind are listed where the operation lives (tr/op).
enum class OpKind : std::uint8_t {
  fc_forward,
  fc_backward_bias,
  fc_backward_weight,
  fc_backward_data,
  relu_forward,
  relu_backward,
  softmax_ce,
  softmax_ce_evaluate,
  accumulate_metrics,
  advance_step,
  meet,
  reduce_gradients,
  update,
};

enum class Activation : std::uint8_t { none, relu };

/// The settings of a node that are not tensors.
struct OpAttributes {
  Activation activation = Activation::none;
  /// Samples of the whole batch over all ranks, by which a mean loss and its gradient are divided; 0 means the rows of
  /// the node's own input.
  int total_rows = 0;

  friend constexpr bool operator==(const OpAttributes&, const OpAttributes&) = default;
};

constexpr std::string_view name_of(OpKind kind) {
  switch (kind) {
    case OpKind::fc_forward: return "fc_forward";
    case OpKind::fc_backward_bias: return "fc_backward_bias";
    case OpKind::fc_backward_weight: return "fc_backward_weight";
    case OpKind::fc_backward_data: return "fc_backward_data";
    case OpKind::relu_forward: return "relu_forward";
    case OpKind::relu_backward: return "relu_backward";
    case OpKind::softmax_ce: return "softmax_ce";
    case OpKind::softmax_ce_evaluate: return "softmax_ce_evaluate";
    case OpKind::accumulate_metrics: return "accumulate_metrics";
    case OpKind::advance_step: return "advance_step";
    case OpKind::meet: return "meet";
    case OpKind::reduce_gradients: return "reduce_gradients";
    case OpKind::update: return "update";
  }
  return "?";
}

}  // namespace tr
