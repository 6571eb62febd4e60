#pragma once

#include <cstdint>

#include "tr/algo/scheduler.h"
#include "tr/base/math.h"

namespace tr {

/// Half a period of a cosine from base_lr down to eta_min (Loshchilov, Hutter: SGDR, ICLR 2017, equation 5, without
/// restarts): η + (base - η)·(1 + cos(π·min(1, d/Q)))/2. By batch Q is the number of steps after the warm-up, so that
/// eta_min would follow the last step; by epoch it is one epoch less, so that the last epoch has eta_min. Where that
/// leaves nothing (Q = 0) the rate is base_lr.
class CosineAnnealingLR final : public SchedulerBase<CosineAnnealingLR> {
 public:
  /// The lowest rate, at most base_lr; 1e-6 by default. Throws ValueError when negative or not finite.
  constexpr CosineAnnealingLR& eta_min(double lr) {
    eta_min_ = detail::checked_rate("eta_min", lr);
    return changed();
  }
  constexpr double eta_min() const { return eta_min_; }

  constexpr double decayed(std::int64_t d, std::int64_t total) const {
    const std::int64_t q = steps_by_batch() ? total : total - steps_per_epoch();
    if (q <= 0) return base_lr();
    if (d >= q) return eta_min_;
    const double progress = static_cast<double>(d) / static_cast<double>(q);
    return detail::blend(eta_min_, base_lr(), (1.0 + math::cos_pi(progress)) / 2.0);
  }

  constexpr void check() const {
    if (eta_min_ > base_lr()) detail::reject_above_base("eta_min", eta_min_, base_lr());
  }

 private:
  double eta_min_ = 1e-6;
};

static_assert(Scheduler<CosineAnnealingLR>);

}  // namespace tr
