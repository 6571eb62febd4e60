#include "kernels/cpu/cpu_features.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

#include <string_view>

#include "tr/base/error.h"

namespace tr::cpu {

std::string CpuFeatures::describe() const {
  std::string text;
  const auto add = [&](bool has, std::string_view name) {
    if (has) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  };
  add(avx2, "AVX2");
  add(avx512, "AVX-512");
  add(avx512_bf16, "AVX-512 BF16");
  add(amx_bf16, "AMX BF16");
  return text.empty() ? "neither AVX2 nor AVX-512" : text;
}

CpuFeatures detect() {
  const auto has = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
  // Each instruction set of the library is the bits of all that it includes.
  const auto includes = [&](unsigned set) { return (has & set) == set; };
  return {.avx2 = includes(dnnl_cpu_isa_avx2),
          .avx512 = includes(dnnl_cpu_isa_avx512_core),
          .avx512_bf16 = includes(dnnl_cpu_isa_avx512_core_bf16),
          .amx_bf16 = includes(dnnl_cpu_isa_avx512_core_amx)};
}

void require_bf16(const CpuFeatures& features) {
  if (features.avx512) return;
  throw DeviceError(
      fmt::format("bf16 needs a processor with AVX-512 (F, BW, VL, DQ), this one has {}; use --precision fp32",
                  features.describe()));
}

}  // namespace tr::cpu
