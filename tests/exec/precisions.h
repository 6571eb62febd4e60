#pragma once

#include <vector>

#include "kernels/cpu/cpu_features.h"
#include "tr/base/dtype.h"

namespace tr {

/// Whether this machine can compute in bf16 at all; what needs it is skipped elsewhere.
inline bool has_bf16() { return cpu::detect().avx512; }

/// The precisions that this machine computes in; a test of both must not fail where there is only one.
inline std::vector<Precision> precisions() {
  std::vector<Precision> all{Precision::fp32};
  if (has_bf16()) all.push_back(Precision::bf16);
  return all;
}

}  // namespace tr
