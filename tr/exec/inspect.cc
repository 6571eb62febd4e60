#include "tr/exec/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "tr/base/bf16.h"

namespace tr {
namespace {

bool finite(float value) { return std::isfinite(value); }
bool finite(double value) { return std::isfinite(value); }
bool finite(Bf16 value) { return std::isfinite(to_float(value)); }

template <class T>
bool all_finite(const cpu::Operand& operand) {
  const std::span<const T> values(operand.as<const T>(), static_cast<std::size_t>(operand.shape.size()));
  return std::all_of(values.begin(), values.end(), [](T value) { return finite(value); });
}

bool is_finite(const cpu::Operand& operand) {
  switch (operand.dtype) {
    case DType::fp32: return all_finite<float>(operand);
    case DType::fp64: return all_finite<double>(operand);
    case DType::bf16: return all_finite<Bf16>(operand);
    case DType::int32:
    case DType::uint8: break;
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
    if (is_parameter(t.tensor.region) && bad(t.tensor.id)) return describe(t);
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
