#pragma once

#include <cstdint>

#include "tr/algo/scheduler.h"
#include "tr/base/math.h"

namespace tr {

/// Stairs of equal length: base·γ^⌊d/(step_size·S)⌋, d steps after the warm-up, with S steps an epoch. PyTorch's
/// StepLR.
class StepLR final : public SchedulerBase<StepLR> {
 public:
  /// The length of a stair; 10 by default. Throws ValueError when below 1.
  constexpr StepLR& step_size(int epochs) {
    if (epochs < 1) value_error("step_size", epochs, "1 or more epochs");
    step_size_ = epochs;
    return changed();
  }

  /// By what every stair is lower than the one before; 0.1 by default. Throws ValueError outside [0, 1].
  constexpr StepLR& gamma(double factor) {
    gamma_ = detail::checked_part("gamma", factor);
    return changed();
  }

  constexpr int step_size() const { return static_cast<int>(step_size_); }
  constexpr double gamma() const { return gamma_; }

  constexpr double decayed(std::int64_t d, std::int64_t /*total*/) const {
    const std::int64_t stair = d / (step_size_ * steps_per_epoch());
    return base_lr() * math::pow(gamma_, static_cast<double>(stair));
  }

 private:
  double gamma_ = 0.1;
  std::int64_t step_size_ = 10;
};

static_assert(Scheduler<StepLR>);

}  // namespace tr
