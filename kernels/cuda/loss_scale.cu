#include "kernels/cuda/launch.h"
#include "kernels/cuda/loss_scale.h"

namespace tr::cuda {
namespace {

/// Within the bounds; the comparison is false for a NaN.
__device__ float bounded(float scale) {
  if (!(scale > smallest_loss_scale)) return smallest_loss_scale;
  return scale < largest_loss_scale ? scale : largest_loss_scale;
}

__global__ void adjust_loss_scale_kernel(LossScale loss_scale) {
  // Preconditions: one thread; no two of the scalars are the same.
  if (loss_scale.halted != nullptr && *loss_scale.halted != 0) {
    *loss_scale.overflow = 0;
    return;
  }
  float scale = *loss_scale.scale;
  std::int32_t clean_steps = *loss_scale.clean_steps + 1;
  if (*loss_scale.overflow != 0) {
    scale *= 0.5F;
    clean_steps = 0;
    *loss_scale.skipped_steps += 1;
    *loss_scale.overflow = 0;
  } else if (clean_steps >= loss_scale_interval) {
    scale *= 2.0F;
    clean_steps = 0;
  }
  *loss_scale.scale = bounded(scale);
  *loss_scale.clean_steps = clean_steps;
}

}  // namespace

void adjust_loss_scale(const LossScale& loss_scale, cudaStream_t stream) {
  launch("adjust_loss_scale", adjust_loss_scale_kernel, 1, 1, stream, loss_scale);
}

}  // namespace tr::cuda
