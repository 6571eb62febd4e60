#pragma once

#include <string_view>

#include "tr/algo/optimizer.h"

namespace tr {

/// Stochastic gradient descent with momentum, in the form of PyTorch: v ← momentum·v + (1 - dampening)·g, w ← w - lr·v;
/// the first step takes v = g. Nesterov's form (Sutskever et al. 2013) steps by g + momentum·v instead.
class SGD final {
 public:
  /// 0.9 by default, in [0, 1); 0 keeps no moment.
  constexpr SGD& momentum(double value) {
    momentum_ = detail::checked_decay_rate("momentum", value);
    return *this;
  }
  /// Needs momentum above 0 and dampening 0, see validate().
  constexpr SGD& nesterov(bool value = true) {
    nesterov_ = value;
    return *this;
  }
  /// 0 by default, in [0, 1].
  constexpr SGD& dampening(double value) {
    if (!(value >= 0.0 && value <= 1.0)) value_error("dampening", value, "0 to 1");
    dampening_ = value;
    return *this;
  }
  /// 0 by default; biases are never decayed.
  constexpr SGD& weight_decay(double value) {
    weight_decay_ = detail::checked_weight_decay(value);
    return *this;
  }
  /// false, the default: g + weight_decay·w takes the place of g, so decay passes through the momentum as in PyTorch.
  /// true: w is multiplied by 1 - lr·weight_decay before the step, as in AdamW.
  constexpr SGD& decoupled(bool value = true) {
    decoupled_ = value;
    return *this;
  }

  constexpr double momentum() const { return momentum_; }
  constexpr bool is_nesterov() const { return nesterov_; }
  constexpr double dampening() const { return dampening_; }
  constexpr double weight_decay() const { return weight_decay_; }
  constexpr bool is_decoupled() const { return decoupled_; }

  static constexpr std::string_view name() { return "SGD"; }
  constexpr int moments() const { return momentum_ > 0.0 ? 1 : 0; }
  static constexpr bool uses_layer_norms() { return false; }
  /// Throws ValueError for Nesterov's form without momentum or with dampening.
  constexpr void validate() const {
    if (nesterov_ && (momentum_ == 0.0 || dampening_ != 0.0)) detail::reject_nesterov(momentum_, dampening_);
  }

 private:
  double momentum_ = 0.9;
  double dampening_ = 0.0;
  double weight_decay_ = 0.0;
  bool nesterov_ = false;
  bool decoupled_ = false;
};

static_assert(Optimizer<SGD>);

}  // namespace tr
