#include "kernels/cpu/denormals.h"

#include <doctest/doctest.h>

#if defined(__x86_64__)
#include <xmmintrin.h>

#include <thread>

namespace tr::cpu {
namespace {

constexpr unsigned both = 1U << 15 | 1U << 6;

/// 1e-40 is denormal; volatile, so that the processor computes it and not the compiler.
float halved_denormal() {
  volatile float tiny = 1e-40F;
  volatile float half = 0.5F;
  return tiny * half;
}

}  // namespace

TEST_CASE("O8: FTZ and DAZ are on while the guard lives and restored after") {
  const unsigned before = _mm_getcsr();
  CHECK((before & both) == 0);
  CHECK(halved_denormal() > 0.0F);
  {
    const DenormalsOff off;
    CHECK((_mm_getcsr() & both) == both);
    CHECK(halved_denormal() == 0.0F);
    { const DenormalsOff nested; }
    CHECK((_mm_getcsr() & both) == both);
  }
  CHECK(halved_denormal() > 0.0F);
  CHECK((_mm_getcsr() & both) == 0);
}

TEST_CASE("the guard of one thread is nobody else's") {
  unsigned inside = 0;
  std::thread([&] {
    const DenormalsOff off;
    inside = _mm_getcsr();
  }).join();
  CHECK((inside & both) == both);
  CHECK((_mm_getcsr() & both) == 0);
}

}  // namespace tr::cpu
#endif
