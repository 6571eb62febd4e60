#include <limits>

#include "kernels/cuda/norms.h"
#include "kernels/cuda/sum-inl.h"
#include "kernels/cuda/update-inl.h"

namespace tr::cuda {
namespace {

__device__ double square(float v) { return static_cast<double>(v) * static_cast<double>(v); }

__global__ void square_sums_kernel(SquareSums squares, bool aligned) {
  // Preconditions: blockDim = (block_threads), gridDim = (chunks).
  __shared__ double shared[block_threads];
  const Chunk chunk = squares.chunks.table[blockIdx.x];
  const bool vectors = aligned && chunk.first % width == 0;
  const float unscale = squares.loss_scale != nullptr ? 1.0F / *squares.loss_scale : 1.0F;
  double of_gradient = 0.0;
  double of_weight = 0.0;
  bool finite = true;
  for (std::int64_t first = 0; first < chunk.count; first += block_elements) {
    Place place = place_at(first + width * threadIdx.x, chunk.count, vectors);
    place.at += chunk.first;  // (width) of (count)
    const Four gradients = load(squares.gradient, place);
    for (const float v : gradients.v) {
      const float gradient = v * unscale;
      finite = finite && is_finite(gradient);
      of_gradient += square(limited(gradient, squares.clip_value));
    }
    if (squares.weight == nullptr) continue;
    const Four weights = load(squares.weight, place);
    for (const float v : weights.v) {
      finite = finite && is_finite(v);
      of_weight += square(v);
    }
  }
  // Whoever comes first, the flag ends as 1.
  if (!finite) atomicOr(squares.nonfinite, 1);
  of_gradient = sum_over_block(of_gradient, shared);
  of_weight = sum_over_block(of_weight, shared);
  if (threadIdx.x == 0) squares.sums[blockIdx.x] = {of_gradient, of_weight};
}

__global__ void clip_factor_kernel(ClipFactor clip) {
  // Preconditions: one block, blockDim = (block_threads).
  __shared__ double shared[block_threads];
  double sum = 0.0;
  for (std::int64_t i = threadIdx.x; i < clip.chunks; i += block_threads)
    sum += clip.sums[i].gradient;  // (1) of (chunks)
  sum = sum_over_block(sum, shared);
  if (threadIdx.x != 0) return;
  const double factor = static_cast<double>(clip.max_norm) / (sqrt(sum) + 1e-6);
  const bool usual = sum >= 0.0 && sum <= std::numeric_limits<double>::max() &&
                     factor >= static_cast<double>(std::numeric_limits<float>::min());
  *clip.gradient_scale = usual && factor < 1.0 ? static_cast<float>(factor) : 1.0F;
  if (!usual) *clip.nonfinite = 1;
}

}  // namespace

void square_sums(const SquareSums& squares, cudaStream_t stream) {
  if (squares.chunks.count == 0) return;
  launch("square_sums", square_sums_kernel, blocks_for(squares.chunks.count, 1, "square_sums"), block_threads, stream,
         squares, is_aligned(squares.gradient) && is_aligned(squares.weight));
}

void clip_factor(const ClipFactor& clip, cudaStream_t stream) {
  launch("clip_factor", clip_factor_kernel, 1, block_threads, stream, clip);
}

}  // namespace tr::cuda
