#include "tr/task/run_books.h"

#include <fmt/format.h>

#include "tr/base/clock.h"
#include "tr/base/error.h"

namespace tr {

std::string first_finding(const std::vector<std::string>& findings) {
  for (const std::string& finding : findings) {
    if (!finding.empty()) return finding;
  }
  return "none found";
}

RunBooks::RunBooks(const RunParts& parts, TrainingResult& result)
    : settings_(parts.settings),
      scheduler_(parts.scheduler),
      stream_(parts.pipeline.stream),
      progress_(parts.progress),
      interrupts_(parts.interrupts),
      result_(result) {
  // Nothing is allocated between the first step and the last.
  result.epochs.reserve(static_cast<std::size_t>(settings_.total_epochs));
}

bool RunBooks::ends_phase(const Ticket& ticket) const {
  return ticket.batch + 1 == (ticket.training ? stream_.train_batches() : stream_.eval_batches());
}

bool RunBooks::is_averaged(const Ticket& ticket) const {
  return !ticket.training && settings_.update_rule().evaluates_average();
}

void RunBooks::begin_batch(std::int64_t number, const Ticket& ticket) {
  if (ticket.training && ticket.batch == 0) {
    epoch_start_ = steady_seconds();
    epoch_ = {};
    epoch_.epoch = ticket.epoch + 1;
  }
  if (interrupts_.pending()) {
    result_.interrupted = true;
    last_batch_.store(number, std::memory_order_relaxed);
  }
  float& rate = rates_[static_cast<std::size_t>(number % 2)];
  rate = 0.0F;
  if (!ticket.training) return;
  rate = scheduler_.lr(ticket.epoch, ticket.batch);
  require_rate(rate, ticket.epoch, ticket.batch);
  epoch_.lr = rate;
}

void RunBooks::took_step(const Ticket& ticket, double loss_sum) {
  if (ticket.training) progress_.step(ticket.epoch + 1, ticket.batch, ticket.rows, loss_sum / ticket.rows);
}

void RunBooks::end_phase(std::int64_t number, const Ticket& ticket, const Metrics& sums) {
  const double rows = sums[Metric::rows];
  if (ticket.training) {
    epoch_.train_loss = sums[Metric::loss] / rows;
    epoch_.images_per_second = rows / (steady_seconds() - epoch_start_);
    if (stream_.validates_after(ticket.epoch)) return;
  } else {
    epoch_.evaluated = true;
    epoch_.test_loss = sums[Metric::loss] / rows;
    epoch_.top1 = sums[Metric::top1] / rows;
    epoch_.top5 = sums[Metric::top5] / rows;
  }
  close_epoch(number);
}

void RunBooks::close_epoch(std::int64_t number) {
  epoch_.seconds = steady_seconds() - epoch_start_;
  result_.epochs.push_back(epoch_);
  if (epoch_.evaluated && (result_.best_epoch == 0 || epoch_.top1 > result_.best_top1)) {
    result_.best_top1 = epoch_.top1;
    result_.best_epoch = epoch_.epoch;
  }
  if (epoch_.evaluated && epoch_.top1 >= settings_.stop_at_top1) last_batch_.store(number, std::memory_order_relaxed);
  progress_.epoch(epoch_);
}

void RunBooks::fail(StepStatus status, std::int64_t number, const Ticket& ticket, const std::string& tensor) const {
  const int steps = stream_.train_batches();
  const std::string place =
      fmt::format("in {} batch {} of epoch {} (step {}, learning rate {})", ticket.training ? "training" : "evaluation",
                  ticket.batch + 1, ticket.epoch + 1,
                  std::int64_t{ticket.epoch} * steps + (ticket.training ? ticket.batch + 1 : steps),
                  ticket.training ? rate(number) : static_cast<float>(epoch_.lr));
  constexpr const char* remedy = "try a lower rate, a longer warm-up, or look at the data";
  if (status == StepStatus::norm_too_large) {
    throw Error(
        fmt::format("the gradients' norm {} is too large to be clipped: the factor is below the smallest float; {}",
                    place, remedy));
  }
  throw Error(fmt::format("{} is not finite {}; first non-finite tensor: {}; {}",
                          status == StepStatus::update_not_finite ? "a weight, moment or gradient" : "the loss", place,
                          tensor, remedy));
}

}  // namespace tr
