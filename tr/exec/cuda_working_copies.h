// For the CUDA backend's own files.
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/values.h"
#include "tr/exec/cuda_arenas.h"
#include "tr/exec/working_copies.h"
#include "tr/plan/plan.h"

namespace tr {

/// Throws DeviceError for a type that no kernel computes on.
cuda::FloatType float_type_of(DType type);

/// The copies of all weights that a step in 16 bits computes with; absent in fp32.
cuda::Values working_copies(const Plan& plan, const CudaArenas& arenas);

/// Makes them from the weights or from their average.
void make_working_copies(const Plan& plan, const CudaArenas& arenas, WeightSource source, cudaStream_t stream);

}  // namespace tr
