#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace tr::cuda {

struct MetricSums {
  /// [rows], as softmax_ce() writes them.
  const float* row_loss = nullptr;
  const std::int32_t* row_rank = nullptr;
  std::int64_t rows = 0;
  /// [5], in the order of tr::Metric: the sums of these rows.
  double* result = nullptr;
  /// [5]: the sums are added to it.
  double* accumulated = nullptr;
};

/// Sums losses, rows with the label first and among the first five, rows, and illegal labels. A row whose loss is NaN
/// counts as no hit, however few classes there are. All in fp64 and in an order that depends on `rows` alone.
void accumulate_metrics(const MetricSums& sums, cudaStream_t stream);

}  // namespace tr::cuda
