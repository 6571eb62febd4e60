#include "kernels/cuda/cast.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/vector-inl.h"

namespace tr::cuda {
namespace {

__global__ void cast_kernel(ConstValues from, Values to, std::int64_t count, bool aligned) {
  // Preconditions: blockDim = (block_threads), gridDim · block_elements >= count; the arrays do not overlap.
  const Place place = place_of_thread(count, aligned);  // (width) of (count)
  store(load(from, place), to, place);
}

}  // namespace

void cast(ConstValues from, Values to, std::int64_t count, cudaStream_t stream) {
  if (count == 0) return;
  launch("cast", cast_kernel, blocks_for(count, block_elements, "cast"), block_threads, stream, from, to, count,
         is_aligned(from) && is_aligned(to));
}

}  // namespace tr::cuda
