#include "tr/task/gpu_engine.h"

#include "tr/base/error.h"
#include "tr/task/cuda_engine.h"

namespace tr {

std::unique_ptr<GpuEngine> make_gpu_engine(const TaskSpec& spec, const TrainingSettings& settings,
                                           const Options& options) {
  if (make_cuda_engine == nullptr) throw DeviceError(built_without_cuda);
  return make_cuda_engine(spec, settings, options);
}

}  // namespace tr
