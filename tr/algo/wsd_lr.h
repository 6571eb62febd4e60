#pragma once

#include <cstdint>

#include "tr/algo/scheduler.h"

namespace tr {

/// Warm-up, stable, decay (Hu et al.: MiniCPM, 2024, section 4): base_lr for the first ⌊D·decay_start⌋ of the D steps
/// after the warm-up, then a straight line down to end_lr, which would follow the last step.
class WSDLR final : public SchedulerBase<WSDLR> {
 public:
  /// The part of the steps after the warm-up that is stable; 0.8 by default, 1 never decays. Throws ValueError outside
  /// [0, 1].
  constexpr WSDLR& decay_start(double part) {
    decay_start_ = detail::checked_part("decay_start", part);
    return changed();
  }

  /// The rate at the end of the run, at most base_lr; 0 by default. Throws ValueError when negative or not finite.
  constexpr WSDLR& end_lr(double lr) {
    end_lr_ = detail::checked_rate("end_lr", lr);
    return changed();
  }

  constexpr double decay_start() const { return decay_start_; }
  constexpr double end_lr() const { return end_lr_; }

  constexpr double decayed(std::int64_t d, std::int64_t total) const {
    const auto stable = static_cast<std::int64_t>(static_cast<double>(total) * decay_start_);
    if (d < stable || stable >= total || decay_start_ == 1.0) return base_lr();
    return detail::blend(end_lr_, base_lr(), static_cast<double>(total - d) / static_cast<double>(total - stable));
  }

  constexpr void check() const {
    if (end_lr_ > base_lr()) detail::reject_above_base("end_lr", end_lr_, base_lr());
  }

 private:
  double decay_start_ = 0.8;
  double end_lr_ = 0.0;
};

static_assert(Scheduler<WSDLR>);

}  // namespace tr
