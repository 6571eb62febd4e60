#include "kernels/cuda/launch.h"
#include "kernels/cuda/metrics.h"
#include "kernels/cuda/softmax_ce.h"
#include "kernels/cuda/sum-inl.h"
#include "kernels/cuda/vector-inl.h"
#include "tr/op/softmax_ce.h"

namespace tr::cuda {
namespace {

__global__ void accumulate_metrics_kernel(MetricSums sums) {
  // Preconditions: one block, blockDim = (block_threads).
  __shared__ double shared[block_threads];
  double of_thread[metric_count] = {};
  for (std::int64_t r = threadIdx.x; r < sums.rows; r += block_threads) {  // (1) of (rows)
    const float loss = sums.row_loss[r];
    const std::int32_t rank = sums.row_rank[r];
    const bool judged = rank != illegal_label_rank && !is_nan(loss);
    of_thread[static_cast<int>(Metric::loss)] += static_cast<double>(loss);
    of_thread[static_cast<int>(Metric::top1)] += judged && rank < 1 ? 1.0 : 0.0;
    of_thread[static_cast<int>(Metric::top5)] += judged && rank < 5 ? 1.0 : 0.0;
    of_thread[static_cast<int>(Metric::rows)] += 1.0;
    of_thread[static_cast<int>(Metric::illegal_labels)] += rank == illegal_label_rank ? 1.0 : 0.0;
  }
  for (int metric = 0; metric < metric_count; ++metric) {
    const double sum = sum_over_block(of_thread[metric], shared);
    if (threadIdx.x != 0) continue;
    sums.result[metric] = sum;
    sums.accumulated[metric] += sum;
  }
}

}  // namespace

void accumulate_metrics(const MetricSums& sums, cudaStream_t stream) {
  launch("accumulate_metrics", accumulate_metrics_kernel, 1, block_threads, stream, sums);
}

}  // namespace tr::cuda
