// The pass over memory that all optimizers share; for .cu files only.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/update_range.h"
#include "kernels/cuda/vector-inl.h"

namespace tr::cuda {

/// v in [-limit, limit], 0 meaning no limit; a NaN stays a NaN, all comparisons are false for it.
__device__ inline float limited(float v, float limit) {
  if (limit == 0.0F) return v;
  return v > limit ? limit : v < -limit ? -limit : v;
}

/// What all elements share in one step. One thread of a block computes it while the others wait for their elements.
struct StepScalars {
  float unscale;
  float gradient_scale;
  float average_kept;
  float average_taken;
  bool skip;
};

__device__ inline StepScalars step_scalars_of(const UpdateRange& range) {
  StepScalars scalars{1.0F, 1.0F, 0.0F, 1.0F, false};
  // The scale is a power of two, so that its inverse is exact.
  if (range.loss_scale != nullptr) scalars.unscale = 1.0F / *range.loss_scale;
  if (range.gradient_scale != nullptr) scalars.gradient_scale = *range.gradient_scale;
  if (range.average != nullptr && *range.step > 1) {
    scalars.average_kept = *range.average_decay;
    scalars.average_taken = static_cast<float>(1.0 - static_cast<double>(*range.average_decay));
  }
  if (range.skip != nullptr) scalars.skip = *range.skip != 0;
  return scalars;
}

/// What a thread holds of the tensors of a range.
struct Elements {
  Four weight;
  Four gradient;
  Four moment1{};
  Four moment2{};
};

__device__ inline Elements load_elements(const UpdateRange& range, Place place) {
  Elements elements{load(range.weight, place), load(range.gradient, place)};
  if (range.moment1 != nullptr) elements.moment1 = load(range.moment1, place);
  if (range.moment2 != nullptr) elements.moment2 = load(range.moment2, place);
  return elements;
}

/// `Rule` has a type Constants; rule.constants() gives what all elements share, and Rule::step(constants, weight,
/// gradient, moment1, moment2) gives the new weight and updates the moments.
template <class Rule>
__device__ void update_elements(const UpdateRange& range, const StepScalars& scalars,
                                const typename Rule::Constants& constants, Elements elements, Place place) {
  bool finite = true;
  for (int i = 0; i < width; ++i) {
    float gradient = elements.gradient.v[i] * scalars.unscale;
    finite = finite && is_finite(gradient);
    gradient = limited(gradient, range.clip_value) * scalars.gradient_scale;
    elements.weight.v[i] =
        Rule::step(constants, elements.weight.v[i], gradient, elements.moment1.v[i], elements.moment2.v[i]);
    // A second moment that overflows would hold its weight for good.
    finite = finite && (i >= place.valid || (is_finite(elements.weight.v[i]) && is_finite(elements.moment2.v[i])));
  }
  store(elements.weight, range.weight, place);
  if (range.working.data != nullptr) store(elements.weight, range.working, place);
  if (range.moment1 != nullptr && Rule::writes_moment1(constants)) store(elements.moment1, range.moment1, place);
  if (range.moment2 != nullptr) store(elements.moment2, range.moment2, place);
  if (range.average != nullptr) {
    Four average{};
    if (scalars.average_kept != 0.0F) average = load(range.average, place);
    for (int i = 0; i < width; ++i) {
      average.v[i] = fmaf(scalars.average_kept, average.v[i], elements.weight.v[i] * scalars.average_taken);
    }
    store(average, range.average, place);
  }
  // Whoever comes first, the flag ends as 1.
  if (!finite) atomicOr(range.nonfinite, 1);
}

template <class Rule>
__global__ void update_kernel(UpdateRange range, Rule rule, bool aligned) {
  // Preconditions: blockDim = (block_threads), gridDim · block_elements >= count; no two tensors of the range overlap.
  __shared__ StepScalars scalars;
  __shared__ typename Rule::Constants constants;
  const Place place = place_of_thread(range.count, aligned);  // (width) of (count)
  const Elements elements = load_elements(range, place);
  if (threadIdx.x == 0) {
    scalars = step_scalars_of(range);
    constants = rule.constants();
  }
  __syncthreads();
  if (scalars.skip) return;
  update_elements<Rule>(range, scalars, constants, elements, place);
}

inline bool is_aligned(const UpdateRange& range) {
  return is_aligned(range.weight) && is_aligned(range.moment1) && is_aligned(range.moment2) &&
         is_aligned(range.average) && is_aligned(range.gradient) && is_aligned(range.working);
}

template <class Rule>
void update(const char* operation, const UpdateRange& range, const Rule& rule, cudaStream_t stream) {
  if (range.count == 0) return;
  launch(operation, update_kernel<Rule>, blocks_for(range.count, block_elements, operation), block_threads, stream,
         range, rule, is_aligned(range));
}

}  // namespace tr::cuda
