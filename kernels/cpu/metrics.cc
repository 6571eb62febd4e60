#include "kernels/cpu/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/cpu/operands.h"
#include "kernels/cpu/softmax_ce.h"

namespace tr::cpu {

void accumulate_metrics(const float* row_loss, const std::int32_t* row_rank, std::int64_t rows, double* result,
                        double* accumulated) {
  constexpr std::int64_t chunk = 64;
  std::array<double, metric_count> sums{};
  const auto at = [&](Metric metric) -> double& { return sums[static_cast<std::size_t>(metric)]; };
  for (std::int64_t first = 0; first < rows; first += chunk) {
    double loss = 0.0;
    for (std::int64_t r = first; r < std::min(first + chunk, rows); ++r) {
      loss += static_cast<double>(row_loss[r]);
      const bool judged = row_rank[r] != illegal_label_rank && !std::isnan(row_loss[r]);
      at(Metric::top1) += judged && row_rank[r] < 1 ? 1.0 : 0.0;
      at(Metric::top5) += judged && row_rank[r] < 5 ? 1.0 : 0.0;
      at(Metric::illegal_labels) += row_rank[r] == illegal_label_rank ? 1.0 : 0.0;
    }
    at(Metric::loss) += loss;
  }
  at(Metric::rows) = static_cast<double>(rows);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    result[i] = sums[i];
    accumulated[i] += sums[i];
  }
}

Kernel make_accumulate_metrics(const Operation& operation, Scratch&) {
  const Operand& row_loss = operation.in[0];
  const Operand& row_rank = operation.in[1];
  require(operation, row_loss, "row_loss", {DType::fp32});
  require(operation, row_rank, "row_rank", {DType::int32});
  require_shape(operation, row_rank, "row_rank", row_loss.shape.n, 1);
  for (const Operand& sums : {operation.out[0], operation.out[1]}) {
    require(operation, sums, "result and accumulated", {DType::fp64});
    if (sums.shape.size() != metric_count) require_shape(operation, sums, "result and accumulated", 1, metric_count);
  }
  return [loss = row_loss.as<const float>(), rank = row_rank.as<const std::int32_t>(), rows = row_loss.shape.n,
          result = operation.out[0].as<double>(),
          accumulated = operation.out[1].as<double>()] { accumulate_metrics(loss, rank, rows, result, accumulated); };
}

}  // namespace tr::cpu
