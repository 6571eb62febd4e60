#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace tr::cuda {

/// Bounds of the loss scale and what it starts with; all are powers of two, so that scaling is exact.
inline constexpr float smallest_loss_scale = 1.0F;
inline constexpr float largest_loss_scale = 16777216.0F;
inline constexpr float first_loss_scale = 65536.0F;

/// After so many steps without an overflow the scale grows.
inline constexpr std::int32_t loss_scale_interval = 2000;

/// On the device, [1] each.
struct LossScale {
  float* scale = nullptr;
  /// Steps without an overflow since the scale last changed.
  std::int32_t* clean_steps = nullptr;
  /// How many steps were skipped.
  std::int32_t* skipped_steps = nullptr;
  /// Whether this step's gradients had an overflow; becomes 0.
  std::int32_t* overflow = nullptr;
  /// If it holds anything but 0 the step failed for another reason, and only `overflow` is written. May be null.
  const std::int32_t* halted = nullptr;
};

/// To be called when the step's updates, which still need the scale and the flag, are done. After an overflow the scale
/// is halved and the step counted as skipped; after loss_scale_interval clean steps it is doubled; it stays within its
/// bounds, and what lies outside them, NaN too, returns to the nearer one, NaN to the lower (Micikevicius et al., Mixed
/// Precision Training, 2018, section 3.2).
void adjust_loss_scale(const LossScale& loss_scale, cudaStream_t stream);

}  // namespace tr::cuda
