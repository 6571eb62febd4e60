#pragma once

#include <concepts>
#include <limits>
#include <string_view>

#include "tr/base/error.h"

namespace tr {

/// The settings of an update rule, without state: a name, how many moments it keeps for each weight, whether a step
/// needs the norm of each weight tensor and of its gradient, and a check of settings that contradict each other, which
/// throws ValueError and which the task calls when it compiles.
template <class T>
concept Optimizer = std::copyable<T> && requires(const T& optimizer) {
  { optimizer.name() } -> std::convertible_to<std::string_view>;
  { optimizer.moments() } -> std::same_as<int>;
  { optimizer.uses_layer_norms() } -> std::same_as<bool>;
  optimizer.validate();
};

namespace detail {

[[noreturn]] void reject_nesterov(double momentum, double dampening);

/// A rate of exponential decay. The kernels use it as a float: what rounds to 1 would never decay, and 1 - β^t, by
/// which Adam divides, would be 0.
constexpr double checked_decay_rate(const char* parameter, double value) {
  if (!(value >= 0.0 && value < 1.0 && static_cast<float>(value) < 1.0F)) {
    value_error(parameter, value, "0 or more and, as a float, below 1");
  }
  return value;
}

constexpr double checked_weight_decay(double value) {
  if (!(value >= 0.0 && value <= static_cast<double>(std::numeric_limits<float>::max()))) {
    value_error("weight_decay", value, "0 to 3.4028235e+38");
  }
  return value;
}

/// What must not vanish: the kernels flush numbers below the normal floats to 0.
constexpr double checked_normal(const char* parameter, double value) {
  constexpr auto low = static_cast<double>(std::numeric_limits<float>::min());
  constexpr auto high = static_cast<double>(std::numeric_limits<float>::max());
  if (!(value >= low && value <= high)) value_error(parameter, value, "1.1754944e-38 to 3.4028235e+38");
  return value;
}

}  // namespace detail

}  // namespace tr
