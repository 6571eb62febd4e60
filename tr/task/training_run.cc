#include "tr/task/training_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "tr/base/clock.h"
#include "tr/base/error.h"
#include "tr/exec/cpu_rank.h"
#include "tr/exec/inspect.h"

namespace tr {
namespace {

std::vector<RankInput> rank_inputs(const Engine& engine) {
  std::vector<RankInput> inputs;
  for (int rank = 0; rank < engine.ranks(); ++rank) {
    const Plan& plan = engine.plans()[static_cast<std::size_t>(rank)];
    RankInput input;
    for (std::size_t slot = 0; slot < 2; ++slot) {
      input.images[slot] = engine.arenas().address(plan.tensors[plan.fixed.data[slot]].tensor, rank);
      input.labels[slot] = engine.arenas().at<std::int32_t>(plan.tensors[plan.fixed.labels[slot]].tensor, rank);
    }
    inputs.push_back(input);
  }
  return inputs;
}

int slot_of(std::int64_t number) { return static_cast<int>(number % CpuExecutor::slots); }

}  // namespace

TrainingRun::TrainingRun(Engine& engine, const TrainingSettings& settings, const CustomScheduler& scheduler,
                         const PipelineConfig& pipeline, const SampleSource& source, Progress& progress,
                         const InterruptGuard& interrupts)
    : engine_(engine),
      settings_(settings),
      scheduler_(scheduler),
      inputs_(rank_inputs(engine)),
      pipeline_(pipeline, source, inputs_),
      progress_(progress),
      interrupts_(interrupts),
      findings_(static_cast<std::size_t>(engine.ranks())) {}

void TrainingRun::run(TrainingResult& result) {
  result_ = &result;
  // Nothing is allocated between the first step and the last.
  result.epochs.reserve(static_cast<std::size_t>(settings_.total_epochs));
  engine_.pool().run([this](ThreadCommunicator& ranks) {
    try {
      walk(ranks);
    } catch (...) {
      // A rank that waits for a batch would not notice that another has failed.
      pipeline_.stop();
      throw;
    }
  });
  pipeline_.stop();
}

void TrainingRun::walk(ThreadCommunicator& ranks) {
  for (std::int64_t number = 0; pipeline_.wait(number, ranks.rank()); ++number) {
    if (!take_batch(number, pipeline_.stream().at(number), ranks)) return;
  }
}

bool TrainingRun::take_batch(std::int64_t number, const Ticket& ticket, ThreadCommunicator& ranks) {
  CpuExecutor& executor = engine_.executor(ranks.rank());
  const bool first = ranks.rank() == 0;
  const bool averaged = executor.variant(variant_of(ticket)).averaged;
  if (ticket.batch == 0) executor.reset_accumulated();
  if (ticket.batch == 0 && averaged) {
    executor.load_working_copies(WeightSource::average);
    ranks.meet();
  }
  if (first) begin_batch(number, ticket);
  const StepStatus status = executor.run(variant_of(ticket), slot_of(number), ranks);
  if (status != StepStatus::ok) {
    fail(status, number, ticket, ranks);
    return false;
  }
  pipeline_.release(number);
  if (first && ticket.training) {
    progress_.step(ticket.epoch + 1, ticket.batch, ticket.rows, executor.last_loss_sum() / ticket.rows);
  }
  if (ends_phase(ticket)) {
    // The sums of all ranks stand still between these two.
    ranks.meet();
    if (first) end_phase(number, ticket);
    if (averaged) executor.load_working_copies(WeightSource::current);
    ranks.meet();
  }
  const bool goes_on = last_batch_.load(std::memory_order_relaxed) > number;
  if (!goes_on && averaged) {
    ranks.meet();
    executor.load_working_copies(WeightSource::current);
  }
  return goes_on;
}

void TrainingRun::begin_batch(std::int64_t number, const Ticket& ticket) {
  if (ticket.training && ticket.batch == 0) {
    epoch_start_ = steady_seconds();
    epoch_ = {};
    epoch_.epoch = ticket.epoch + 1;
  }
  if (interrupts_.pending()) {
    result_->interrupted = true;
    last_batch_.store(number, std::memory_order_relaxed);
  }
  if (!ticket.training) return;
  const float rate = scheduler_.lr(ticket.epoch, ticket.batch);
  require_rate(rate, ticket.epoch, ticket.batch);
  epoch_.lr = rate;
  const Plan& plan = engine_.plans().front();
  *engine_.arenas().at<float>(plan.tensors[plan.fixed[Scalar::learning_rate]].tensor, 0) = rate;
}

int TrainingRun::variant_of(const Ticket& ticket) const {
  return engine_.variant(ticket.training ? GraphKind::train : GraphKind::evaluate, ticket.rows);
}

bool TrainingRun::ends_phase(const Ticket& ticket) const {
  const BatchStream& stream = pipeline_.stream();
  return ticket.batch + 1 == (ticket.training ? stream.train_batches() : stream.eval_batches());
}

void TrainingRun::end_phase(std::int64_t number, const Ticket& ticket) {
  const Metrics sums = engine_.executor(0).accumulated();
  const double rows = sums[Metric::rows];
  if (ticket.training) {
    epoch_.train_loss = sums[Metric::loss] / rows;
    epoch_.images_per_second = rows / (steady_seconds() - epoch_start_);
    if (pipeline_.stream().validates_after(ticket.epoch)) return;
  } else {
    epoch_.evaluated = true;
    epoch_.test_loss = sums[Metric::loss] / rows;
    epoch_.top1 = sums[Metric::top1] / rows;
    epoch_.top5 = sums[Metric::top5] / rows;
  }
  close_epoch(number);
}

void TrainingRun::close_epoch(std::int64_t number) {
  epoch_.seconds = steady_seconds() - epoch_start_;
  result_->epochs.push_back(epoch_);
  if (epoch_.evaluated && (result_->best_epoch == 0 || epoch_.top1 > result_->best_top1)) {
    result_->best_top1 = epoch_.top1;
    result_->best_epoch = epoch_.epoch;
  }
  if (epoch_.evaluated && epoch_.top1 >= settings_.stop_at_top1) last_batch_.store(number, std::memory_order_relaxed);
  progress_.epoch(epoch_);
}

void TrainingRun::fail(StepStatus status, std::int64_t number, const Ticket& ticket, ThreadCommunicator& ranks) {
  // The search runs nodes again, whose results a slower rank may still be looking at.
  ranks.meet();
  findings_[static_cast<std::size_t>(ranks.rank())] =
      first_non_finite(engine_.executor(ranks.rank()), variant_of(ticket), slot_of(number));
  ranks.meet();
  if (ranks.rank() == 0) throw Error(failure(status, ticket));
}

std::string TrainingRun::failure(StepStatus status, const Ticket& ticket) const {
  const int steps = pipeline_.stream().train_batches();
  const std::string place = fmt::format(
      "in {} batch {} of epoch {} (step {}, learning rate {})", ticket.training ? "training" : "evaluation",
      ticket.batch + 1, ticket.epoch + 1,
      std::int64_t{ticket.epoch} * steps + (ticket.training ? ticket.batch + 1 : steps), static_cast<float>(epoch_.lr));
  if (status == StepStatus::norm_too_large) {
    return fmt::format(
        "the gradients' norm {} is too large to be clipped: the factor is below the smallest float; try a "
        "lower rate, a longer warm-up, or look at the data",
        place);
  }
  const auto found =
      std::find_if(findings_.begin(), findings_.end(), [](const std::string& finding) { return !finding.empty(); });
  return fmt::format(
      "{} is not finite {}; first non-finite tensor: {}; try a lower rate, a longer warm-up, or look at "
      "the data",
      status == StepStatus::update_not_finite ? "a weight, moment or gradient" : "the loss", place,
      found == findings_.end() ? "none found" : *found);
}

}  // namespace tr
