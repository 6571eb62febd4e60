#include "tr/exec/cpu_executor.h"

#include <cmath>
#include <cstring>

#include "kernels/cpu/list.h"
#include "tr/base/math.h"
#include "tr/exec/update.h"

namespace tr {

CpuExecutor::CpuExecutor(const Plan& plan, const Arenas& arenas, int rank, const AnyOptimizer& optimizer)
    : plan_(&plan), arenas_(&arenas), rank_(rank), optimizer_(optimizer) {}

cpu::Operand CpuExecutor::operand(int id, const Variant& variant, int slot) const {
  if (id < 0) return {};
  const FixedTensors& fixed = plan_->fixed;
  if (id == fixed.data[0]) id = fixed.data[slot];
  if (id == fixed.labels[0]) id = fixed.labels[slot];
  const DTensor& tensor = plan_->tensors[id].tensor;
  const bool planned = variant.rows == Variant::as_planned || !is_batched(tensor.region);
  const Shape shape = planned ? tensor.shape : tensor.shape.with_rows(variant.rows);
  return {arenas_->address(tensor, rank_), shape, tensor.dtype};
}

cpu::Kernel CpuExecutor::bind_advance_step(const Node& node) const {
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
  const FlatList<Node>& nodes = plan_->graph(variant.kind).nodes;
  Bound bound{.what = variant, .kernels = {}};
  for (int slot = 0; slot < slots; ++slot) {
    std::vector<cpu::Kernel>& kernels = bound.kernels[static_cast<std::size_t>(slot)];
    kernels.reserve(static_cast<std::size_t>(nodes.size()));
    for (int i = 0; i < nodes.size(); ++i) {
      kernels.push_back(bind(nodes[order.empty() ? i : order[static_cast<std::size_t>(i)]], variant, slot));
    }
  }
  variants_.push_back(std::move(bound));
  return static_cast<int>(variants_.size()) - 1;
}

void CpuExecutor::finish() { scratch_.allocate(); }

StepStatus CpuExecutor::run(int variant, int slot, ThreadCommunicator& ranks) {
  for (const cpu::Kernel& kernel :
       variants_[static_cast<std::size_t>(variant)].kernels[static_cast<std::size_t>(slot)]) {
    if (kernel) {
      kernel();
      continue;
    }
    ranks.meet();
    const StepStatus status = agreed_status();
    if (status != StepStatus::ok) return status;
  }
  return StepStatus::ok;
}

void CpuExecutor::replay(int variant, int slot, int node) {
  const Bound& bound = variants_[static_cast<std::size_t>(variant)];
  bound.kernels[static_cast<std::size_t>(slot)][static_cast<std::size_t>(node)]();
}

StepStatus CpuExecutor::agreed_status() const {
  const FixedTensors& fixed = plan_->fixed;
  StepStatus status = StepStatus::ok;
  for (int rank = 0; rank < arenas_->ranks(); ++rank) {
    if (fixed.result >= 0) {
      const auto* result = arenas_->at<const double>(plan_->tensors[fixed.result].tensor, rank);
      if (result[4] > 0.0) return StepStatus::illegal_label;
      if (!std::isfinite(result[0])) return StepStatus::loss_not_finite;
    }
    for (int id : fixed.not_finite) {
      if (id >= 0 && *arenas_->at<const std::int32_t>(plan_->tensors[id].tensor, rank) != 0) {
        status = StepStatus::update_not_finite;
      }
    }
  }
  return status;
}

std::array<double, SoftmaxCe::result_values> CpuExecutor::accumulated() const {
  std::array<double, SoftmaxCe::result_values> sums{};
  for (int rank = 0; rank < arenas_->ranks(); ++rank) {
    const auto* values = arenas_->at<const double>(plan_->tensors[plan_->fixed.accumulated].tensor, rank);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
  }
  return sums;
}

void CpuExecutor::reset_accumulated() {
  const DTensor& tensor = plan_->tensors[plan_->fixed.accumulated].tensor;
  std::memset(arenas_->address(tensor, rank_), 0, static_cast<std::size_t>(tensor.bytes()));
}

double CpuExecutor::last_loss_sum() const {
  double sum = 0.0;
  for (int rank = 0; rank < arenas_->ranks(); ++rank) {
    sum += *arenas_->at<const double>(plan_->tensors[plan_->fixed.result].tensor, rank);
  }
  return sum;
}

}  // namespace tr
