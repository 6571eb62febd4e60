#pragma once

#include <memory>

#include "tr/task/gpu_engine.h"

namespace tr {

/// There only in a program that links the CUDA backend: else its address is null.
[[gnu::weak]] std::unique_ptr<GpuEngine> make_cuda_engine(const TaskSpec& spec, const TrainingSettings& settings,
                                                          const Options& options);

}  // namespace tr
