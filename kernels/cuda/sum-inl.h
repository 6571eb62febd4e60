// Sums whose order is fixed; for .cu files only.
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/vector-inl.h"

namespace tr::cuda {

/// Σ over the threads of a block of block_threads, pairwise, in all of them. `shared` [block_threads] is
/// shared memory, which may be used again at once for the next sum.
__device__ inline double sum_over_block(double v, double* shared) {
  shared[threadIdx.x] = v;
  for (unsigned threads = block_threads / 2; threads > 0; threads /= 2) {
    __syncthreads();
    if (threadIdx.x < threads) shared[threadIdx.x] += shared[threadIdx.x + threads];
  }
  __syncthreads();
  const double sum = shared[0];
  __syncthreads();
  return sum;
}

}  // namespace tr::cuda
