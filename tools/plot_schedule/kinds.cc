#include "tools/plot_schedule/kinds.h"

#include <algorithm>
#include <array>

namespace tr::plot {
namespace {

template <class S>
S with_common(S schedule, const Request& request) {
  if (request.base_lr) schedule.base_lr(*request.base_lr);
  if (request.warmup) schedule.warmup(*request.warmup);
  if (request.warmup_start_lr) schedule.warmup_start_lr(*request.warmup_start_lr);
  if (request.warmup_start_factor) schedule.warmup_start_factor(*request.warmup_start_factor);
  return schedule.step_by_batch(request.by_batch);
}

AnyScheduler make_constant(const Request& request) { return with_common(ConstantLR(), request); }

AnyScheduler make_step(const Request& request) {
  auto schedule = with_common(StepLR(), request);
  if (request.step_size) schedule.step_size(*request.step_size);
  if (request.gamma) schedule.gamma(*request.gamma);
  return schedule;
}

AnyScheduler make_multi_step(const Request& request) {
  auto schedule = with_common(MultiStepLR(), request);
  if (request.milestones) schedule.milestones(*request.milestones);
  if (request.gamma) schedule.gamma(*request.gamma);
  return schedule;
}

AnyScheduler make_exponential(const Request& request) {
  auto schedule = with_common(ExponentialLR(), request);
  if (request.gamma) schedule.gamma(*request.gamma);
  return schedule;
}

AnyScheduler make_polynomial(const Request& request) {
  auto schedule = with_common(PolynomialLR(), request);
  if (request.power) schedule.power(*request.power);
  if (request.end_lr) schedule.end_lr(*request.end_lr);
  return schedule;
}

AnyScheduler make_cosine(const Request& request) {
  auto schedule = with_common(CosineAnnealingLR(), request);
  if (request.eta_min) schedule.eta_min(*request.eta_min);
  return schedule;
}

AnyScheduler make_warm_restarts(const Request& request) {
  auto schedule = with_common(CosineAnnealingWithWarmRestartsLR(), request);
  if (request.t_0) schedule.t_0(*request.t_0);
  if (request.t_mult) schedule.t_mult(*request.t_mult);
  if (request.eta_min) schedule.eta_min(*request.eta_min);
  return schedule;
}

AnyScheduler make_wsd(const Request& request) {
  auto schedule = with_common(WSDLR(), request);
  if (request.decay_start) schedule.decay_start(*request.decay_start);
  if (request.end_lr) schedule.end_lr(*request.end_lr);
  return schedule;
}

constexpr std::array<Kind, 8> kinds{{{"constant", "", make_constant},
                                     {"step", "--step-size --gamma ", make_step},
                                     {"multi-step", "--milestones --gamma ", make_multi_step},
                                     {"exponential", "--gamma ", make_exponential},
                                     {"polynomial", "--power --end-lr ", make_polynomial},
                                     {"cosine", "--eta-min ", make_cosine},
                                     {"warm-restarts", "--t-0 --t-mult --eta-min ", make_warm_restarts},
                                     {"wsd", "--decay-start --end-lr ", make_wsd}}};

}  // namespace

const Kind* find_kind(std::string_view name) {
  const auto* found = std::ranges::find(kinds, name, &Kind::name);
  return found == kinds.end() ? nullptr : found;
}

bool takes(const Kind& kind, const std::string& option) { return kind.options.find(option + ' ') != std::string::npos; }

std::string names_of_kinds() {
  std::string names;
  for (const Kind& kind : kinds) {
    if (!names.empty()) names += &kind == &kinds.back() ? " and " : ", ";
    names += kind.name;
  }
  return names;
}

std::string takers_of(const std::string& option) {
  std::string names;
  for (const Kind& kind : kinds) {
    if (!takes(kind, option)) continue;
    if (!names.empty()) names += ", ";
    names += kind.name;
  }
  return names;
}

}  // namespace tr::plot
