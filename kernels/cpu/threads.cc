#include "kernels/cpu/threads.h"

#include <omp.h>

namespace tr::cpu {

void set_threads(int count) { omp_set_num_threads(count); }

}  // namespace tr::cpu
