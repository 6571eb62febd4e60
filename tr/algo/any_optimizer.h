#pragma once

#include <string_view>
#include <variant>

#include "tr/algo/adam.h"
#include "tr/algo/adamw.h"
#include "tr/algo/lars.h"
#include "tr/algo/optimizer.h"
#include "tr/algo/sgd.h"

namespace tr {

using AnyOptimizer = std::variant<SGD, Adam, AdamW, LARS>;

constexpr std::string_view name_of(const AnyOptimizer& optimizer) {
  return std::visit([](const auto& o) { return std::string_view(o.name()); }, optimizer);
}

/// How many moments the optimizer keeps for each weight: 0, 1 (m) or 2 (m and v).
constexpr int moments_of(const AnyOptimizer& optimizer) {
  return std::visit([](const auto& o) { return o.moments(); }, optimizer);
}

/// Whether a step needs the norm of each weight tensor and of its gradient.
constexpr bool uses_layer_norms(const AnyOptimizer& optimizer) {
  return std::visit([](const auto& o) { return o.uses_layer_norms(); }, optimizer);
}

/// Throws ValueError when two settings contradict each other.
constexpr void validate(const AnyOptimizer& optimizer) {
  std::visit([](const auto& o) { o.validate(); }, optimizer);
}

}  // namespace tr
