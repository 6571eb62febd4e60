#include "tr/exec/cpu_rank.h"

#include "kernels/cpu/cpu_features.h"
#include "kernels/cpu/denormals.h"
#include "kernels/cpu/threads.h"
#include "tr/base/error.h"

namespace tr {

void require_precision(Precision precision) {
  if (precision == Precision::bf16) cpu::require_bf16(cpu::detect());
  if (precision == Precision::fp16) throw DeviceError("no CPU computes in fp16; it needs a GPU, or take bf16 or fp32");
}

std::string widest_instructions() {
  const std::string all = cpu::detect().describe();
  const std::size_t comma = all.rfind(", ");
  return comma == std::string::npos ? all : all.substr(comma + 2);
}

void set_up_rank_thread() {
  cpu::set_threads(1);
  cpu::flush_denormals(true);
}

}  // namespace tr
