#pragma once

#include <concepts>
#include <limits>
#include <string_view>

#include "tr/base/error.h"

namespace tr {

/// The settings of an update rule, without state: how many moments it keeps for each weight, a name, and a check of
/// settings that contradict each other, which throws ValueError and which the task calls when it compiles.
template <class T>
concept Optimizer = std::copyable<T> && requires(const T& optimizer) {
  { optimizer.name() } -> std::convertible_to<std::string_view>;
  { optimizer.moments() } -> std::same_as<int>;
  optimizer.validate();
};

namespace detail {

[[noreturn]] void reject_nesterov(double momentum, double dampening);

/// A rate of exponential decay. The kernels use it as a float: what rounds to 1 would never decay, and 1 - β^t, by
/// which AdamW divides, would be 0.
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

}  // namespace detail

}  // namespace tr
