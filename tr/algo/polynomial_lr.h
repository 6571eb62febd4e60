#pragma once

#include <cstdint>

#include "tr/algo/scheduler.h"
#include "tr/base/math.h"

namespace tr {

/// A power of the part of the run that is left: end + (base - end)·(1 - d/(D + 1))^power, d of D steps after the
/// warm-up. The denominator is one more than the number of steps, so that the last one is still above end_lr. With D +
/// 1 in the place of its total_iters and end_lr 0 this is PyTorch's PolynomialLR.
class PolynomialLR final : public SchedulerBase<PolynomialLR> {
 public:
  /// 2 by default; 1 is a straight line. Throws ValueError when negative or not finite.
  constexpr PolynomialLR& power(double exponent) {
    if (!(exponent >= 0.0 && math::is_finite(exponent))) value_error("power", exponent, "0 or more, and finite");
    power_ = exponent;
    return changed();
  }

  /// The rate that the end of the run comes close to, at most base_lr; 1e-4 by default. Throws ValueError when negative
  /// or not finite.
  constexpr PolynomialLR& end_lr(double lr) {
    end_lr_ = detail::checked_rate("end_lr", lr);
    return changed();
  }

  constexpr double power() const { return power_; }
  constexpr double end_lr() const { return end_lr_; }

  constexpr double decayed(std::int64_t d, std::int64_t total) const {
    // Not 1 - d/(D + 1): that would lose the places of a small rest.
    const double rest = static_cast<double>(total + 1 - d) / static_cast<double>(total + 1);
    return detail::blend(end_lr_, base_lr(), math::pow(rest, power_));
  }

  constexpr void check() const {
    if (end_lr_ > base_lr()) detail::reject_above_base("end_lr", end_lr_, base_lr());
  }

 private:
  double power_ = 2.0;
  double end_lr_ = 1e-4;
};

static_assert(Scheduler<PolynomialLR>);

}  // namespace tr
