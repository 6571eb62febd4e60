#pragma once

#include <cstdint>
#include <string_view>

namespace tr {

/// The values that may change from step to step, and the constants beside them: one tensor each, in `s_scalar_fp32`
/// (from `step` on in `s_scalar_int32`), so that a prepared step never has to be prepared again.
enum class Scalar : std::uint8_t {
  learning_rate,
  label_smoothing,
  weight_decay,
  momentum,
  dampening,
  beta1,
  beta2,
  epsilon,
  trust_coefficient,
  clip_norm,
  clip_value,
  ema_decay,
  bias_correction1,
  bias_correction2,
  /// What losses are multiplied by in fp16, so that gradients are no smaller than it can hold.
  loss_scale,
  /// The number of the step at hand, counted from 1.
  step,
  /// Of fp16: steps without an overflow since the scale last changed, and steps that were skipped for one.
  clean_steps,
  skipped_steps,
};

inline constexpr int scalar_count = static_cast<int>(Scalar::skipped_steps) + 1;

constexpr bool is_integer(Scalar scalar) { return scalar >= Scalar::step; }

/// What fp16's loss scale starts with.
inline constexpr float first_loss_scale = 65536.0F;

constexpr std::string_view name_of(Scalar scalar) {
  constexpr std::string_view names[] = {
      "learning_rate", "label_smoothing", "weight_decay",     "momentum",          "dampening",
      "beta1",         "beta2",           "epsilon",          "trust_coefficient", "clip_norm",
      "clip_value",    "ema_decay",       "bias_correction1", "bias_correction2",  "loss_scale",
      "step",          "clean_steps",     "skipped_steps"};
  static_assert(sizeof(names) / sizeof(names[0]) == scalar_count);
  return names[static_cast<int>(scalar)];
}

}  // namespace tr
