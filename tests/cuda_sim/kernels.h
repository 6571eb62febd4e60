#pragma once

#include <cuda_runtime.h>

/// Kernels for tests of the stand-in, right ones and wrong ones.
namespace cuda_sim_test {

/// y[i] = a·x[i] + y[i], 4 elements a thread; n is a multiple of 4.
__global__ void axpy(float a, const float* x, float* y, long n);
/// y[i] = x[i] + 1; any number of threads.
__global__ void increment(const float* x, float* y, long n);
/// data[i] = value.
__global__ void set(float* data, float value, long n);

/// One block: *sum = the sum over x, by shuffles and shared memory, in an order that does not depend on the schedule.
__global__ void sum(const float* x, float* result, long n);
/// One block of 64: out[i] is what the lane shuffles say, 4 kinds one after another.
__global__ void shuffles(int* out);
/// One block: out[0] = bits of the odd lanes, out[1] = any, out[2] = all.
__global__ void votes(unsigned* out);
/// Every thread adds 1 to *count and its number to the maximum.
__global__ void count_threads(unsigned* count, unsigned* largest);

// Mistakes.
__global__ void leaves_before_barrier(float* data);
__global__ void half_a_warp_shuffles(float* data);
/// A block's sum of its threads' numbers without the barrier that it needs.
__global__ void forgets_barrier(float* data);
/// Reads shared memory that nobody wrote.
__global__ void reads_unset_shared(float* data);
/// data[offset] = 1 by one thread.
__global__ void writes_at(float* data, long offset);
/// Reads 16 bytes at data + offset.
__global__ void reads_vector_at(const float* data, long offset, float* out);
__global__ void traps(int* data);

}  // namespace cuda_sim_test
