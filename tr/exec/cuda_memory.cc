#include "tr/exec/cuda_memory.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <cstring>

#include "kernels/cuda/status.h"

namespace tr {

DeviceBuffer::DeviceBuffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  void* data = nullptr;
  cuda::check(cudaMalloc(&data, bytes), fmt::format("allocating {} bytes of a GPU's memory", bytes));
  data_.reset(static_cast<std::byte*>(data));
}

// What the driver says of memory that it has lost already helps nobody.
void DeviceBuffer::Free::operator()(std::byte* data) const { static_cast<void>(cudaFree(data)); }

PinnedBuffer::PinnedBuffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  void* data = nullptr;
  cuda::check(cudaHostAlloc(&data, bytes, cudaHostAllocPortable), fmt::format("pinning {} bytes", bytes));
  std::memset(data, 0, bytes);
  data_.reset(static_cast<std::byte*>(data));
}

void PinnedBuffer::Free::operator()(std::byte* data) const { static_cast<void>(cudaFreeHost(data)); }

}  // namespace tr
