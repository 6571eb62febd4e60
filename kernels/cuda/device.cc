#include "kernels/cuda/device.h"

#include <cuda_runtime.h>

#include "kernels/cuda/status.h"
#include "tr/base/error.h"

namespace tr::cuda {
namespace {

/// CUDA packs a version as 1000·major + 10·minor.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// In GiB with one digit behind the point.
std::string size_text(std::size_t bytes) {
  const std::size_t tenths = (bytes >> 10) * 10 >> 20;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

/// Within a major version an older driver serves a newer runtime.
void require_driver() {
  int runtime = 0;
  int driver = 0;
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  const std::string needed = "this program needs an NVIDIA driver for CUDA " + version_text(runtime / 1000 * 1000);
  if (driver == 0) throw DeviceError("no NVIDIA driver was found; " + needed + " or newer, or --device cpu");
  if (driver / 1000 >= runtime / 1000) return;
  throw DeviceError("the NVIDIA driver is one for CUDA " + version_text(driver) + "; " + needed +
                    " or newer, or --device cpu");
}

}  // namespace

std::string Device::describe() const {
  return "GPU " + std::to_string(index) + " (" + name + ", compute capability " + std::to_string(major) + "." +
         std::to_string(minor) + ", " + size_text(total_bytes) + ")";
}

int device_count() {
  require_driver();
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
    static_cast<void>(cudaGetLastError());
    throw DeviceError(
        "the NVIDIA driver shows no GPU to this program; it needs one (nvidia-smi lists them, and CUDA_VISIBLE_DEVICES "
        "may hide them), or --device cpu");
  }
  check(status, "cudaGetDeviceCount");
  return count;
}

Device require_device(int index, std::size_t bytes) {
  const int count = device_count();
  if (index < 0 || index >= count) {
    throw DeviceError("there is no GPU " + std::to_string(index) + "; the driver shows " + std::to_string(count) +
                      ", numbered from 0");
  }
  check(cudaSetDevice(index), "cudaSetDevice");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  Device device{.index = index,
                .name = static_cast<const char*>(properties.name),
                .major = properties.major,
                .minor = properties.minor,
                .multiprocessors = properties.multiProcessorCount,
                .total_bytes = properties.totalGlobalMem};
  constexpr int oldest_major = 8;
  if (device.major < oldest_major) {
    throw DeviceError(device.describe() + " is too old: the kernels need compute capability " +
                      std::to_string(oldest_major) + ".0 or newer");
  }
  std::size_t total = 0;
  check(cudaMemGetInfo(&device.free_bytes, &total), "cudaMemGetInfo");
  if (device.free_bytes < bytes) {
    throw DeviceError(device.describe() + " has " + size_text(device.free_bytes) + " of memory free, and " +
                      size_text(bytes) + " are needed; a smaller batch needs less");
  }
  return device;
}

}  // namespace tr::cuda
