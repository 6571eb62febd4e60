#include "kernels/cuda/status.h"

#include <string>

#include "tr/base/error.h"

namespace tr::cuda {

void check(cudaError_t status, std::string_view operation) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw DeviceError(std::string(operation) + ": " + cudaGetErrorName(status) + " (" + cudaGetErrorString(status) + ")");
}

}  // namespace tr::cuda
