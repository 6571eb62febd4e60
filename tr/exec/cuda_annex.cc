#include "tr/exec/cuda_annex.h"

#include "kernels/cuda/device.h"
#include "kernels/cuda/range.h"
#include "tr/base/aligned.h"
#include "tr/exec/cuda_handles.h"

namespace tr {

std::int64_t CudaAnnex::reserve(std::int64_t bytes) {
  const std::int64_t place = size_;
  size_ += align_up(bytes);
  return place;
}

void CudaAnnex::allocate(int device) {
  cuda::require_device(device, static_cast<std::size_t>(size_));
  buffer_ = DeviceBuffer(static_cast<std::size_t>(size_));
  const CudaStream stream = make_cuda_stream();
  cuda::clear(buffer_.data(), size_, stream.get());
  cuda::check(cudaStreamSynchronize(stream.get()), "clearing the annex");
}

void CudaAnnex::upload(std::int64_t place, std::span<const std::byte> from) const {
  if (from.empty()) return;
  const CudaStream stream = make_cuda_stream();
  cuda::check(cudaMemcpyAsync(at<std::byte>(place), from.data(), from.size(), cudaMemcpyDefault, stream.get()),
              "copying tables to the GPU");
  cuda::check(cudaStreamSynchronize(stream.get()), "copying tables to the GPU");
}

}  // namespace tr
