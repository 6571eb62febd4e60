#include "kernels/cpu/denormals.h"

#include <doctest/doctest.h>

#if defined(__x86_64__)
#include <thread>

namespace tr::cpu {
namespace {

/// 1e-40 is denormal; volatile, so that the processor computes it and not the compiler.
float halved_denormal() {
  volatile float tiny = 1e-40F;
  volatile float half = 0.5F;
  return tiny * half;
}

}  // namespace

TEST_CASE("O8: denormals are zero on the thread that says so, until it says otherwise, and on no other") {
  float off = 1.0F;
  float on = 0.0F;
  std::thread([&] {
    flush_denormals(true);
    off = halved_denormal();
    flush_denormals(false);
    on = halved_denormal();
    flush_denormals(true);
  }).join();
  CHECK(off == 0.0F);
  CHECK(on > 0.0F);
  CHECK(halved_denormal() > 0.0F);
}

}  // namespace tr::cpu
#endif
