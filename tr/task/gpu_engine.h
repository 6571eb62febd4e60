#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tr/io/result.h"
#include "tr/task/run_books.h"
#include "tr/task/run_plans.h"

namespace tr {

/// What Engine and TrainingRun are on CPUs, for a run on GPUs. An interface, since the program may be built without it.
class GpuEngine {
 public:
  virtual ~GpuEngine() = default;

  virtual const RunPlans& plans() const = 0;
  /// Of each rank.
  virtual std::vector<std::int64_t> annex_bytes() const = 0;
  virtual std::uint64_t weights_hash() const = 0;
  /// What the ranks compute on, such as "NVIDIA H200".
  virtual std::string device() const = 0;
  /// As TrainingRun::run(). Once.
  virtual void run(const RunParts& parts, TrainingResult& result) = 0;
};

/// What a DeviceError says where a GPU is asked for in a program that has no CUDA backend.
inline constexpr const char* built_without_cuda =
    "this program was built without CUDA; build it with --config=cuda, or take --device cpu";

/// With `options.gpus` ranks, a GPU each. Throws DeviceError where the program was built without CUDA, or if the GPUs,
/// their driver or their memory are not what the run needs; and what Engine throws.
std::unique_ptr<GpuEngine> make_gpu_engine(const TaskSpec& spec, const TrainingSettings& settings,
                                           const Options& options);

}  // namespace tr
