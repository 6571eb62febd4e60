#pragma once

#include <string>

namespace tr::cpu {

/// The vector instructions that the matrix library may use here: those of the processor, unless ONEDNN_MAX_CPU_ISA
/// allows less. `avx512` is the group F, BW, VL and DQ.
struct CpuFeatures {
  bool avx2 = false;
  bool avx512 = false;
  bool avx512_bf16 = false;
  bool amx_bf16 = false;

  /// Such as "AVX2, AVX-512, AVX-512 BF16", or "neither AVX2 nor AVX-512".
  std::string describe() const;
};

CpuFeatures detect();

/// Throws DeviceError, naming what the processor has and the remedy, unless it can multiply in bf16 at a sensible
/// speed, which takes AVX-512; without its BF16 instructions the library emulates them.
void require_bf16(const CpuFeatures& features);

}  // namespace tr::cpu
