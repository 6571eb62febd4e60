#include <algorithm>

#include "kernels/cuda/lars.h"
#include "kernels/cuda/sum-inl.h"
#include "kernels/cuda/update-inl.h"

namespace tr::cuda {
namespace {

struct LarsRule {
  struct Constants {
    float rate;
    float decay;
    float momentum;
  };

  static __device__ bool writes_moment1(const Constants& c) { return c.momentum != 0.0F; }

  static __device__ float step(const Constants& c, float weight, float gradient, float& momentum, float&) {
    float change = c.rate * fmaf(c.decay, weight, gradient);
    if (c.momentum != 0.0F) {
      change = fmaf(c.momentum, momentum, change);
      momentum = change;
    }
    return weight - change;
  }
};

__device__ LarsRule::Constants constants_of(const LarsUpdate& lars, std::int32_t tensor) {
  const double ratio = lars.ratios != nullptr ? lars.ratios[tensor] : 1.0;
  return {static_cast<float>(*lars.scalars.lr * ratio), lars.range.decay ? *lars.scalars.weight_decay : 0.0F,
          *lars.scalars.momentum};
}

__global__ void lars_update_kernel(LarsUpdate lars, bool aligned) {
  // Preconditions: blockDim = (block_threads), gridDim = (chunks, y) with y · block_elements >= the largest chunk; no
  // two tensors of the range overlap, nor two chunks.
  __shared__ StepScalars scalars;
  __shared__ LarsRule::Constants constants;
  const Chunk chunk = lars.chunks.table[blockIdx.x];
  const std::int64_t first = std::int64_t{blockIdx.y} * block_elements;
  if (first >= chunk.count) return;
  const bool vectors = aligned && chunk.first % width == 0;
  Place place = place_at(first + width * threadIdx.x, chunk.count, vectors);
  place.at += chunk.first;  // (width) of (count)
  const Elements elements = load_elements(lars.range, place);
  if (threadIdx.x == 0) {
    scalars = step_scalars_of(lars.range);
    constants = constants_of(lars, chunk.tensor);
  }
  __syncthreads();
  if (scalars.skip) return;
  update_elements<LarsRule>(lars.range, scalars, constants, elements, place);
}

__global__ void lars_ratios_kernel(LarsRatios lars) {
  // Preconditions: blockDim = (block_threads), gridDim = (tensors).
  __shared__ double shared[block_threads];
  double gradient = 0.0;
  double weight = 0.0;
  const std::int32_t end = lars.first_chunk[blockIdx.x + 1];
  for (std::int32_t i = lars.first_chunk[blockIdx.x] + static_cast<int>(threadIdx.x); i < end; i += block_threads) {
    gradient += lars.sums[i].gradient;  // (1) of (chunks)
    weight += lars.sums[i].weight;
  }
  gradient = sum_over_block(gradient, shared);
  weight = sum_over_block(weight, shared);
  if (threadIdx.x != 0) return;
  const double scale = lars.gradient_scale != nullptr ? *lars.gradient_scale : 1.0;
  const double gradient_norm = scale * sqrt(gradient);
  const double weight_norm = sqrt(weight);
  const bool usual = gradient_norm != 0.0 && weight_norm != 0.0;
  const double below = gradient_norm + static_cast<double>(*lars.weight_decay) * weight_norm + lars.eps;
  lars.ratios[blockIdx.x] = usual ? static_cast<float>(lars.trust * weight_norm / below) : 1.0F;
}

}  // namespace

void lars_update(const LarsUpdate& lars, cudaStream_t stream) {
  if (lars.chunks.count == 0 || lars.chunks.largest == 0) return;
  const dim3 grid(blocks_for(lars.chunks.count, 1, "lars_update"),
                  blocks_for(lars.chunks.largest, block_elements, "lars_update"));
  launch("lars_update", lars_update_kernel, grid, block_threads, stream, lars, is_aligned(lars.range));
}

void lars_ratios(const LarsRatios& lars, cudaStream_t stream) {
  if (lars.tensors == 0) return;
  launch("lars_ratios", lars_ratios_kernel, blocks_for(lars.tensors, 1, "lars_ratios"), block_threads, stream, lars);
}

}  // namespace tr::cuda
