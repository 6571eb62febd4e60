#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/values.h"

namespace tr::cuda {

/// to[i] = from[i], rounded once, to nearest, ties to even. A NaN stays a NaN; in fp16 what is too large becomes
/// infinite. Arrays of one type may be the same, else they must not overlap.
void cast(ConstValues from, Values to, std::int64_t count, cudaStream_t stream);

}  // namespace tr::cuda
