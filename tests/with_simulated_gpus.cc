#include <doctest/doctest.h>

#include <string>

#include "tests/cuda_sim/control.h"
#include "tests/device_under_test.h"

namespace tr {

Device device_under_test() {
  static const bool ready = [] {
    cuda_sim::reset(1, {.devices = 8});
    return true;
  }();
  static_cast<void>(ready);
  return Device::cuda;
}

// Tests run in the order of their files' names, so this one is the last.
TEST_CASE("the stand-in has found nothing wrong in all tests together, and nothing is left") {
  CHECK(cuda_sim::calls("cudaGraphLaunch") > 0);
  for (const std::string& finding : cuda_sim::findings()) FAIL_CHECK(finding);
  CHECK(cuda_sim::live_handles() == 0);
  CHECK(cuda_sim::pinned_bytes() == 0);
  for (int device = 0; device < 8; ++device) CHECK(cuda_sim::device_bytes(device) == 0);
}

}  // namespace tr
