#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "kernels/cuda/status.h"
#include "tr/base/error.h"

namespace tr::cuda {

/// Puts kernel<<<grid, block>>>(args...) into the stream; no other function does. Throws DeviceError, naming the
/// operation, if it cannot be launched; what goes wrong later is seen by who waits for the stream. Neither the grid nor
/// the block may be empty.
template <class... P>
void launch(std::string_view operation, void (*kernel)(P...), dim3 grid, dim3 block, cudaStream_t stream,
            std::type_identity_t<P>... args) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, kernel, args...), operation);
}

/// How many blocks cover `count` items, `per_block` each. Throws ShapeError if it is more than a grid may have.
inline unsigned blocks_for(std::int64_t count, std::int64_t per_block, std::string_view operation) {
  constexpr std::int64_t limit = 0x7fffffff;
  const std::int64_t blocks = count / per_block + (count % per_block > 0 ? 1 : 0);
  if (count < 0 || blocks > limit) {
    throw ShapeError(std::string(operation) + ": " + std::to_string(count) +
                     " items are no legal count; legal is 0 to " + std::to_string(per_block) + " times " +
                     std::to_string(limit));
  }
  return static_cast<unsigned>(blocks);
}

}  // namespace tr::cuda
