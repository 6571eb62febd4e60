#pragma once

#include <limits>
#include <optional>

#include "tr/algo/optimizer.h"

namespace tr {

/// Limits gradients, as the mean over the batch, before the optimizer sees them; none by default. With both limits
/// values are clipped first.
class GradientClipping final {
 public:
  /// Scales all gradients by one factor, see clip_factor(), so that the L2 norm of all of them together is at most
  /// `max`, a normal float above 0 (Pascanu et al. 2013, algorithm 1).
  constexpr GradientClipping& by_norm(double max) {
    norm_ = detail::checked_normal("by_norm", max);
    return *this;
  }
  /// Limits each element to [-max, max], `max` a normal float above 0.
  constexpr GradientClipping& by_value(double max) {
    value_ = detail::checked_normal("by_value", max);
    return *this;
  }

  /// The limits; 0 where there is none.
  constexpr double norm() const { return norm_; }
  constexpr double value() const { return value_; }

 private:
  double norm_ = 0.0;
  double value_ = 0.0;
};

/// By what all gradients are multiplied when their common L2 norm may be at most `max_norm`, in the form of PyTorch's
/// clip_grad_norm_: min(1, max_norm/(total_norm + 1e-6)). Nothing where such a step cannot be taken: the norm is not
/// finite, or the factor is so small that the kernels would take it for 0.
constexpr std::optional<float> clip_factor(double total_norm, double max_norm) {
  if (!(total_norm >= 0.0 && total_norm <= std::numeric_limits<double>::max())) return std::nullopt;
  const double factor = max_norm / (total_norm + 1e-6);
  if (factor >= 1.0) return 1.0F;
  if (!(factor >= static_cast<double>(std::numeric_limits<float>::min()))) return std::nullopt;
  return static_cast<float>(factor);
}

}  // namespace tr
