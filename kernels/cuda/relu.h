#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/values.h"

namespace tr::cuda {

struct ReluForward {
  ConstValues x{};
  /// May be x where the types agree.
  Values y{};
  std::int64_t count = 0;
};

/// y[i] = max(0, x[i]); NaN stays NaN.
void relu_forward(const ReluForward& relu, cudaStream_t stream);

struct ReluBackward {
  ConstValues dy{};
  ConstValues y{};
  /// May be dy where the types agree.
  Values dx{};
  std::int64_t count = 0;
};

/// dx[i] = dy[i] where y[i] > 0 or y[i] is NaN, else 0.
void relu_backward(const ReluBackward& relu, cudaStream_t stream);

}  // namespace tr::cuda
