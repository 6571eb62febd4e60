#pragma once

// What marks device code in CUDA C++ marks nothing here: a kernel is a function that the stand-in calls once a thread.
// They have to be macros, as they are in the toolkit.
#define __global__
#define __device__
#define __host__
#define __constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
// One block runs at a time, so one copy of a block's shared memory is enough.
#define __shared__ static
