#pragma once

#include <functional>
#include <memory>
#include <tuple>
#include <utility>

#include "cuda_runtime_api.h"
#include "cuda_sim/device.h"
#include "cuda_sim/keywords.h"
#include "cuda_sim/math.h"

namespace cuda_sim {

/// Puts a kernel on its stream. kernel identifies it; arguments are the bytes of its parameters, where pointers are
/// looked for; thread runs the kernel's body for the one thread that threadIdx and blockIdx name.
cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel, const void* arguments,
                   std::size_t argument_bytes, std::function<void()> thread);

}  // namespace cuda_sim

template <typename... ExpTypes, typename... ActTypes>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(ExpTypes...), ActTypes&&... args) {
  if (config == nullptr || kernel == nullptr) return cudaErrorInvalidValue;
  const auto parameters = std::make_shared<const std::tuple<ExpTypes...>>(std::forward<ActTypes>(args)...);
  return cuda_sim::launch(*config, reinterpret_cast<const void*>(kernel), parameters.get(), sizeof *parameters,
                          [kernel, parameters] { std::apply(kernel, *parameters); });
}

template <class T>
cudaError_t cudaMalloc(T** devPtr, size_t size) {
  return cudaMalloc(reinterpret_cast<void**>(devPtr), size);
}

template <class T>
cudaError_t cudaHostAlloc(T** ptr, size_t size, unsigned int flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(ptr), size, flags);
}
