#pragma once

#include <cstdint>

#include "kernels/cpu/kernel.h"
#include "tr/op/softmax_ce.h"

namespace tr::cpu {

/// Writes the metrics (tr::Metric, in that order) of `rows` rows, as softmax_ce() describes them by loss and rank, to
/// `result` [5] and adds them to `accumulated` [5]. A row whose loss is NaN counts as no hit, however few classes there
/// are. The loss is summed in fp64 over fixed chunks in their order.
void accumulate_metrics(const float* row_loss, const std::int32_t* row_rank, std::int64_t rows, double* result,
                        double* accumulated);

/// in {row_loss [B] fp32, row_rank [B] int32}, out {result fp64 [5], accumulated fp64 [5]}.
Kernel make_accumulate_metrics(const Operation& operation, Scratch& scratch);

}  // namespace tr::cpu
