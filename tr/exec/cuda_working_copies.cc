#include "tr/exec/cuda_working_copies.h"

#include <fmt/format.h>

#include "kernels/cuda/cast.h"
#include "tr/base/error.h"

namespace tr {

cuda::FloatType float_type_of(DType type) {
  switch (type) {
    case DType::fp32: return cuda::FloatType::fp32;
    case DType::bf16: return cuda::FloatType::bf16;
    case DType::fp16: return cuda::FloatType::fp16;
    case DType::fp64:
    case DType::int32:
    case DType::uint8: break;
  }
  throw DeviceError(fmt::format("no kernel computes on a tensor of {}", name_of(type)));
}

cuda::Values working_copies(const Plan& plan, const CudaArenas& arenas) {
  if (plan.spec.precision == Precision::fp32) return {};
  return {arenas.address(working_range.first), float_type_of(feature_dtype(plan.spec.precision))};
}

void make_working_copies(const Plan& plan, const CudaArenas& arenas, WeightSource source, cudaStream_t stream) {
  const cuda::Values copies = working_copies(plan, arenas);
  if (copies.data == nullptr) return;
  const Region masters =
      source == WeightSource::average ? image_of(weight_range.first, Image::average) : weight_range.first;
  const std::int64_t count = plan.memory.bytes_of(weight_range) / static_cast<std::int64_t>(sizeof(float));
  cuda::cast({arenas.address(masters), cuda::FloatType::fp32}, copies, count, stream);
}

}  // namespace tr
