// For the CUDA backend's own files.
#pragma once

#include <cstddef>

#include "tr/exec/cuda_arenas.h"
#include "tr/exec/cuda_ops.h"
#include "tr/exec/cuda_schedule.h"
#include "tr/exec/cuda_update.h"
#include "tr/plan/plan.h"

namespace tr {

/// All that a step on one slot is made of.
struct CudaStepParts {
  const Plan* plan = nullptr;
  const CudaArenas* arenas = nullptr;
  const CudaOps* ops = nullptr;
  const CudaUpdate* update = nullptr;
  int slot = 0;
  CudaWorkspaces workspaces{};
  /// Pinned: the learning rate, and where r_result goes when the step is done.
  const std::byte* rate = nullptr;
  std::byte* results = nullptr;
};

/// The tasks of a step: the rate's copy to the device, the graph's nodes and what several GPUs add to them, and the
/// results' copy to the host. They refer to `ops` and to the memory behind the parts.
CudaSchedule make_step(const CudaStepParts& parts);

}  // namespace tr
