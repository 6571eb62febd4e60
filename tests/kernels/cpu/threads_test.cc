#include "kernels/cpu/threads.h"

#include <doctest/doctest.h>
#include <omp.h>

#include <thread>

namespace tr::cpu {

TEST_CASE("the number of threads is this thread's own") {
  set_threads(3);
  CHECK(omp_get_max_threads() == 3);
  int other = 0;
  std::thread([&] {
    set_threads(1);
    other = omp_get_max_threads();
  }).join();
  CHECK(other == 1);
  CHECK(omp_get_max_threads() == 3);
}

}  // namespace tr::cpu
