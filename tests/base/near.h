#pragma once

#include <cmath>

namespace tr {

/// Whether a value is right but for a relative error. doctest::Approx adds 1 to the number its epsilon is multiplied
/// by, so for small numbers, such as learning rates, it accepts anything.
inline bool near(double value, double right, double relative) {
  return std::abs(value - right) <= relative * std::abs(right);
}

}  // namespace tr
