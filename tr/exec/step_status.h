#pragma once

#include <cstdint>

namespace tr {

/// What the ranks agree on at a meeting point.
enum class StepStatus : std::uint8_t { ok, illegal_label, loss_not_finite, update_not_finite };

}  // namespace tr
