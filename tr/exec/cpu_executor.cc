#include "tr/exec/cpu_executor.h"

#include <cmath>
#include <cstring>

#include "kernels/cpu/list.h"
#include "tr/base/error.h"
#include "tr/base/math.h"
#include "tr/exec/update.h"

namespace tr {

CpuExecutor::CpuExecutor(const Plan& plan, const Arenas& arenas, int rank, const AnyOptimizer& optimizer)
    : plan_(&plan), arenas_(&arenas), rank_(rank), optimizer_(optimizer), working_copies_(plan, arenas, rank) {}

cpu::Operand CpuExecutor::operand(int id, const Variant& variant, int slot) const {
  if (id < 0) return {};
  const bool averaged = variant.averaged && is_parameter(plan_->tensors[id].tensor.region);
  const int stands_for = averaged ? image_of(*plan_, id, Image::average) : plan_->fixed.in_slot(id, slot);
  const DTensor& tensor = plan_->tensors[stands_for].tensor;
  const bool planned = variant.rows == Variant::as_planned || !is_batched(tensor.region);
  const Shape shape = planned ? tensor.shape : tensor.shape.with_rows(variant.rows);
  return {arenas_->address(tensor, rank_), shape, tensor.dtype};
}

cpu::Kernel CpuExecutor::bind_advance_step(const Node& node) const {
  for (int i = 0; i < 3; ++i) {
    if (node.in[i] < 0 || node.out[i] < 0) throw ValueError("an advance_step node has three inputs and three outputs");
  }
  // The scalars live once, so one rank advances them for all.
  if (rank_ != 0) {
    return [] {};
  }
  const auto address = [&](int id) { return arenas_->address(plan_->tensors[id].tensor, 0); };
  const auto* beta1 = reinterpret_cast<const float*>(address(node.in[0]));
  const auto* beta2 = reinterpret_cast<const float*>(address(node.in[1]));
  auto* step = reinterpret_cast<std::int32_t*>(address(node.out[0]));
  auto* correction1 = reinterpret_cast<float*>(address(node.out[1]));
  auto* correction2 = reinterpret_cast<float*>(address(node.out[2]));
  return [=] {
    ++*step;
    *correction1 = static_cast<float>(1.0 - math::pow(*beta1, *step));
    *correction2 = static_cast<float>(1.0 - math::pow(*beta2, *step));
  };
}

cpu::Kernel CpuExecutor::bind(const Node& node, const Variant& variant, int slot) {
  if (node.op == OpKind::meet) return {};
  if (node.op == OpKind::advance_step) return bind_advance_step(node);
  if (node.op == OpKind::reduce_gradients) return bind_reduce_gradients(node, *plan_, *arenas_, rank_, optimizer_);
  if (node.op == OpKind::update) return bind_update(node, *plan_, *arenas_, rank_, optimizer_);
  cpu::Operation operation{.kind = node.op, .attributes = node.attributes};
  if (operation.attributes.total_rows == 0) operation.attributes.total_rows = variant.total_rows;
  for (std::size_t i = 0; i < node.in.size(); ++i) {
    operation.in[i] = operand(node.in[i], variant, slot);
    operation.out[i] = operand(node.out[i], variant, slot);
  }
  return cpu::make_kernel(operation, scratch_);
}

int CpuExecutor::prepare(const Variant& variant, std::span<const int> order) {
  const FlatList<Node>& nodes = plan_->atlas[variant.kind].nodes;
  Bound bound{.what = variant, .steps = {}};
  for (int slot = 0; slot < slots; ++slot) {
    std::vector<Step>& steps = bound.steps[static_cast<std::size_t>(slot)];
    steps.reserve(static_cast<std::size_t>(nodes.size()));
    for (int i = 0; i < nodes.size(); ++i) {
      const Node& node = nodes[order.empty() ? i : order[static_cast<std::size_t>(i)]];
      steps.push_back({&node, bind(node, variant, slot)});
    }
  }
  variants_.push_back(std::move(bound));
  return static_cast<int>(variants_.size()) - 1;
}

void CpuExecutor::finish() { scratch_.allocate(); }

StepStatus CpuExecutor::run(int variant, int slot, ThreadCommunicator& ranks) {
  for (const Step& step : variants_[static_cast<std::size_t>(variant)].steps[static_cast<std::size_t>(slot)]) {
    if (!step.node->is_fence()) {
      step.kernel();
      continue;
    }
    ranks.meet();
    const StepStatus status = look_at(*step.node, slot);
    if (status != StepStatus::ok) return status;
  }
  return StepStatus::ok;
}

void CpuExecutor::replay(int variant, int slot, int node) {
  const Bound& bound = variants_[static_cast<std::size_t>(variant)];
  bound.steps[static_cast<std::size_t>(slot)][static_cast<std::size_t>(node)].kernel();
}

// Only what the meeting point names is looked at: nobody writes that before all have met once more, while anything else
// may already be written by a rank that has gone on.
StepStatus CpuExecutor::look_at(const Node& meet, int slot) {
  for (int id : meet.in) {
    if (id < 0) continue;
    if (id == plan_->fixed.result[0]) {
      const Metrics metrics = result(slot);
      last_loss_sum_ = metrics[Metric::loss];
      if (metrics[Metric::illegal_labels] > 0.0) return StepStatus::illegal_label;
      if (!std::isfinite(last_loss_sum_)) return StepStatus::loss_not_finite;
    } else if (id == plan_->fixed.square_sums) {
      const StepStatus status = norm_status(*plan_, *arenas_);
      if (status != StepStatus::ok) return status;
    } else if (any_flag(id)) {
      return StepStatus::update_not_finite;
    }
  }
  return StepStatus::ok;
}

StepStatus CpuExecutor::status(int slot) const {
  const Metrics metrics = result(slot);
  if (metrics[Metric::illegal_labels] > 0.0) return StepStatus::illegal_label;
  if (!std::isfinite(metrics[Metric::loss])) return StepStatus::loss_not_finite;
  for (int id : plan_->fixed.not_finite) {
    if (any_flag(id)) return StepStatus::update_not_finite;
  }
  return StepStatus::ok;
}

bool CpuExecutor::any_flag(int id) const {
  for (int rank = 0; rank < arenas_->ranks(); ++rank) {
    if (*arenas_->at<const std::int32_t>(plan_->tensors[id].tensor, rank) != 0) return true;
  }
  return false;
}

Metrics CpuExecutor::sum_over_ranks(int id) const {
  Metrics sum;
  for (int rank = 0; rank < arenas_->ranks(); ++rank) {
    const auto* values = arenas_->at<const double>(plan_->tensors[id].tensor, rank);
    for (int i = 0; i < metric_count; ++i) sum.sums[static_cast<std::size_t>(i)] += values[i];
  }
  return sum;
}

Metrics CpuExecutor::result(int slot) const {
  return sum_over_ranks(plan_->fixed.in_slot(plan_->fixed.result[0], slot));
}

Metrics CpuExecutor::accumulated() const { return sum_over_ranks(plan_->fixed.accumulated); }

void CpuExecutor::reset_accumulated() {
  const DTensor& tensor = plan_->tensors[plan_->fixed.accumulated].tensor;
  std::memset(arenas_->address(tensor, rank_), 0, static_cast<std::size_t>(tensor.bytes()));
}

}  // namespace tr
