#pragma once

#include <string_view>

#include "tr/algo/optimizer.h"

namespace tr {

/// What Adam and AdamW share: all but how weights decay. An optimizer derives from `AdamBase<Itself>` and adds `name()`
/// and `is_decoupled()`.
template <class Derived>
class AdamBase {
 public:
  /// The decay rate of the mean gradient: 0.9 by default, in [0, 1).
  constexpr Derived& beta1(double value) {
    beta1_ = detail::checked_decay_rate("beta1", value);
    return derived();
  }
  /// The decay rate of the mean squared gradient: 0.999 by default, in [0, 1).
  constexpr Derived& beta2(double value) {
    beta2_ = detail::checked_decay_rate("beta2", value);
    return derived();
  }
  /// 1e-8 by default, a normal float above 0.
  constexpr Derived& eps(double value) {
    eps_ = detail::checked_normal("eps", value);
    return derived();
  }
  /// Biases are never decayed.
  constexpr Derived& weight_decay(double value) {
    weight_decay_ = detail::checked_weight_decay(value);
    return derived();
  }

  constexpr double beta1() const { return beta1_; }
  constexpr double beta2() const { return beta2_; }
  constexpr double eps() const { return eps_; }
  constexpr double weight_decay() const { return weight_decay_; }

  static constexpr int moments() { return 2; }
  static constexpr bool uses_layer_norms() { return false; }
  /// Every setting is checked by its setter, and no two contradict each other.
  constexpr void validate() const {}

 private:
  friend Derived;
  constexpr explicit AdamBase(double weight_decay) : weight_decay_(weight_decay) {}
  constexpr Derived& derived() { return static_cast<Derived&>(*this); }

  double beta1_ = 0.9;
  double beta2_ = 0.999;
  double eps_ = 1e-8;
  double weight_decay_;
};

/// Adam (Kingma, Ba: Adam, a method for stochastic optimization, ICLR 2015, algorithm 1), with L2 decay in the form of
/// PyTorch: g ← g + weight_decay·w, m ← beta1·m + (1 - beta1)·g, v ← beta2·v + (1 - beta2)·g²,
/// w ← w - lr·m̂/(√v̂ + eps), m̂ and v̂ the moments after bias correction. No decay by default.
class Adam final : public AdamBase<Adam> {
 public:
  constexpr Adam() : AdamBase(0.0) {}

  static constexpr std::string_view name() { return "Adam"; }
  static constexpr bool is_decoupled() { return false; }
};

static_assert(Optimizer<Adam>);

}  // namespace tr
