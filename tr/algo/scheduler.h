#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tr/base/error.h"

namespace tr {

/// A learning rate as a pure function of (epoch, batch): prepared once for the length of a run, then asked in any
/// order.
template <class T>
concept Scheduler = std::copyable<T> && requires(const T& schedule, int number) {
  { schedule.prepare(number, number) } -> std::same_as<T>;
  { schedule.lr(number, number) } -> std::same_as<float>;
};

namespace detail {

[[noreturn]] void reject_run_length(int total_epochs, int steps_per_epoch);
[[noreturn]] void reject_warmup(int warmup_epochs, int total_epochs);
[[noreturn]] void reject_two_warmup_starts(double start_lr, double start_factor);
[[noreturn]] void reject_above_base(const char* parameter, double value, double base_lr);
[[noreturn]] void reject_milestone_order(int milestone, int next);
[[noreturn]] void reject_stepping_change(const char* wanted, const char* locked);
[[noreturn]] void reject_unprepared();

constexpr double checked_rate(const char* parameter, double value) {
  if (!(value >= 0.0 && value <= static_cast<double>(std::numeric_limits<float>::max()))) {
    value_error(parameter, value, "0 to 3.4028235e+38");
  }
  return value;
}

constexpr double checked_part(const char* parameter, double value) {
  if (!(value >= 0.0 && value <= 1.0)) value_error(parameter, value, "0 to 1");
  return value;
}

/// low + (high - low)·part for low ≤ high and a part in [0, 1], but never above high, and exact at both ends: the bare
/// sum may miss high by its last place, on either side.
constexpr double blend(double low, double high, double part) {
  const double value = low + (high - low) * part;
  return part < 1.0 && value < high ? value : high;
}

}  // namespace detail

/// What all schedules share: settings, the linear warm-up (Goyal et al. 2017, section 2.2), limits and stepping. A
/// schedule derives from `SchedulerBase<Itself>` and adds
///
///     constexpr double decayed(std::int64_t d, std::int64_t total) const;
///
/// the rate d steps after the warm-up, of `total` steps that follow it; and, where two of its settings can contradict
/// each other, `constexpr void check() const`, which throws ValueError.
///
/// With S steps an epoch, E epochs, T = E·S and a warm-up of W = warmup·S steps, step t = epoch·S + batch (by batch) or
/// epoch·S (by epoch), clamped to [0, T], has the rate start + (base - start)·t/W up to t = W, which is exactly base,
/// and decayed(t - W, T - W) after it. A negative rate or a NaN becomes 0. All is computed in double and rounded once.
template <class Derived>
class SchedulerBase {
 public:
  /// The highest rate; 0.1 by default. Throws ValueError when negative or not finite.
  constexpr Derived& base_lr(double lr) {
    base_lr_ = detail::checked_rate("base_lr", lr);
    return changed();
  }

  /// The length of the linear warm-up; 0 by default, at most the whole run.
  constexpr Derived& warmup(int epochs) {
    if (epochs < 0) value_error("warmup", epochs, "0 or more epochs");
    warmup_epochs_ = epochs;
    return changed();
  }

  /// The rate of step 0, at most base_lr; 0 by default.
  constexpr Derived& warmup_start_lr(double lr) {
    start_lr_ = detail::checked_rate("warmup_start_lr", lr);
    return changed();
  }

  /// The rate of step 0 as a part of base_lr, 0 to 1; instead of warmup_start_lr.
  constexpr Derived& warmup_start_factor(double factor) {
    start_factor_ = detail::checked_part("warmup_start_factor", factor);
    return changed();
  }

  /// Every batch gets a rate of its own. The first choice locks: a contrary one throws StateError.
  constexpr Derived& step_by_batch(bool value = true) {
    const Stepping wanted = value ? Stepping::by_batch : Stepping::by_epoch;
    if (stepping_ != Stepping::open && stepping_ != wanted) {
      detail::reject_stepping_change(name_of(wanted), name_of(stepping_));
    }
    stepping_ = wanted;
    return changed();
  }

  /// All batches of an epoch share its rate; the default. Locks as step_by_batch does.
  constexpr Derived& step_by_epoch() { return step_by_batch(false); }

  /// The schedule for a run of this length, a new value; a setter called on it makes it unprepared again. Throws
  /// ValueError when a number is below 1, the warm-up is longer than the run, both warm-up starts are given, or a rate
  /// that base_lr should bound is above it.
  constexpr Derived prepare(int total_epochs, int steps_per_epoch) const {
    if (total_epochs < 1 || steps_per_epoch < 1) detail::reject_run_length(total_epochs, steps_per_epoch);
    if (warmup_epochs_ > total_epochs) detail::reject_warmup(warmup_epochs_, total_epochs);
    if (start_lr_ >= 0.0 && start_factor_ >= 0.0) detail::reject_two_warmup_starts(start_lr_, start_factor_);
    if (start_lr_ > base_lr_) detail::reject_above_base("warmup_start_lr", start_lr_, base_lr_);
    if constexpr (requires(const Derived& schedule) { schedule.check(); }) self().check();
    Derived prepared = self();
    prepared.total_epochs_ = total_epochs;
    prepared.steps_per_epoch_ = steps_per_epoch;
    return prepared;
  }

  /// The rate of a batch (both numbers count from 0). Throws StateError before prepare().
  constexpr float lr(int epoch, int batch) const {
    if (total_epochs_ == 0) detail::reject_unprepared();
    const std::int64_t total = std::int64_t{total_epochs_} * steps_per_epoch_;
    const std::int64_t asked = std::int64_t{epoch} * steps_per_epoch_ + (steps_by_batch() ? batch : 0);
    const std::int64_t t = asked < 0 ? 0 : asked > total ? total : asked;
    const double rate = rate_at(t, total);
    return rate > 0.0 ? static_cast<float>(rate) : 0.0F;
  }

  constexpr double base_lr() const { return base_lr_; }
  constexpr int warmup() const { return warmup_epochs_; }
  constexpr bool steps_by_batch() const { return stepping_ == Stepping::by_batch; }
  /// 0 before prepare().
  constexpr int steps_per_epoch() const { return steps_per_epoch_; }

 protected:
  /// Ends every setter: the schedule needs to be prepared again.
  constexpr Derived& changed() {
    total_epochs_ = 0;
    steps_per_epoch_ = 0;
    return static_cast<Derived&>(*this);
  }

 private:
  // As wide as its neighbours, so that a schedule has no padding: see CustomScheduler.
  enum class Stepping : int { open, by_epoch, by_batch };

  static constexpr const char* name_of(Stepping stepping) {
    return stepping == Stepping::by_batch ? "step_by_batch" : "step_by_epoch";
  }

  constexpr const Derived& self() const { return static_cast<const Derived&>(*this); }

  constexpr double start() const {
    if (start_lr_ >= 0.0) return start_lr_;
    return start_factor_ >= 0.0 ? start_factor_ * base_lr_ : 0.0;
  }

  constexpr double rate_at(std::int64_t t, std::int64_t total) const {
    const std::int64_t w = std::int64_t{warmup_epochs_} * steps_per_epoch_;
    if (w > 0 && t == w) return base_lr_;
    if (t < w) return detail::blend(start(), base_lr_, static_cast<double>(t) / static_cast<double>(w));
    return self().decayed(t - w, total - w);
  }

  double base_lr_ = 0.1;
  double start_lr_ = -1.0;      // Negative: not given.
  double start_factor_ = -1.0;  // Negative: not given.
  int warmup_epochs_ = 0;
  int total_epochs_ = 0;
  int steps_per_epoch_ = 0;
  Stepping stepping_ = Stepping::open;
};

}  // namespace tr
