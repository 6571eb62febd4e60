#include "kernels/cpu/denormals.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tr::cpu {

void flush_denormals([[maybe_unused]] bool on) {
#if defined(__x86_64__)
  constexpr unsigned flush_to_zero = 1U << 15;
  constexpr unsigned denormals_are_zero = 1U << 6;
  constexpr unsigned both = flush_to_zero | denormals_are_zero;
  const unsigned mode = _mm_getcsr();
  _mm_setcsr(on ? mode | both : mode & ~both);
#endif
}

}  // namespace tr::cpu
