#include "kernels/cuda/launch.h"
#include "kernels/cuda/range.h"
#include "kernels/cuda/vector-inl.h"

namespace tr::cuda {
namespace {

__global__ void scale_kernel(Values values, const float* factor, std::int64_t count, bool aligned) {
  // Preconditions: blockDim = (block_threads), gridDim · block_elements >= count.
  __shared__ float shared;
  if (threadIdx.x == 0) shared = *factor;
  __syncthreads();
  const Place place = place_of_thread(count, aligned);  // (width) of (count)
  Four four = load(values, place);
  for (float& v : four.v) v *= shared;
  store(four, values, place);
}

__global__ void find_nonfinite_kernel(ConstValues values, std::int64_t count, std::int32_t* flag, bool aligned) {
  // Preconditions: blockDim = (block_threads), gridDim · block_elements >= count.
  const Four four = load(values, place_of_thread(count, aligned));  // (width) of (count)
  bool finite = true;
  for (const float v : four.v) finite = finite && is_finite(v);
  // Whoever comes first, the flag ends as 1.
  if (!finite) atomicOr(flag, 1);
}

}  // namespace

void clear(void* data, std::int64_t bytes, cudaStream_t stream) {
  if (bytes == 0) return;
  check(cudaMemsetAsync(data, 0, static_cast<std::size_t>(bytes), stream), "clear");
}

void copy(const void* from, void* to, std::int64_t bytes, cudaStream_t stream) {
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream), "copy");
}

void scale(Values values, const float* factor, std::int64_t count, cudaStream_t stream) {
  if (count == 0) return;
  launch("scale", scale_kernel, blocks_for(count, block_elements, "scale"), block_threads, stream, values, factor,
         count, is_aligned(values));
}

void find_nonfinite(ConstValues values, std::int64_t count, std::int32_t* flag, cudaStream_t stream) {
  if (count == 0) return;
  launch("find_nonfinite", find_nonfinite_kernel, blocks_for(count, block_elements, "find_nonfinite"), block_threads,
         stream, values, count, flag, is_aligned(values));
}

}  // namespace tr::cuda
