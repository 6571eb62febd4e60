#pragma once

#include <cstddef>
#include <string>

namespace tr::cuda {

/// One GPU.
struct Device {
  int index = 0;
  std::string name;
  /// Its compute capability.
  int major = 0;
  int minor = 0;
  int multiprocessors = 0;
  std::size_t total_bytes = 0;
  /// What nobody had taken when it was looked at.
  std::size_t free_bytes = 0;

  /// Such as "GPU 0 (NVIDIA H200, compute capability 9.0, 139.8 GiB)".
  std::string describe() const;
};

/// The number of GPUs that can be used, at least 1. Throws DeviceError, saying what was found and what is needed,
/// without a driver, with one that is older than the runtime, or without a GPU.
int device_count();

/// Makes a GPU the current one of this thread and describes it. Throws DeviceError, saying what was found and what is
/// needed, where device_count() does, if there is no such GPU, if it is older than the kernels' compute capability 8.0,
/// or if fewer than `bytes` bytes of its memory are free.
Device require_device(int index, std::size_t bytes);

}  // namespace tr::cuda
