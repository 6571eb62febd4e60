#include "kernels/cuda/device.h"

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <string>

#include "kernels/cuda/status.h"
#include "tr/base/error.h"

namespace {

using namespace tr;

/// What is thrown, or nothing.
template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool has_gpu() {
  int count = 0;
  const bool found = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  static_cast<void>(cudaGetLastError());
  return found;
}

TEST_CASE("a status that is no success is thrown with the name of the operation and of the error") {
  CHECK_NOTHROW(cuda::check(cudaSuccess, "fc_forward of layer 3"));
  const std::string message = message_of([] { cuda::check(cudaErrorMemoryAllocation, "fc_forward of layer 3"); });
  CHECK(contains(message, "fc_forward of layer 3: cudaErrorMemoryAllocation ("));
}

TEST_CASE("a machine without a usable GPU is refused with what was found and what is needed") {
  if (has_gpu()) {
    CHECK(cuda::device_count() >= 1);
    return;
  }
  int driver = 0;
  REQUIRE(cudaDriverGetVersion(&driver) == cudaSuccess);
  const std::string message = message_of([] { cuda::device_count(); });
  CHECK(contains(message, driver == 0 ? "no NVIDIA driver was found" : "the NVIDIA driver"));
  CHECK(contains(message, "needs"));
  CHECK(contains(message, "--device cpu"));
  CHECK(message == message_of([] { cuda::require_device(0, 0); }));
}

TEST_CASE("a GPU that is not there, or has too little memory, is refused") {
  if (!has_gpu()) {
    CHECK_THROWS_AS(cuda::require_device(0, std::numeric_limits<std::size_t>::max()), DeviceError);
    return;
  }
  CHECK(contains(message_of([] { cuda::require_device(cuda::device_count(), 0); }), "there is no GPU"));
  CHECK(contains(message_of([] { cuda::require_device(0, std::numeric_limits<std::size_t>::max()); }), "are needed"));
  CHECK(cuda::require_device(0, 1).free_bytes > 0);
}

}  // namespace
