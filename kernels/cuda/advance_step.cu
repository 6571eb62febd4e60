#include "kernels/cuda/advance_step.h"
#include "kernels/cuda/launch.h"
#include "tr/base/math.h"

namespace tr::cuda {
namespace {

__global__ void advance_step_kernel(AdvanceStep advance) {
  // Preconditions: one thread; no two of the scalars are the same.
  if (advance.skip != nullptr && *advance.skip != 0) return;
  const std::int32_t step = *advance.step + 1;
  *advance.step = step;
  *advance.bias_correction1 = static_cast<float>(1.0 - math::pow(*advance.beta1, step));
  *advance.bias_correction2 = static_cast<float>(1.0 - math::pow(*advance.beta2, step));
}

}  // namespace

void advance_step(const AdvanceStep& advance, cudaStream_t stream) {
  launch("advance_step", advance_step_kernel, 1, 1, stream, advance);
}

}  // namespace tr::cuda
