#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <variant>

#include "tr/algo/constant_lr.h"
#include "tr/algo/cosine_annealing_lr.h"
#include "tr/algo/cosine_annealing_with_warm_restarts_lr.h"
#include "tr/algo/exponential_lr.h"
#include "tr/algo/multi_step_lr.h"
#include "tr/algo/polynomial_lr.h"
#include "tr/algo/scheduler.h"
#include "tr/algo/step_lr.h"
#include "tr/algo/wsd_lr.h"

namespace tr {

class CustomScheduler;

namespace detail {

/// In this order: whether CustomScheduler is copyable cannot be asked while its own constructors are being looked up.
template <class S>
concept ForeignScheduler = !std::same_as<S, CustomScheduler> && Scheduler<S>;

}  // namespace detail

/// A schedule of the user's own, any trivially copyable type that satisfies `Scheduler`: its bytes, and two functions
/// that know the type. No allocation, and copying it is copying the bytes. Usable in constant expressions where the
/// type has no padding.
class CustomScheduler {
 public:
  /// Enough for the library's own, of which MultiStepLR is the largest.
  static constexpr std::size_t capacity = 128;

  template <detail::ForeignScheduler S>
  constexpr CustomScheduler(const S& schedule)  // NOLINT: converts, so that any schedule is an AnyScheduler
      : prepare_(&prepare_as<S>), lr_(&lr_as<S>) {
    static_assert(std::is_trivially_copyable_v<S>,
                  "a schedule of one's own is kept as plain bytes: it must be trivially copyable, so hold numbers and "
                  "arrays in it, no std::vector and no std::string");
    static_assert(
        sizeof(S) <= capacity,
        "a schedule of one's own is kept inline in 128 bytes and this type is larger: keep tables in a static "
        "constexpr array and only what differs between two schedules in the object");
    const auto bytes = std::bit_cast<std::array<std::byte, sizeof(S)>>(schedule);
    for (std::size_t i = 0; i < sizeof(S); ++i) bytes_[i] = bytes[i];
  }

  constexpr CustomScheduler prepare(int total_epochs, int steps_per_epoch) const {
    return prepare_(*this, total_epochs, steps_per_epoch);
  }
  constexpr float lr(int epoch, int batch) const { return lr_(*this, epoch, batch); }

 private:
  template <class S>
  constexpr S as() const {
    std::array<std::byte, sizeof(S)> bytes{};
    for (std::size_t i = 0; i < sizeof(S); ++i) bytes[i] = bytes_[i];
    return std::bit_cast<S>(bytes);
  }

  template <class S>
  static constexpr CustomScheduler prepare_as(const CustomScheduler& self, int total_epochs, int steps_per_epoch) {
    return CustomScheduler(self.as<S>().prepare(total_epochs, steps_per_epoch));
  }
  template <class S>
  static constexpr float lr_as(const CustomScheduler& self, int epoch, int batch) {
    return self.as<S>().lr(epoch, batch);
  }

  std::array<std::byte, capacity> bytes_{};
  CustomScheduler (*prepare_)(const CustomScheduler&, int, int);
  float (*lr_)(const CustomScheduler&, int, int);
};

static_assert(Scheduler<CustomScheduler>);

/// One of the library's schedules, or a user's own.
using AnyScheduler = std::variant<ConstantLR, StepLR, MultiStepLR, ExponentialLR, PolynomialLR, CosineAnnealingLR,
                                  CosineAnnealingWithWarmRestartsLR, WSDLR, CustomScheduler>;

/// See SchedulerBase::prepare; a user's own schedule sets its own rules.
constexpr AnyScheduler prepare(const AnyScheduler& scheduler, int total_epochs, int steps_per_epoch) {
  return std::visit([&](const auto& schedule) { return AnyScheduler(schedule.prepare(total_epochs, steps_per_epoch)); },
                    scheduler);
}

/// See SchedulerBase::lr.
constexpr float lr(const AnyScheduler& scheduler, int epoch, int batch) {
  return std::visit([&](const auto& schedule) { return schedule.lr(epoch, batch); }, scheduler);
}

/// What a schedule answers has to be a rate: throws ValueError, naming epoch and batch, when it is negative or not
/// finite. Those of the library never are; a user's own might.
void require_rate(float rate, int epoch, int batch);

}  // namespace tr
