#include "kernels/cpu/cpu_features.h"

#include <doctest/doctest.h>

#include "tr/base/error.h"

namespace tr::cpu {

TEST_CASE("an instruction set brings those it extends") {
  const CpuFeatures features = detect();
  if (features.amx_bf16) CHECK(features.avx512_bf16);
  if (features.avx512_bf16) CHECK(features.avx512);
  if (features.avx512) CHECK(features.avx2);
#if defined(__x86_64__)
  // Nobody reports what the processor lacks.
  if (features.avx2) CHECK(__builtin_cpu_supports("avx2"));
  if (features.avx512) CHECK(__builtin_cpu_supports("avx512bw"));
#endif
}

TEST_CASE("features are described in words") {
  CHECK(CpuFeatures{}.describe() == "neither AVX2 nor AVX-512");
  CHECK(CpuFeatures{.avx2 = true, .avx512 = true, .avx512_bf16 = true, .amx_bf16 = false}.describe() ==
        "AVX2, AVX-512, AVX-512 BF16");
}

TEST_CASE("bf16 without AVX-512 is refused, naming what there is and the remedy") {
  CHECK_NOTHROW(require_bf16({.avx2 = true, .avx512 = true, .avx512_bf16 = false, .amx_bf16 = false}));
  CHECK_THROWS_WITH_AS(require_bf16({.avx2 = true, .avx512 = false, .avx512_bf16 = false, .amx_bf16 = false}),
                       "bf16 needs a processor with AVX-512 (F, BW, VL, DQ), this one has AVX2; use --precision fp32",
                       DeviceError);
}

}  // namespace tr::cpu
