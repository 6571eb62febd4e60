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
  /// The running average of the weights, e ← average_decay·e + (1 - average_decay)·w with the weight after the step;
  /// null where none is kept. A decay of 0 takes the weight whatever the average holds.
  float* average = nullptr;
  /// The copy of the weights that the step computes with; null in fp32.
  Bf16* working = nullptr;
  /// The gradients of every rank, at least one; their sum in this order is the gradient.
  std::span<const float* const> gradients;
  std::int64_t count = 0;
  double average_decay = 0.0;
  /// The summed gradient is limited to [-clip_value, clip_value] before anything else; 0 for no limit.
  float clip_value = 0.0F;
  /// What the gradient is multiplied by after that.
  float gradient_scale = 1.0F;
  /// Whether weight decay applies to this region.
  bool decay = false;
};

}  // namespace tr::cpu
