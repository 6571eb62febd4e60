#include "tr/task/training_run.h"

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

TrainingRun::TrainingRun(Engine& engine, const RunParts& parts, TrainingResult& result)
    : engine_(engine),
      inputs_(rank_inputs(engine)),
      pipeline_(parts.pipeline, parts.source, inputs_),
      books_(parts, result),
      findings_(static_cast<std::size_t>(engine.ranks())) {}

void TrainingRun::run() {
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
  const bool averaged = books_.is_averaged(ticket);
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
  if (first) books_.took_step(ticket, executor.last_loss_sum());
  if (books_.ends_phase(ticket)) {
    // The sums of all ranks stand still between these two.
    ranks.meet();
    if (first) books_.end_phase(number, ticket, executor.accumulated());
    if (averaged) executor.load_working_copies(WeightSource::current);
    ranks.meet();
  }
  const bool goes_on = books_.goes_on_after(number);
  // Interrupted in the middle of an evaluation; at its end it was done above.
  if (!goes_on && averaged && !books_.ends_phase(ticket)) {
    ranks.meet();
    executor.load_working_copies(WeightSource::current);
  }
  return goes_on;
}

void TrainingRun::begin_batch(std::int64_t number, const Ticket& ticket) {
  books_.begin_batch(number, ticket);
  if (!ticket.training) return;
  const Plan& plan = engine_.plans().front();
  *engine_.arenas().at<float>(plan.tensors[plan.fixed[Scalar::learning_rate]].tensor, 0) = books_.rate(number);
}

int TrainingRun::variant_of(const Ticket& ticket) const {
  return engine_.variant(ticket.training ? GraphKind::train : GraphKind::evaluate, ticket.rows);
}

void TrainingRun::fail(StepStatus status, std::int64_t number, const Ticket& ticket, ThreadCommunicator& ranks) {
  // The search runs nodes again, whose results a slower rank may still be looking at.
  ranks.meet();
  findings_[static_cast<std::size_t>(ranks.rank())] =
      first_non_finite(engine_.executor(ranks.rank()), variant_of(ticket), slot_of(number));
  ranks.meet();
  if (ranks.rank() == 0) books_.fail(status, number, ticket, first_finding(findings_));
}

}  // namespace tr
