#pragma once

#include <string_view>

#include "tr/algo/optimizer.h"

namespace tr {

/// Layer-wise adaptive rates (You, Gitman, Ginsburg: Large batch training of convolutional networks, 2017, algorithm
/// 1): with the ratio η of lars_ratio() for each weight tensor, v ← momentum·v + lr·η·(g + weight_decay·w), w ← w - v.
/// Unlike SGD's the moment holds the rate. Biases and the parameters of batch normalisation are not decayed and have
/// η = 1.
class LARS final {
 public:
  /// 0.9 by default, in [0, 1); 0 keeps no moment.
  constexpr LARS& momentum(double value) {
    momentum_ = detail::checked_decay_rate("momentum", value);
    return *this;
  }
  /// How far a step may move a weight tensor, as a part of its norm, at a rate of 1: 0.001 by default, a normal float
  /// above 0.
  constexpr LARS& trust_coefficient(double value) {
    trust_coefficient_ = detail::checked_normal("trust_coefficient", value);
    return *this;
  }
  /// 0 by default; biases are never decayed.
  constexpr LARS& weight_decay(double value) {
    weight_decay_ = detail::checked_weight_decay(value);
    return *this;
  }
  /// Bounds the ratio of a vanishing gradient: 1e-8 by default, a normal float above 0. The paper has none.
  constexpr LARS& eps(double value) {
    eps_ = detail::checked_normal("eps", value);
    return *this;
  }

  constexpr double momentum() const { return momentum_; }
  constexpr double trust_coefficient() const { return trust_coefficient_; }
  constexpr double weight_decay() const { return weight_decay_; }
  constexpr double eps() const { return eps_; }

  static constexpr std::string_view name() { return "LARS"; }
  constexpr int moments() const { return momentum_ > 0.0 ? 1 : 0; }
  static constexpr bool uses_layer_norms() { return true; }
  /// Every setting is checked by its setter, and no two contradict each other.
  constexpr void validate() const {}

 private:
  double momentum_ = 0.9;
  double trust_coefficient_ = 1e-3;
  double weight_decay_ = 0.0;
  double eps_ = 1e-8;
};

static_assert(Optimizer<LARS>);

/// By what LARS multiplies the rate of a weight tensor, from the L2 norms of the tensor and of its gradient before
/// decay, both finite: trust·‖w‖/(‖g‖ + weight_decay·‖w‖ + eps), without an upper limit; 1 where a norm is 0, so that a
/// layer that starts with zeros can leave them.
constexpr double lars_ratio(double weight_norm, double gradient_norm, double trust, double weight_decay, double eps) {
  if (weight_norm == 0.0 || gradient_norm == 0.0) return 1.0;
  return trust * weight_norm / (gradient_norm + weight_decay * weight_norm + eps);
}

}  // namespace tr
