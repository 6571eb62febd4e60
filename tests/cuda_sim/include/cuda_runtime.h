#pragma once

#include <memory>
#include <tuple>
#include <utility>

#include "cuda_runtime_api.h"
#include "cuda_sim/device.h"
#include "cuda_sim/keywords.h"
#include "cuda_sim/math.h"

namespace cuda_sim {

/// Calls a kernel for the one thread that threadIdx and blockIdx name.
using Thread = void (*)(const void* kernel, const void* arguments);

/// Puts a kernel on its stream. arguments are the bytes of its parameters, where pointers are looked for.
cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel, std::shared_ptr<const void> arguments,
                   std::size_t argument_bytes, Thread thread);

}  // namespace cuda_sim

template <typename... ExpTypes, typename... ActTypes>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(ExpTypes...), ActTypes&&... args) {
  if (config == nullptr || kernel == nullptr) return cudaErrorInvalidValue;
  using Parameters = std::tuple<ExpTypes...>;
  return cuda_sim::launch(*config, reinterpret_cast<const void*>(kernel),
                          std::make_shared<const Parameters>(std::forward<ActTypes>(args)...), sizeof(Parameters),
                          [](const void* function, const void* parameters) {
                            std::apply(reinterpret_cast<void (*)(ExpTypes...)>(const_cast<void*>(function)),
                                       *static_cast<const Parameters*>(parameters));
                          });
}

template <class T>
cudaError_t cudaMalloc(T** devPtr, size_t size) {
  return cudaMalloc(reinterpret_cast<void**>(devPtr), size);
}

template <class T>
cudaError_t cudaHostAlloc(T** ptr, size_t size, unsigned int flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(ptr), size, flags);
}
