// For the CUDA backend's own files: handles of the runtime, destroyed with their owners.
#pragma once

#include <cuda_runtime.h>

#include <utility>

#include "kernels/cuda/status.h"

namespace tr {

template <class T, cudaError_t (*destroy)(T)>
class CudaHandle {
 public:
  CudaHandle() = default;
  explicit CudaHandle(T value) : value_(value) {}
  CudaHandle(CudaHandle&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  CudaHandle& operator=(CudaHandle&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~CudaHandle() {
    if (value_ != nullptr) static_cast<void>(destroy(value_));
  }

  T get() const { return value_; }

 private:
  T value_ = nullptr;
};

using CudaStream = CudaHandle<cudaStream_t, cudaStreamDestroy>;
using CudaEvent = CudaHandle<cudaEvent_t, cudaEventDestroy>;
using CudaGraph = CudaHandle<cudaGraph_t, cudaGraphDestroy>;
using CudaGraphExec = CudaHandle<cudaGraphExec_t, cudaGraphExecDestroy>;

/// Does not wait for the legacy default stream, nor that for it.
inline CudaStream make_cuda_stream() {
  cudaStream_t stream = nullptr;
  cuda::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return CudaStream(stream);
}

inline CudaEvent make_cuda_event() {
  cudaEvent_t event = nullptr;
  cuda::check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  return CudaEvent(event);
}

}  // namespace tr
