#include <cmath>
#include <limits>

#include "kernels/cuda/judge_step.h"
#include "kernels/cuda/launch.h"
#include "tr/op/softmax_ce.h"

namespace tr::cuda {
namespace {

__global__ void judge_step_kernel(JudgeStep judge) {
  // Preconditions: one thread; no two of the flags are the same.
  if (judge.gradient_not_finite != nullptr) {
    if (*judge.gradient_not_finite != 0) *judge.not_finite[0] = 1;
    *judge.gradient_not_finite = 0;
  }
  const double loss = judge.result[static_cast<int>(Metric::loss)];
  // Negated, since every comparison with a NaN is false.
  bool failed = !(fabs(loss) <= std::numeric_limits<double>::max());
  failed = failed || judge.result[static_cast<int>(Metric::illegal_labels)] > 0.0;
  failed = failed || *judge.not_finite[0] != 0 || *judge.not_finite[1] != 0;
  if (failed) *judge.halted = 1;
  const bool overflow = judge.overflow != nullptr && *judge.overflow != 0;
  *judge.skip = *judge.halted != 0 || overflow ? 1 : 0;
}

}  // namespace

void judge_step(const JudgeStep& judge, cudaStream_t stream) {
  launch("judge_step", judge_step_kernel, 1, 1, stream, judge);
}

}  // namespace tr::cuda
