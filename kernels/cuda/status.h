#pragma once

#include <cuda_runtime.h>

#include <string_view>

namespace tr::cuda {

/// Throws DeviceError, "`operation`: `error's name` (its text)", unless the status is cudaSuccess. An error that does
/// not stay for good is thereby forgotten by the runtime, so that the next call does not report it again.
void check(cudaError_t status, std::string_view operation);

}  // namespace tr::cuda
