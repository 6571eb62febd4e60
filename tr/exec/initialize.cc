#include "tr/exec/initialize.h"

#include <span>
#include <variant>
#include <vector>

#include "kernels/cpu/cast.h"
#include "tr/algo/fill.h"

namespace tr {
namespace {

void set_optimizer_scalars(Plan& plan, const SGD& sgd) {
  set_scalar(plan, Scalar::momentum, sgd.momentum());
  set_scalar(plan, Scalar::dampening, sgd.dampening());
  set_scalar(plan, Scalar::weight_decay, sgd.weight_decay());
}

void set_optimizer_scalars(Plan& plan, const AdamW& adamw) {
  set_scalar(plan, Scalar::beta1, adamw.beta1());
  set_scalar(plan, Scalar::beta2, adamw.beta2());
  set_scalar(plan, Scalar::epsilon, adamw.eps());
  set_scalar(plan, Scalar::weight_decay, adamw.weight_decay());
}

void init_tensor(const DTensor& tensor, InitConfig config, const Arenas& arenas, std::uint64_t seed,
                 std::uint32_t parameter) {
  const std::span<float> values(arenas.at<float>(tensor, 0), static_cast<std::size_t>(tensor.shape.size()));
  fill(values, tensor.shape, config, seed, parameter);
}

}  // namespace

void bind_settings(Plan& plan, const CrossEntropyLoss& loss, const AnyOptimizer& optimizer) {
  set_scalar(plan, Scalar::label_smoothing, loss.label_smoothing());
  std::visit([&](const auto& o) { set_optimizer_scalars(plan, o); }, optimizer);
}

void init_all(const Plan& plan, const Arenas& arenas, std::uint64_t seed) {
  std::uint32_t parameter = 0;
  for (const PlanTensor& t : plan.tensors) {
    const InitConfig config = plan.inits[t.tensor.id];
    // Memory comes zeroed, and only masters, moments and scalars ever start with anything else.
    if (config.kind != InitKind::none && t.tensor.arena() == Arena::shared && t.tensor.dtype == DType::fp32) {
      init_tensor(t.tensor, config, arenas, seed, parameter);
    }
    if (is_parameter(t.tensor.region)) ++parameter;
  }
  refresh_working_copies(plan, arenas);
}

void refresh_working_copies(const Plan& plan, const Arenas& arenas) {
  if (plan.spec.precision == Precision::fp32) return;
  std::byte* base = arenas.shared().data();
  const auto* masters = reinterpret_cast<const float*>(base + plan.memory.offset_of(weight_range.first));
  auto* copies = reinterpret_cast<Bf16*>(base + plan.memory.offset_of(working_range.first));
  cpu::cast_to_bf16(masters, copies, plan.memory.bytes_of(weight_range) / static_cast<std::int64_t>(sizeof(float)));
}

}  // namespace tr
