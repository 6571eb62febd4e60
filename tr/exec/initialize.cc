#include "tr/exec/initialize.h"

#include <cstring>
#include <span>
#include <variant>
#include <vector>

#include "tr/algo/fill.h"
#include "tr/exec/working_copies.h"

namespace tr {
namespace {

void set_optimizer_scalars(Plan& plan, const SGD& sgd) {
  set_scalar(plan, Scalar::momentum, sgd.momentum());
  set_scalar(plan, Scalar::dampening, sgd.dampening());
  set_scalar(plan, Scalar::weight_decay, sgd.weight_decay());
}

/// Of the first step; each step leaves that of the next.
double first_correction(double beta) { return 1.0 - static_cast<double>(static_cast<float>(beta)); }

template <class Derived>
void set_optimizer_scalars(Plan& plan, const AdamBase<Derived>& adam) {
  set_scalar(plan, Scalar::bias_correction1, first_correction(adam.beta1()));
  set_scalar(plan, Scalar::bias_correction2, first_correction(adam.beta2()));
  set_scalar(plan, Scalar::beta1, adam.beta1());
  set_scalar(plan, Scalar::beta2, adam.beta2());
  set_scalar(plan, Scalar::epsilon, adam.eps());
  set_scalar(plan, Scalar::weight_decay, adam.weight_decay());
}

void set_optimizer_scalars(Plan& plan, const LARS& lars) {
  set_scalar(plan, Scalar::momentum, lars.momentum());
  set_scalar(plan, Scalar::trust_coefficient, lars.trust_coefficient());
  set_scalar(plan, Scalar::weight_decay, lars.weight_decay());
  set_scalar(plan, Scalar::epsilon, lars.eps());
}

void init_tensor(const DTensor& tensor, InitConfig config, const Arenas& arenas, std::uint64_t seed,
                 std::uint32_t parameter) {
  if (tensor.dtype == DType::int32) {
    *arenas.at<std::int32_t>(tensor, 0) = static_cast<std::int32_t>(config.scale);
    return;
  }
  const std::span<float> values(arenas.at<float>(tensor, 0), static_cast<std::size_t>(tensor.shape.size()));
  fill(values, tensor.shape, config, seed, parameter);
}

void start_average(const Plan& plan, const Arenas& arenas) {
  if (!plan.spec.average) return;
  std::byte* base = arenas.shared().data();
  std::memcpy(base + plan.memory.offset_of(first_region(Image::average)),
              base + plan.memory.offset_of(parameter_range.first),
              static_cast<std::size_t>(plan.memory.bytes_of(parameter_range)));
}

}  // namespace

PlanSpec with_update(PlanSpec spec, const UpdateRule& rule) {
  spec.moments = moments_of(rule.optimizer);
  spec.norms = rule.clipping.norm() > 0.0 || uses_layer_norms(rule.optimizer);
  spec.average = rule.ema.has_value();
  return spec;
}

void bind_settings(Plan& plan, const CrossEntropyLoss& loss, const UpdateRule& rule) {
  set_scalar(plan, Scalar::step, 1.0);
  set_scalar(plan, Scalar::label_smoothing, loss.label_smoothing());
  set_scalar(plan, Scalar::clip_norm, rule.clipping.norm());
  set_scalar(plan, Scalar::clip_value, rule.clipping.value());
  set_scalar(plan, Scalar::loss_scale, plan.spec.precision == Precision::fp16 ? first_loss_scale : 1.0F);
  if (rule.ema) set_scalar(plan, Scalar::ema_decay, rule.ema->decay());
  std::visit([&](const auto& o) { set_optimizer_scalars(plan, o); }, rule.optimizer);
}

void init_all(const Plan& plan, const Arenas& arenas, std::uint64_t seed) {
  std::uint32_t parameter = 0;
  for (const PlanTensor& t : plan.tensors) {
    const InitConfig config = plan.inits[t.tensor.id];
    // Memory comes zeroed, and only masters, moments and scalars ever start with anything else.
    if (config.kind != InitKind::none && t.tensor.arena() == Arena::shared && t.tensor.dtype != DType::bf16) {
      init_tensor(t.tensor, config, arenas, seed, parameter);
    }
    if (is_parameter(t.tensor.region)) ++parameter;
  }
  start_average(plan, arenas);
  refresh_working_copies(plan, arenas);
}

void refresh_working_copies(const Plan& plan, const Arenas& arenas) {
  for (int rank = 0; rank < arenas.ranks(); ++rank) WorkingCopies(plan, arenas, rank).make(WeightSource::current);
}

}  // namespace tr
