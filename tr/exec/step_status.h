#pragma once

#include <cstdint>

namespace tr {

/// What the ranks agree on at a meeting point. `norm_too_large`: finite, but what the gradients were to be clipped by
/// is too small for a float.
enum class StepStatus : std::uint8_t { ok, illegal_label, loss_not_finite, norm_too_large, update_not_finite };

}  // namespace tr
