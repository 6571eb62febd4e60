#pragma once

#include "tr/algo/optimizer.h"

namespace tr {

/// An exponential moving average of the weights and biases (Polyak, Juditsky 1992; in this form as PyTorch's
/// AveragedModel with get_ema_multi_avg_fn): after each step e ← decay·e + (1 - decay)·w, the first step takes e = w.
/// Statistics of batch normalisation are not averaged.
class EMA final {
 public:
  /// 0.999 by default, in [0, 1) also as a float.
  constexpr EMA& decay(double value) {
    decay_ = detail::checked_decay_rate("decay", value);
    return *this;
  }
  /// Evaluates with the average in place of the weights; false by default. Training goes on with the weights.
  constexpr EMA& evaluate(bool value = true) {
    evaluate_ = value;
    return *this;
  }

  constexpr double decay() const { return decay_; }
  constexpr bool evaluates() const { return evaluate_; }

 private:
  double decay_ = 0.999;
  bool evaluate_ = false;
};

}  // namespace tr
