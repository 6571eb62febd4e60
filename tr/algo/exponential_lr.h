#pragma once

#include <cstdint>

#include "tr/algo/scheduler.h"
#include "tr/base/math.h"

namespace tr {

/// Lower by the same factor after every epoch: base·γ^⌊d/S⌋, d steps after the warm-up, with S steps an epoch.
/// PyTorch's ExponentialLR.
class ExponentialLR final : public SchedulerBase<ExponentialLR> {
 public:
  /// The factor; 0.95 by default. Throws ValueError outside [0, 1].
  constexpr ExponentialLR& gamma(double factor) {
    gamma_ = detail::checked_part("gamma", factor);
    return changed();
  }
  constexpr double gamma() const { return gamma_; }

  constexpr double decayed(std::int64_t d, std::int64_t /*total*/) const {
    const std::int64_t epochs = d / steps_per_epoch();
    return base_lr() * math::pow(gamma_, static_cast<double>(epochs));
  }

 private:
  double gamma_ = 0.95;
};

static_assert(Scheduler<ExponentialLR>);

}  // namespace tr
