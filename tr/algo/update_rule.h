#pragma once

#include <optional>

#include "tr/algo/any_optimizer.h"
#include "tr/algo/clipping.h"
#include "tr/algo/ema.h"

namespace tr {

/// All that decides what a step makes of a gradient.
struct UpdateRule {
  AnyOptimizer optimizer;
  GradientClipping clipping;
  std::optional<EMA> ema;

  constexpr bool evaluates_average() const { return ema && ema->evaluates(); }
};

}  // namespace tr
