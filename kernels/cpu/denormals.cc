#include "kernels/cpu/denormals.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tr::cpu {

#if defined(__x86_64__)

namespace {
constexpr unsigned flush_to_zero = 1U << 15;
constexpr unsigned denormals_are_zero = 1U << 6;
}  // namespace

DenormalsOff::DenormalsOff() : former_(_mm_getcsr()) { _mm_setcsr(former_ | flush_to_zero | denormals_are_zero); }

DenormalsOff::~DenormalsOff() {
  constexpr unsigned ours = flush_to_zero | denormals_are_zero;
  _mm_setcsr((_mm_getcsr() & ~ours) | (former_ & ours));
}

#else

DenormalsOff::DenormalsOff() = default;
DenormalsOff::~DenormalsOff() = default;

#endif

}  // namespace tr::cpu
