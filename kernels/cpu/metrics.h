#pragma once

#include <cstdint>

#include "kernels/cpu/kernel.h"

namespace tr::cpu {

/// The sums over the rows of a batch, in this order in memory.
enum class Metric : std::uint8_t { loss, top1, top5, rows, illegal_labels };

inline constexpr int metric_count = 5;

/// Writes the metrics of `rows` rows, as softmax_ce() describes them by loss and rank, to `result` [5] and adds them to
/// `accumulated` [5]. A row whose loss is NaN counts as no hit, however few classes there are. The loss is summed in
/// fp64 over fixed chunks in their order.
void accumulate_metrics(const float* row_loss, const std::int32_t* row_rank, std::int64_t rows, double* result,
                        double* accumulated);

/// in {row_loss [B] fp32, row_rank [B] int32}, out {result fp64 [5], accumulated fp64 [5]}.
Kernel make_accumulate_metrics(const Operation& operation, Scratch& scratch);

}  // namespace tr::cpu
