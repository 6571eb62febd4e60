#include "tr/exec/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/cpu/cast.h"
#include "tr/base/bf16.h"

namespace tr {
namespace {

bool is_finite(const cpu::Operand& operand) {
  const std::int64_t count = operand.shape.size();
  switch (operand.dtype) {
    case DType::fp32: return cpu::all_finite(operand.as<const float>(), count);
    case DType::bf16: return cpu::all_finite(operand.as<const Bf16>(), count);
    case DType::fp64: {
      const std::span<const double> values(operand.as<const double>(), static_cast<std::size_t>(count));
      return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
    }
    case DType::int32:
    case DType::uint8:
    // No tensor of a CPU's plan.
    case DType::fp16: break;
  }
  return true;
}

}  // namespace

std::uint64_t weights_hash(const Plan& plan, const Arenas& arenas) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const PlanTensor& t : plan.tensors) {
    if (!is_parameter(t.tensor.region)) continue;
    const std::span<const std::byte> bytes(arenas.address(t.tensor, 0), static_cast<std::size_t>(t.tensor.bytes()));
    for (std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
  }
  return hash;
}

std::string describe(const PlanTensor& tensor) {
  if (tensor.layer < 0) return std::string(name_of(tensor.tensor.region));
  return fmt::format("{} of layer {}", name_of(tensor.tensor.region), tensor.layer);
}

std::string first_non_finite(CpuExecutor& executor, int variant, int slot) {
  const Plan& plan = executor.plan();
  const Variant& what = executor.variant(variant);
  const auto bad = [&](int id) { return id >= 0 && !is_finite(executor.operand(id, what, slot)); };
  for (const PlanTensor& t : plan.tensors) {
    const Region region = t.tensor.region;
    if (!is_parameter(region) && !is_moment(region)) continue;
    const bool averaged = what.averaged && is_parameter(region);
    if (bad(t.tensor.id)) return describe(averaged ? plan.tensors[image_of(plan, t.tensor.id, Image::average)] : t);
  }
  if (bad(plan.fixed.data[0])) return describe(plan.tensors[plan.fixed.data[static_cast<std::size_t>(slot)]]);
  const FlatList<Node>& nodes = plan.atlas[what.kind].nodes;
  for (int v = 0; v < nodes.size() && !nodes[v].is_fence(); ++v) {
    if (nodes[v].op == OpKind::advance_step) continue;
    executor.replay(variant, slot, v);
    for (int id : nodes[v].out) {
      if (bad(id)) return describe(plan.tensors[id]);
    }
  }
  return {};
}

}  // namespace tr
