#pragma once

#include <limits>
#include <string_view>

#include "tr/algo/optimizer.h"

namespace tr {

/// Adam with decoupled weight decay (Loshchilov, Hutter: Decoupled weight decay regularization, ICLR 2019, algorithm
/// 2): w ← w·(1 - lr·weight_decay) - lr·m̂/(√v̂ + eps), m̂ and v̂ the moments after bias correction.
class AdamW {
 public:
  /// The decay rate of the mean gradient: 0.9 by default, in [0, 1).
  constexpr AdamW& beta1(double value) {
    beta1_ = detail::checked_decay_rate("beta1", value);
    return *this;
  }
  /// The decay rate of the mean squared gradient: 0.999 by default, in [0, 1).
  constexpr AdamW& beta2(double value) {
    beta2_ = detail::checked_decay_rate("beta2", value);
    return *this;
  }
  /// 1e-8 by default, above 0. It must be a normal float: the kernels flush smaller ones to 0 and would divide by it.
  constexpr AdamW& eps(double value) {
    constexpr auto low = static_cast<double>(std::numeric_limits<float>::min());
    constexpr auto high = static_cast<double>(std::numeric_limits<float>::max());
    if (!(value >= low && value <= high)) value_error("eps", value, "1.1754944e-38 to 3.4028235e+38");
    eps_ = value;
    return *this;
  }
  /// 0.01 by default; biases are never decayed.
  constexpr AdamW& weight_decay(double value) {
    weight_decay_ = detail::checked_weight_decay(value);
    return *this;
  }

  constexpr double beta1() const { return beta1_; }
  constexpr double beta2() const { return beta2_; }
  constexpr double eps() const { return eps_; }
  constexpr double weight_decay() const { return weight_decay_; }

  static constexpr std::string_view name() { return "AdamW"; }
  static constexpr int moments() { return 2; }
  /// Every setting is checked by its setter, and no two contradict each other.
  constexpr void validate() const {}

 private:
  double beta1_ = 0.9;
  double beta2_ = 0.999;
  double eps_ = 1e-8;
  double weight_decay_ = 1e-2;
};

static_assert(Optimizer<AdamW>);

}  // namespace tr
