#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "tr/exec/step_status.h"
#include "tr/plan/plan.h"
#include "tr/task/gpu_engine.h"
#include "tr/task/simple_task.h"

namespace tr {

/// What a SimpleTask needs of a device: memory for its plan on some ranks, and its graph ready to run.
class SimpleBackend {
 public:
  virtual ~SimpleBackend() = default;

  /// Copies a whole tensor.
  virtual void write(const DTensor& tensor, std::span<const std::byte> from, int rank) = 0;
  virtual void read(const DTensor& tensor, std::span<std::byte> to, int rank) const = 0;
  /// Makes the working copies from the weights.
  virtual void weights_changed() = 0;
  /// Runs the graph on all ranks, one time after another, until the ranks' results are not ok.
  virtual StepStatus run(int times) = 0;
};

/// There only in a program that links the CUDA backend: else its address is null.
[[gnu::weak]] std::unique_ptr<SimpleBackend> make_cuda_simple_backend(const Plan& plan, const SimpleTaskConfig& config);

}  // namespace tr
