#include <cmath>
#include <numeric>

#include "tests/cuda_sim/kernels.h"
#include "tests/cuda_sim/programs.h"

using namespace cuda_sim_test;

namespace {

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

/// Runs one kernel alone and returns what the host is told.
template <class... P, class... A>
cudaError_t run(void (*kernel)(P...), dim3 grid, dim3 block, A... arguments) {
  REQUIRE(launch(kernel, grid, block, nullptr, arguments...) == cudaSuccess);
  return cudaDeviceSynchronize();
}

}  // namespace

TEST_CASE("threads of all blocks run once each") {
  cuda_sim::reset();
  float* x = device_array(ramp(4000));
  float* y = device_array(std::vector<float>(4000, 0.5F));
  CHECK(run(axpy, dim3(4), dim3(256), 2.0F, x, y, 4000L) == cudaSuccess);
  for (std::size_t i = 0; const float value : on_host(y, 4000)) CHECK(value == 2.0F * static_cast<float>(++i) + 0.5F);
  CHECK(all_findings() == "");
}

TEST_CASE("a sum over shuffles, barriers and shared memory is right in any order of threads") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    cuda_sim::reset(seed);
    const float* x = device_array(ramp(1000));
    float* result = device_array<float>(1);
    CHECK(run(sum, dim3(1), dim3(256), x, result, 1000L) == cudaSuccess);
    CHECK(on_host(result, 1)[0] == 500500.0F);
    CHECK(all_findings() == "");
  }
}

TEST_CASE("shuffles bring the values of the right lanes") {
  cuda_sim::reset();
  int* out = device_array<int>(256);
  CHECK(run(shuffles, dim3(1), dim3(64), out) == cudaSuccess);
  const std::vector<int> values = on_host(out, 256);
  for (int i = 0; i < 64; ++i) {
    const int* mine = values.data() + 4 * i;
    CHECK(mine[0] == i / 32 * 32 + 5);
    CHECK(mine[1] == (i ^ 3));
    CHECK(mine[2] == (i % 32 < 28 ? i + 4 : i));
    CHECK(mine[3] == (i % 8 < 4 ? i + 4 : i));
  }
}

TEST_CASE("votes see every lane") {
  cuda_sim::reset();
  unsigned* out = device_array<unsigned>(3);
  CHECK(run(votes, dim3(1), dim3(32), out) == cudaSuccess);
  CHECK(on_host(out, 3) == std::vector<unsigned>{0xaaaaaaaaU, 1, 0});
}

TEST_CASE("atomics count every thread") {
  cuda_sim::reset();
  unsigned* counts = device_array(std::vector<unsigned>{0, 0});
  CHECK(run(count_threads, dim3(7), dim3(33), counts, counts + 1) == cudaSuccess);
  CHECK(on_host(counts, 2) == std::vector<unsigned>{231, 230});
}

TEST_CASE("a thread that leaves while others wait at a barrier is named") {
  cuda_sim::reset();
  CHECK(run(leaves_before_barrier, dim3(1), dim3(64), device_array<float>(64)) == cudaErrorLaunchFailure);
  CHECK(found("waits in __syncthreads(), but thread (3, 0, 0) has returned") == 1);
}

TEST_CASE("lanes that do not come to a shuffle are missed") {
  cuda_sim::reset();
  CHECK(run(half_a_warp_shuffles, dim3(1), dim3(32), device_array<float>(32)) == cudaErrorLaunchFailure);
  CHECK(found("waits for the lanes of its warp, but thread") == 1);
}

TEST_CASE("a kernel that failed does not spoil the next program") {
  cuda_sim::reset();
  CHECK(run(leaves_before_barrier, dim3(1), dim3(64), device_array<float>(64)) == cudaErrorLaunchFailure);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  float* data = nullptr;
  CHECK(cudaMalloc(&data, 4) == cudaErrorLaunchFailure);
  cuda_sim::reset();
  const float* x = device_array(ramp(64));
  float* result = device_array<float>(1);
  CHECK(run(sum, dim3(1), dim3(64), x, result, 64L) == cudaSuccess);
  CHECK(on_host(result, 1)[0] == 2080.0F);
}

TEST_CASE("a trap is a launch failure") {
  cuda_sim::reset();
  CHECK(run(traps, dim3(1), dim3(1), device_array(std::vector<int>{7})) == cudaSuccess);
  CHECK(run(traps, dim3(1), dim3(1), device_array(std::vector<int>{8})) == cudaErrorLaunchFailure);
}

TEST_CASE("a wrong configuration is refused") {
  cuda_sim::reset();
  float* data = device_array<float>(4);
  CHECK(launch(set, dim3(0), dim3(1), nullptr, data, 0.0F, 1L) == cudaErrorInvalidConfiguration);
  CHECK(launch(set, dim3(1), dim3(1025), nullptr, data, 0.0F, 1L) == cudaErrorInvalidConfiguration);
  CHECK(launch(set, dim3(1, 65536), dim3(1), nullptr, data, 0.0F, 1L) == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("memory is poisoned: what nobody wrote is NaN") {
  cuda_sim::reset();
  CHECK(std::isnan(on_host(device_array<float>(3), 3)[2]));
  CHECK(std::isnan(pinned_array<float>(3)[2]));
}

TEST_SUITE("what only instrumented kernels show" * doctest::skip(!cuda_sim::instrumented())) {
  TEST_CASE("shared memory that the block did not write is missed, and poisoned") {
    cuda_sim::reset();
    float* data = device_array<float>(64 * 8);
    CHECK(run(reads_unset_shared, dim3(8), dim3(64), data) == cudaSuccess);
    CHECK(found("reads_unset_shared reads shared memory that no thread of the block wrote before") == 1);
    CHECK(run(reads_unset_shared, dim3(2), dim3(64), data) == cudaSuccess);
    CHECK(std::isnan(on_host(data, 128)[127]));
  }

  TEST_CASE("a race in shared memory is found in any order of threads") {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      cuda_sim::reset(seed);
      CHECK(run(forgets_barrier, dim3(1), dim3(64), device_array<float>(64)) == cudaErrorLaunchFailure);
      CHECK(found("a race in shared memory") == 1);
    }
  }

  TEST_CASE("bytes are counted: each once, and each access") {
    cuda_sim::reset();
    float* x = device_array(ramp(1000));
    CHECK(run(axpy, dim3(1), dim3(256), 1.0F, x, x, 1000L) == cudaSuccess);
    CHECK(run(sum, dim3(1), dim3(32), static_cast<const float*>(x), x + 4, 1000L) == cudaSuccess);
    const cuda_sim::KernelCount update = cuda_sim::kernel_count("axpy");
    CHECK(update.launches == 1);
    CHECK(update.bytes_read == 4000);
    CHECK(update.bytes_loaded == 8000);
    CHECK(update.bytes_written == 4000);
    CHECK(update.bytes_stored == 4000);
    CHECK(cuda_sim::kernel_count("sum").bytes_read == 4000);
    CHECK(cuda_sim::kernel_count("sum").bytes_written == 4);
  }

  TEST_CASE("a stray write names the kernel, the thread and the bytes") {
    cuda_sim::reset();
    CHECK(run(writes_at, dim3(1), dim3(32), device_array<float>(10), 10L) == cudaErrorIllegalAddress);
    CHECK(found("a stray write: 4 bytes at ") == 1);
    CHECK(found("0 bytes behind the end of allocation 0 (device 0, 40 bytes), thread (0, 0, 0) of block (0, 0, 0) of "
                "writes_at") == 1);
  }

  TEST_CASE("memory of another device, of the host and freed memory are out of reach") {
    cuda_sim::reset(1, {.devices = 2});
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    float* other = device_array<float>(4);
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    CHECK(run(writes_at, dim3(1), dim3(1), other, 0L) == cudaErrorIllegalAddress);
    CHECK(found("(device 1, 16 bytes)") == 1);
    cuda_sim::reset();
    const std::vector<float> heap(4);
    CHECK(run(writes_at, dim3(1), dim3(1), const_cast<float*>(heap.data()), 0L) == cudaErrorIllegalAddress);
    CHECK(found("which no device can reach") == 1);
    cuda_sim::reset();
    float* freed = device_array<float>(4);
    REQUIRE(cudaFree(freed) == cudaSuccess);
    CHECK(run(writes_at, dim3(1), dim3(1), freed, 0L) == cudaErrorIllegalAddress);
    CHECK(found("a stale pointer: an argument of writes_at") == 1);
  }

  TEST_CASE("pinned memory is in reach") {
    cuda_sim::reset();
    float* pinned = pinned_array<float>(4);
    CHECK(run(writes_at, dim3(1), dim3(1), pinned, 2L) == cudaSuccess);
    CHECK(pinned[2] == 1);
  }

  TEST_CASE("a vector access must be aligned") {
    cuda_sim::reset();
    const float* data = device_array(ramp(8));
    float* out = device_array<float>(1);
    CHECK(run(reads_vector_at, dim3(1), dim3(1), data, 4L, out) == cudaSuccess);
    CHECK(on_host(out, 1)[0] == 26.0F);
    CHECK(run(reads_vector_at, dim3(1), dim3(1), data, 2L, out) == cudaErrorMisalignedAddress);
    CHECK(found("an access of 16 bytes that is not aligned") == 1);
  }
}
