#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/values.h"

namespace tr::cuda {

/// `bytes` bytes become 0.
void clear(void* data, std::int64_t bytes, cudaStream_t stream);

/// Copies between memory of the device and pinned memory of the host, in any direction.
void copy(const void* from, void* to, std::int64_t bytes, cudaStream_t stream);

/// values[i] ← values[i]·factor[0], rounded once; `factor` lies on the device.
void scale(Values values, const float* factor, std::int64_t count, cudaStream_t stream);

/// flag[0] ← 1 if one of the numbers is infinite or NaN; else it is left alone. `flag` lies on the device.
void find_nonfinite(ConstValues values, std::int64_t count, std::int32_t* flag, cudaStream_t stream);

}  // namespace tr::cuda
