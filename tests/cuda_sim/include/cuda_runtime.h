#pragma once

#include <cstring>
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

/// The parameters of a kernel without garbage between them, which could look like a pointer.
template <class Parameters, class... Arguments>
std::shared_ptr<const void> parameters_of(Arguments&&... arguments) {
  struct Bytes {
    alignas(Parameters) unsigned char data[sizeof(Parameters)] = {};
  };
  auto bytes = std::make_shared<Bytes>();
  // Copied, not constructed in place: for a constructor the compiler would leave out the zeros.
  Parameters parameters(std::forward<Arguments>(arguments)...);
  const auto* begin = reinterpret_cast<const unsigned char*>(&parameters);
  const auto copy = [&](auto& each) {
    __builtin_clear_padding(&each);
    std::memcpy(bytes->data + (reinterpret_cast<const unsigned char*>(&each) - begin), &each, sizeof(each));
  };
  std::apply([&](auto&... each) { (copy(each), ...); }, parameters);
  return {bytes, bytes->data};
}

}  // namespace cuda_sim

template <typename... ExpTypes, typename... ActTypes>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(ExpTypes...), ActTypes&&... args) {
  if (config == nullptr || kernel == nullptr) return cudaErrorInvalidValue;
  using Parameters = std::tuple<ExpTypes...>;
  return cuda_sim::launch(*config, reinterpret_cast<const void*>(kernel),
                          cuda_sim::parameters_of<Parameters>(std::forward<ActTypes>(args)...), sizeof(Parameters),
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
