#include "tests/cuda_sim/kernels.h"

namespace cuda_sim_test {

__global__ void axpy(float a, const float* x, float* y, long n) {
  const long i = 4 * (static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const float4 from = *reinterpret_cast<const float4*>(x + i);
  float4 to = *reinterpret_cast<const float4*>(y + i);
  to.x += a * from.x;
  to.y += a * from.y;
  to.z += a * from.z;
  to.w += a * from.w;
  *reinterpret_cast<float4*>(y + i) = to;
}

__global__ void increment(const float* x, float* y, long n) {
  const long stride = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) y[i] = x[i] + 1;
}

__global__ void set(float* data, float value, long n) {
  const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) data[i] = value;
}

__global__ void sum(const float* x, float* result, long n) {
  __shared__ float partial[32];
  float total = 0;
  for (long i = threadIdx.x; i < n; i += blockDim.x) total += x[i];
  for (int offset = 16; offset > 0; offset /= 2) total += __shfl_xor_sync(0xffffffffU, total, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = total;
  __syncthreads();
  if (threadIdx.x > 0) return;
  total = 0;
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) total += partial[warp];
  *result = total;
}

__global__ void shuffles(int* out) {
  const int me = static_cast<int>(threadIdx.x);
  int* mine = out + 4 * me;
  mine[0] = __shfl_sync(0xffffffffU, me, 5);
  mine[1] = __shfl_xor_sync(0xffffffffU, me, 3);
  mine[2] = __shfl_down_sync(0xffffffffU, me, 4);
  mine[3] = __shfl_down_sync(0xffffffffU, me, 4, 8);
}

__global__ void votes(unsigned* out) {
  const bool odd = threadIdx.x % 2 == 1;
  const unsigned ballot = __ballot_sync(0xffffffffU, odd);
  const int any = __any_sync(0xffffffffU, threadIdx.x == 7), all = __all_sync(0xffffffffU, threadIdx.x != 7);
  if (threadIdx.x > 0) return;
  out[0] = ballot;
  out[1] = static_cast<unsigned>(any);
  out[2] = static_cast<unsigned>(all);
}

__global__ void count_threads(unsigned* count, unsigned* largest) {
  atomicAdd(count, 1U);
  atomicMax(largest, blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void leaves_before_barrier(float* data) {
  if (threadIdx.x == 3) return;
  __syncthreads();
  data[threadIdx.x] = 0;
}

__global__ void half_a_warp_shuffles(float* data) {
  if (threadIdx.x % 32 < 16) data[threadIdx.x] = __shfl_xor_sync(0xffffffffU, 1.0F, 1);
}

__global__ void forgets_barrier(float* data) {
  __shared__ float value[64];
  value[threadIdx.x] = static_cast<float>(threadIdx.x);
  data[threadIdx.x] = value[63 - threadIdx.x];
}

__global__ void reads_unset_shared(float* data) {
  __shared__ float value[64];
  if (blockIdx.x == 0 || threadIdx.x == 0) value[threadIdx.x] = 1;
  __syncthreads();
  data[blockIdx.x * blockDim.x + threadIdx.x] = value[threadIdx.x];
}

__global__ void writes_at(float* data, long offset) {
  if (threadIdx.x == 0) data[offset] = 1;
}

__global__ void reads_vector_at(const float* data, long offset, float* out) {
  const float4 all = *reinterpret_cast<const float4*>(data + offset);
  *out = all.x + all.y + all.z + all.w;
}

__global__ void traps(int* data) {
  if (*data != 7) __trap();
}

}  // namespace cuda_sim_test
