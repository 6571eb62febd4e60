#pragma once

#include <cstdint>
#include <span>

#include "tr/base/bf16.h"

namespace tr::cpu {

/// One rank's part of a parameter region, all pointers at its first element.
struct UpdateShare {
  float* weight = nullptr;
  /// The optimizer's moments; null where it has none.
  float* moment1 = nullptr;
  float* moment2 = nullptr;
  /// The copy of the weights that the step computes with; null in fp32.
  Bf16* working = nullptr;
  /// The gradients of every rank, at least one; their sum in this order is the gradient.
  std::span<const float* const> gradients;
  std::int64_t count = 0;
  /// Whether weight decay applies to this region.
  bool decay = false;
};

}  // namespace tr::cpu
