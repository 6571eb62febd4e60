#include <cmath>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/softmax_ce.h"
#include "kernels/cuda/vector-inl.h"

namespace tr::cuda {
namespace {

constexpr int warps = block_threads / warp_threads;

__device__ float maximum_over_lanes(float v) {
  for (int lane = warp_threads / 2; lane > 0; lane /= 2) v = fmaxf(v, __shfl_xor_sync(all_lanes, v, lane));
  return v;
}

template <class T>
__device__ T sum_over_lanes(T v) {
  for (int lane = warp_threads / 2; lane > 0; lane /= 2) v += __shfl_xor_sync(all_lanes, v, lane);
  return v;
}

/// A row of logits, spread over the lanes of a warp: class `lane + 32·i` is element i of a lane. `Held` of the elements
/// stay in registers, so that such a row is read once however often it is looked at; the others are read again.
template <int Held>
class Row {
 public:
  __device__ Row(ConstValues logits, std::int64_t start, std::int64_t classes)
      : logits_(logits), start_(start), classes_(classes), lane_(static_cast<int>(threadIdx.x) % warp_threads) {
    for (int i = 0; i < Held; ++i) {
      const std::int64_t k = lane_ + std::int64_t{i} * warp_threads;
      held_[i] = k < classes_ ? load(logits_, start_ + k) : 0.0F;
    }
  }

  /// Calls f(logit, class) for the classes of this lane.
  template <class F>
  __device__ void for_each(F f) const {
    for (int i = 0; i < Held; ++i) {
      const std::int64_t k = lane_ + std::int64_t{i} * warp_threads;
      if (k < classes_) f(held_[i], k);
    }
    for (std::int64_t k = lane_ + std::int64_t{Held} * warp_threads; k < classes_; k += warp_threads) {
      f(load(logits_, start_ + k), k);
    }
  }

  /// The logit of a class, in all lanes.
  __device__ float at(std::int64_t wanted) const {
    float found = 0.0F;
    for_each([&](float z, std::int64_t k) {
      if (k == wanted) found = z;
    });
    return __shfl_sync(all_lanes, found, static_cast<int>(wanted % warp_threads));
  }

 private:
  ConstValues logits_;
  std::int64_t start_;
  std::int64_t classes_;
  int lane_;
  float held_[Held];
};

/// What one pass over a row finds out.
struct RowFacts {
  float maximum = 0.0F;
  float at_label = 0.0F;
  std::int32_t rank = 0;
  bool has_nan = false;
};

template <int Held>
__device__ RowFacts look_at(const Row<Held>& row, std::int64_t label, std::int64_t classes) {
  const float at_label = row.at(label);
  float maximum = -INFINITY;
  std::int32_t rank = 0;
  int nans = 0;
  row.for_each([&](float z, std::int64_t k) {
    maximum = fmaxf(maximum, z);
    nans += is_nan(z) ? 1 : 0;
    rank += z > at_label || (z == at_label && k < label) ? 1 : 0;
  });
  const bool has_nan = sum_over_lanes(nans) > 0;
  rank = sum_over_lanes(rank);
  return {maximum_over_lanes(maximum), at_label, has_nan ? static_cast<std::int32_t>(classes) : rank, has_nan};
}

/// What does not depend on the row.
struct Scalars {
  float smoothing;
  float scale;
};

__device__ Scalars scalars_of(const SoftmaxCe& batch) {
  const auto mean = static_cast<float>(1.0 / static_cast<double>(batch.total_rows));
  return {*batch.smoothing, batch.loss_scale != nullptr ? mean * *batch.loss_scale : mean};
}

template <int Held>
__device__ void fill_gradient(const Row<Held>& row, const SoftmaxCe& batch, std::int64_t start, float value) {
  if (batch.d_logits.data == nullptr) return;
  row.for_each([&](float, std::int64_t k) { store(value, batch.d_logits, start + k); });
}

/// Gives the loss of a row without a NaN and with a finite maximum, and writes its gradient.
template <int Held>
__device__ float loss_and_gradient(const Row<Held>& row, const SoftmaxCe& batch, std::int64_t start, std::int64_t label,
                                   const RowFacts& facts, Scalars scalars) {
  float exponentials = 0.0F;
  float below = 0.0F;
  row.for_each([&](float z, std::int64_t) {
    exponentials += expf(z - facts.maximum);
    below += facts.maximum - z;
  });
  exponentials = sum_over_lanes(exponentials);
  const float mean_below = sum_over_lanes(below) / static_cast<float>(batch.classes);
  if (batch.d_logits.data != nullptr) {
    const float inverse = 1.0F / exponentials;
    const float others = scalars.smoothing / static_cast<float>(batch.classes);
    row.for_each([&](float z, std::int64_t k) {
      const float target = k == label ? others + (1.0F - scalars.smoothing) : others;
      store((expf(z - facts.maximum) * inverse - target) * scalars.scale, batch.d_logits, start + k);
    });
  }
  const float log_sum = logf(exponentials);
  const float hard = log_sum + (facts.maximum - facts.at_label);
  // Without smoothing a class at -inf must not enter as 0·inf.
  if (!(scalars.smoothing > 0.0F)) return hard;
  return (1.0F - scalars.smoothing) * hard + scalars.smoothing * (log_sum + mean_below);
}

template <int Held>
__global__ void softmax_ce_kernel(SoftmaxCe batch) {
  // Preconditions: blockDim = (block_threads), a warp for each row: gridDim · warps >= rows; d_logits is logits, or
  // they do not overlap; classes >= 1.
  __shared__ float shared[2];
  if (threadIdx.x == 0) {
    const Scalars scalars = scalars_of(batch);
    shared[0] = scalars.smoothing;
    shared[1] = scalars.scale;
  }
  __syncthreads();
  const std::int64_t r = std::int64_t{blockIdx.x} * warps + threadIdx.x / warp_threads;
  if (r >= batch.rows) return;
  const bool first_lane = threadIdx.x % warp_threads == 0;
  const std::int64_t label = __shfl_sync(all_lanes, first_lane ? batch.labels[r] : 0, 0);
  const std::int64_t start = r * batch.classes;
  const Row<Held> row(batch.logits, start, batch.classes);  // (classes) of (rows, classes)
  float loss = NAN;
  std::int32_t rank = illegal_label_rank;
  if (label < 0 || label >= batch.classes) {
    fill_gradient(row, batch, start, 0.0F);
  } else {
    const RowFacts facts = look_at(row, label, batch.classes);
    rank = facts.rank;
    if (facts.has_nan || !is_finite(facts.maximum)) {
      fill_gradient(row, batch, start, NAN);
    } else {
      loss = loss_and_gradient(row, batch, start, label, facts, {shared[0], shared[1]});
    }
  }
  if (!first_lane) return;
  batch.row_loss[r] = loss;
  batch.row_rank[r] = rank;
}

}  // namespace

void softmax_ce(const SoftmaxCe& batch, cudaStream_t stream) {
  if (batch.rows == 0) return;
  // Few registers where there are few classes, and no row of up to 1024 classes read twice.
  constexpr int few = 1;
  constexpr int some = 8;
  constexpr int many = 32;
  auto* kernel = softmax_ce_kernel<many>;
  if (batch.classes <= some * warp_threads) kernel = softmax_ce_kernel<some>;
  if (batch.classes <= few * warp_threads) kernel = softmax_ce_kernel<few>;
  launch("softmax_ce", kernel, blocks_for(batch.rows, warps, "softmax_ce"), block_threads, stream, batch);
}

}  // namespace tr::cuda
