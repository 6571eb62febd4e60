#pragma once

#include <cstdint>
#include <string_view>

namespace tr {

/// The values that may change from step to step, and the constants beside them: one tensor each, in `s_scalar_fp32`
/// (`step` in `s_scalar_int32`), so that a prepared step never has to be prepared again.
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
  /// The number of the step at hand, counted from 1.
  step,
};

inline constexpr int scalar_count = static_cast<int>(Scalar::step) + 1;

constexpr std::string_view name_of(Scalar scalar) {
  constexpr std::string_view names[] = {
      "learning_rate", "label_smoothing", "weight_decay",     "momentum",          "dampening",
      "beta1",         "beta2",           "epsilon",          "trust_coefficient", "clip_norm",
      "clip_value",    "ema_decay",       "bias_correction1", "bias_correction2",  "step"};
  static_assert(sizeof(names) / sizeof(names[0]) == scalar_count);
  return names[static_cast<int>(scalar)];
}

}  // namespace tr
