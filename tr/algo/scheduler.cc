#include "tr/algo/scheduler.h"

#include <fmt/format.h>

#include <cmath>

#include "tr/algo/any_scheduler.h"

namespace tr::detail {

void reject_run_length(int total_epochs, int steps_per_epoch) {
  throw ValueError(fmt::format("a schedule of {} epochs with {} steps each has no step; both must be 1 or more",
                               total_epochs, steps_per_epoch));
}

void reject_warmup(int warmup_epochs, int total_epochs) {
  throw ValueError(
      fmt::format("warmup is {} epochs, legal is at most the {} epochs of the run", warmup_epochs, total_epochs));
}

void reject_two_warmup_starts(double start_lr, double start_factor) {
  throw ValueError(fmt::format("the warm-up starts both at warmup_start_lr {} and at warmup_start_factor {}; give one",
                               start_lr, start_factor));
}

void reject_above_base(const char* parameter, double value, double base_lr) {
  throw ValueError(fmt::format("{} is {}, legal is at most base_lr, which is {}", parameter, value, base_lr));
}

void reject_milestone_order(int milestone, int next) {
  throw ValueError(fmt::format("milestones has {} after {}, legal is each later than the one before", next, milestone));
}

void reject_stepping_change(const char* wanted, const char* locked) {
  throw StateError(fmt::format("{} after {}: the first choice stands, remove one of the two", wanted, locked));
}

void reject_unprepared() {
  throw StateError("lr() of a schedule that does not know the length of the run; call prepare(epochs, steps) last");
}

}  // namespace tr::detail

namespace tr {

void require_rate(float rate, int epoch, int batch) {
  if (rate >= 0.0F && std::isfinite(rate)) return;
  throw ValueError(
      fmt::format("the schedule gives a learning rate of {} in epoch {}, batch {}; legal is 0 or more, finite", rate,
                  epoch + 1, batch + 1));
}

}  // namespace tr
