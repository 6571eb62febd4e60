#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "tr/algo/scheduler.h"
#include "tr/base/math.h"

namespace tr {

/// Lower by the same factor at each of some epochs: base·γ^(number of milestones ≤ epoch). An epoch counts from the
/// start of the run, the warm-up included; a milestone within the warm-up takes effect behind it. PyTorch's
/// MultiStepLR.
class MultiStepLR final : public SchedulerBase<MultiStepLR> {
 public:
  static constexpr std::size_t max_milestones = 16;

  /// The epochs in increasing order, each 1 or later, at most 16 of them; none by default, then the rate is base_lr.
  /// Throws ValueError for a number out of range; their order is looked at when the run is prepared.
  constexpr MultiStepLR& milestones(std::span<const int> epochs) {
    if (epochs.size() > max_milestones) {
      value_error("the number of milestones", static_cast<double>(epochs.size()), "at most 16");
    }
    for (const int epoch : epochs) {
      if (epoch < 1) value_error("a milestone", epoch, "1 or more epochs");
    }
    milestones_ = {};
    std::copy(epochs.begin(), epochs.end(), milestones_.begin());
    return changed();
  }
  constexpr MultiStepLR& milestones(std::initializer_list<int> epochs) {
    return milestones(std::span<const int>(epochs.begin(), epochs.size()));
  }

  /// The factor; 0.1 by default. Throws ValueError outside [0, 1].
  constexpr MultiStepLR& gamma(double factor) {
    gamma_ = detail::checked_part("gamma", factor);
    return changed();
  }

  constexpr std::span<const int> milestones() const { return {milestones_.begin(), std::ranges::find(milestones_, 0)}; }
  constexpr double gamma() const { return gamma_; }

  constexpr double decayed(std::int64_t d, std::int64_t /*total*/) const {
    const std::int64_t epoch = warmup() + d / steps_per_epoch();
    return base_lr() * math::pow(gamma_, static_cast<double>(std::ranges::count_if(
                                             milestones(), [=](int milestone) { return milestone <= epoch; })));
  }

  constexpr void check() const {
    const auto epochs = milestones();
    for (std::size_t i = 1; i < epochs.size(); ++i) {
      if (epochs[i] <= epochs[i - 1]) detail::reject_milestone_order(epochs[i - 1], epochs[i]);
    }
  }

 private:
  double gamma_ = 0.1;
  std::array<int, max_milestones> milestones_{};  // 0 follows the last.
};

static_assert(Scheduler<MultiStepLR>);

}  // namespace tr
