#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tr/algo/scheduler.h"
#include "tr/base/math.h"

namespace tr {

/// Half a period of a cosine from base_lr down to eta_min, again and again (Loshchilov, Hutter: SGDR, ICLR 2017,
/// equation 5): η + (base - η)·(1 + cos(π·p))/2, where p is the part that has passed of the cycle at hand. Cycle i
/// lasts T_0·T_mult^i epochs; at its end the rate is base_lr again. PyTorch's CosineAnnealingWarmRestarts, which takes
/// whole T_mult only.
class CosineAnnealingWithWarmRestartsLR final : public SchedulerBase<CosineAnnealingWithWarmRestartsLR> {
 public:
  /// T_0, the length of the first cycle; 10 by default. Throws ValueError when below 1.
  constexpr CosineAnnealingWithWarmRestartsLR& t_0(int epochs) {
    if (epochs < 1) value_error("t_0", epochs, "1 or more epochs");
    t_0_ = epochs;
    return changed();
  }

  /// T_mult, by what every cycle is longer than the one before; 1 by default. Throws ValueError when below 1 or not
  /// finite.
  constexpr CosineAnnealingWithWarmRestartsLR& t_mult(double factor) {
    if (!(factor >= 1.0 && math::is_finite(factor))) value_error("t_mult", factor, "1 or more, and finite");
    t_mult_ = factor;
    return changed();
  }

  /// The lowest rate, at most base_lr; 0 by default. Throws ValueError when negative or not finite.
  constexpr CosineAnnealingWithWarmRestartsLR& eta_min(double lr) {
    eta_min_ = detail::checked_rate("eta_min", lr);
    return changed();
  }

  constexpr int t_0() const { return static_cast<int>(t_0_); }
  constexpr double t_mult() const { return t_mult_; }
  constexpr double eta_min() const { return eta_min_; }

  constexpr double decayed(std::int64_t d, std::int64_t /*total*/) const {
    const std::int64_t first = t_0_ * steps_per_epoch();
    const bool is_whole = t_mult_ < 0x1p31 && t_mult_ == static_cast<double>(static_cast<std::int64_t>(t_mult_));
    const double passed = is_whole ? passed_of_whole_cycle(d, first) : passed_of_cycle(d, first);
    return detail::blend(eta_min_, base_lr(), (1.0 + math::cos_pi(passed)) / 2.0);
  }

  constexpr void check() const {
    if (eta_min_ > base_lr()) detail::reject_above_base("eta_min", eta_min_, base_lr());
  }

 private:
  /// In whole numbers, so that the longest run does not drift.
  constexpr double passed_of_whole_cycle(std::int64_t d, std::int64_t length) const {
    const auto factor = static_cast<std::int64_t>(t_mult_);
    if (factor == 1) return static_cast<double>(d % length) / static_cast<double>(length);
    while (d >= length) {
      d -= length;
      // The next cycle is longer than all that is left; its length may be too large for an integer.
      if (length > d / factor) return static_cast<double>(d) / (static_cast<double>(length) * t_mult_);
      length *= factor;
    }
    return static_cast<double>(d) / static_cast<double>(length);
  }

  /// Cycle i starts at G(i) = 1 + m + … + m^(i-1) first cycles. The last one that has started is found in binary
  /// digits, from G(i + 2^j) = G(i) + m^i·G(2^j): no term is negative, so nothing cancels, and the factor may be close
  /// to 1.
  constexpr double passed_of_cycle(std::int64_t d, std::int64_t first) const {
    const double now = static_cast<double>(d) / static_cast<double>(first);
    std::array<double, 64> sums{1.0};         // G(2^j)
    std::array<double, 64> lengths{t_mult_};  // m^(2^j)
    std::size_t digits = 0;
    while (has_started(sums[digits], now)) {
      sums[digits + 1] = sums[digits] * (1.0 + lengths[digits]);
      ++digits;
      // Else it is not asked for, and might be too large for a constant expression.
      if (has_started(sums[digits], now)) lengths[digits] = lengths[digits - 1] * lengths[digits - 1];
    }
    double start = 0.0;
    double length = 1.0;
    while (digits-- > 0) {
      const double later = start + length * sums[digits];
      if (!has_started(later, now)) continue;
      start = later;
      length *= lengths[digits];
    }
    return now > start ? (now - start) / length : 0.0;
  }

  /// A start that rounding may have put behind a step counts as that step: 1.1 is not quite 11/10, but 100 epochs and
  /// 110 more end with epoch 210.
  static constexpr bool has_started(double start, double now) { return start * (1.0 - 0x1p-40) <= now; }

  double t_mult_ = 1.0;
  double eta_min_ = 0.0;
  std::int64_t t_0_ = 10;
};

static_assert(Scheduler<CosineAnnealingWithWarmRestartsLR>);

}  // namespace tr
