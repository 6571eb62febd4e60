#include <algorithm>
#include <set>

#include "tests/cuda_sim/kernels.h"
#include "tests/cuda_sim/programs.h"

using namespace cuda_sim_test;

namespace {

constexpr long n = 64;

void put_set(float* data, float value, cudaStream_t stream, long count = n) {
  REQUIRE(launch(set, dim3(1), dim3(64), stream, data, value, count) == cudaSuccess);
}

void put_increment(const float* x, float* y, cudaStream_t stream) {
  REQUIRE(launch(increment, dim3(1), dim3(64), stream, x, y, n) == cudaSuccess);
}

/// Names of the operations in the order in which they ran.
std::vector<std::string> order() {
  std::vector<std::string> names;
  for (const cuda_sim::Ran& ran : cuda_sim::operations()) names.push_back(ran.name);
  return names;
}

/// Two streams with two named operations each, that share nothing.
void independent_streams() {
  const cudaStream_t first = make_stream(), second = make_stream();
  float* a = device_array<float>(n);
  float* b = device_array<float>(n);
  for (int i = 0; i < 3; ++i) {
    put_set(a, 1, first);
    put_increment(b, b, second);
  }
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}

}  // namespace

TEST_CASE("a stream keeps its order") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    cuda_sim::reset(seed);
    const cudaStream_t stream = make_stream();
    float* a = device_array<float>(n);
    put_set(a, 1, stream);
    for (int i = 0; i < 5; ++i) put_increment(a, a, stream);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(on_host(a, n)[63] == 6);
    CHECK(all_findings() == "");
  }
}

TEST_CASE("streams run in many orders, the same for the same seed") {
  std::set<std::vector<std::string>> orders;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    cuda_sim::reset(seed);
    independent_streams();
    const std::vector<std::string> once = order();
    cuda_sim::reset(seed);
    independent_streams();
    CHECK(order() == once);
    orders.insert(once);
    CHECK(all_findings() == "");
  }
  CHECK(orders.size() > 3);
}

TEST_CASE("work is done late, at once or at random times") {
  for (const auto progress : {cuda_sim::Progress::lazy, cuda_sim::Progress::eager}) {
    cuda_sim::reset(1, {}, progress);
    const cudaStream_t stream = make_stream();
    float* a = device_array<float>(n);
    for (int i = 0; i < 4; ++i) put_set(a, 1, stream);
    CHECK(cuda_sim::operations().size() == (progress == cuda_sim::Progress::lazy ? 0 : 4));
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(cuda_sim::operations().size() == 4);
  }
}

TEST_SUITE("what only instrumented kernels show" * doctest::skip(!cuda_sim::instrumented())) {
  TEST_CASE("two streams that use the same bytes need an event, whatever the order they run in") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      cuda_sim::reset(seed);
      const cudaStream_t first = make_stream(), second = make_stream();
      float* a = device_array<float>(n);
      float* b = device_array<float>(n);
      put_set(a, 1, first);
      put_increment(a, b, second);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      CHECK(found("not ordered: 'set on device 0'") + found("not ordered: 'increment on device 0'") == 1);
      CHECK(found("bytes [0, 256) of allocation 0 (device 0, 256 bytes)") == 1);
    }
  }

  TEST_CASE("reads do not conflict, nor do neighbours") {
    cuda_sim::reset();
    const cudaStream_t first = make_stream(), second = make_stream();
    float* a = device_array(std::vector<float>(n));
    float* b = device_array<float>(2 * n);
    put_increment(a, b, first);
    put_increment(a, b + n, second);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(all_findings() == "");
  }

  TEST_CASE("an event orders two streams, and so does a wait of the host") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      cuda_sim::reset(seed);
      const cudaStream_t first = make_stream(), second = make_stream();
      float* a = device_array<float>(n);
      float* b = device_array<float>(n);
      put_set(a, 1, first);
      join(first, second);
      put_increment(a, b, second);
      REQUIRE(cudaStreamSynchronize(second) == cudaSuccess);
      put_increment(b, a, first);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      CHECK(on_host(a, n)[5] == 3);
      CHECK(all_findings() == "");
      CHECK(cuda_sim::redundant_waits().empty());
    }
  }

  TEST_CASE("an event that was recorded too early orders nothing") {
    cuda_sim::reset();
    const cudaStream_t first = make_stream(), second = make_stream();
    const cudaEvent_t event = make_event();
    float* a = device_array<float>(n);
    REQUIRE(cudaEventRecord(event, first) == cudaSuccess);
    put_set(a, 1, first);
    REQUIRE(cudaStreamWaitEvent(second, event) == cudaSuccess);
    put_set(a, 2, second);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(found("not ordered") == 1);
  }

  TEST_CASE("a wait that no conflict needs is redundant, one that a single conflict needs is not") {
    cuda_sim::reset();
    const cudaStream_t first = make_stream(), second = make_stream(), last = make_stream();
    float* a = device_array<float>(n);
    float* b = device_array<float>(n);
    float* c = device_array<float>(n);
    put_set(a, 1, first);
    join(first, second);
    put_increment(a, b, second);
    join(second, last);
    put_set(c, 0, last);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(all_findings() == "");
    const std::vector<std::string> redundant = cuda_sim::redundant_waits();
    REQUIRE(redundant.size() == 1);
    CHECK(redundant[0].find("waits for event") != std::string::npos);
    CHECK(redundant[0].find("stream 3 waits") == 0);
  }

  TEST_CASE("what an operation declares must cover what it touches") {
    cuda_sim::reset();
    const cudaStream_t stream = make_stream();
    float* a = device_array(std::vector<float>(n));
    float* b = device_array<float>(n);
    const bool written[] = {false, true};
    const void* data[] = {a, b};
    const std::size_t bytes[] = {256, 128};
    cuda_sim_declare(stream, "plus one", 2, data, bytes, written);
    put_increment(a, b, stream);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(found("'plus one: increment' writes what it does not declare: bytes [128, 256) of allocation 1") == 1);
    CHECK(cuda_sim::findings().size() == 1);
    cuda_sim::take_findings();
    cuda_sim_declare(stream, nullptr, 0, nullptr, nullptr, nullptr);
    put_increment(a, b, stream);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(all_findings() == "");
  }

  TEST_CASE("the host is a party too") {
    cuda_sim::reset();
    const cudaStream_t stream = make_stream();
    float* pinned = pinned_array<float>(n);
    put_set(pinned, 1, stream);
    cuda_sim::host_reads(pinned, 4);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(cuda_sim::findings().size() == 1);
    cuda_sim::take_findings();
    put_set(pinned, 1, stream);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    cuda_sim::host_reads(pinned, 4);
    CHECK(all_findings() == "");
  }
}

TEST_CASE("declared ranges that conflict need an event, even where kernels are not instrumented") {
  cuda_sim::reset();
  const cudaStream_t first = make_stream(), second = make_stream();
  float* a = device_array<float>(n);
  const cuda_sim::Bytes all[] = {{a, n * 4}};
  for (const cudaStream_t stream : {first, second}) {
    cuda_sim::declare(stream, "update", {}, all);
    put_set(a, 1, stream);
  }
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(found("not ordered: 'update: set on device 0' writes and 'update: set on device 0'") == 1);
}

TEST_CASE("a copy reads pinned memory when its turn comes, and the host must not change it before") {
  cuda_sim::reset(1, {}, cuda_sim::Progress::lazy);
  const cudaStream_t stream = make_stream();
  float* pinned = pinned_array<float>(n);
  float* a = device_array<float>(n);
  std::fill_n(pinned, n, 1.0F);
  REQUIRE(cudaMemcpyAsync(a, pinned, n * 4, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  std::fill_n(pinned, n, 2.0F);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(on_host(a, n)[0] == 2);
  CHECK(found("the host changed bytes [0, 256) of allocation 0 (pinned host memory, 256 bytes) while 'copy host to "
              "device', which reads them, was pending") == 1);
}

TEST_CASE("a copy from pageable memory is staged at once") {
  cuda_sim::reset(1, {}, cuda_sim::Progress::lazy);
  const cudaStream_t stream = make_stream();
  std::vector<float> values(n, 1.0F);
  float* a = device_array<float>(n);
  REQUIRE(cudaMemcpyAsync(a, values.data(), n * 4, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  values.assign(n, 2.0F);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(on_host(a, n)[0] == 1);
  CHECK(all_findings() == "");
}

TEST_CASE("copies and fills stay inside what is allocated and go where they say") {
  cuda_sim::reset();
  float* a = device_array<float>(n);
  std::vector<float> values(n + 1);
  CHECK(cudaMemcpy(a, values.data(), n * 4 + 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(a, values.data(), 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemset(a + n, 0, 1) == cudaErrorInvalidValue);
  CHECK(cudaMemset(values.data(), 0, 4) == cudaErrorInvalidValue);
  CHECK(cudaMemset(a, 0, n * 4) == cudaSuccess);
  CHECK(on_host(a, n)[63] == 0);
  CHECK(cudaFree(a + 1) == cudaErrorInvalidValue);
  CHECK(cudaFree(a) == cudaSuccess);
  CHECK(cudaFree(a) == cudaErrorInvalidValue);
  CHECK(cuda_sim::device_bytes() == 0);
}

TEST_CASE("events tell whether they have happened") {
  cuda_sim::reset(1, {}, cuda_sim::Progress::lazy);
  const cudaStream_t stream = make_stream();
  float* a = device_array<float>(n);
  cudaEvent_t start = nullptr, end = nullptr;
  REQUIRE(cudaEventCreate(&start) == cudaSuccess);
  REQUIRE(cudaEventCreate(&end) == cudaSuccess);
  CHECK(cudaEventQuery(start) == cudaSuccess);
  REQUIRE(cudaEventRecord(start, stream) == cudaSuccess);
  put_set(a, 1, stream);
  REQUIRE(cudaEventRecord(end, stream) == cudaSuccess);
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, start, end) == cudaErrorNotReady);
  CHECK(cudaEventQuery(end) == cudaErrorNotReady);
  CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
  CHECK(cudaEventSynchronize(end) == cudaSuccess);
  CHECK(cudaEventQuery(end) == cudaSuccess);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&ms, start, end) == cudaSuccess);
  CHECK(ms >= 0);
}

TEST_CASE("calls and operations fail on demand") {
  cuda_sim::reset();
  cuda_sim::fail_call("cudaMalloc", 2, cudaErrorMemoryAllocation);
  float* a = device_array<float>(n);
  float* b = nullptr;
  CHECK(cudaMalloc(&b, 4) == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(&b, 4) == cudaSuccess);
  CHECK(cuda_sim::calls("cudaMalloc") == 3);
  cuda_sim::fail_operation("set", 2);
  put_set(a, 1, nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(launch(set, dim3(1), dim3(64), nullptr, a, 2.0F, n) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
}

TEST_CASE("the machine is as the test wants it") {
  cuda_sim::reset(1, {.devices = 2, .compute_major = 8, .memory_bytes = 1000, .name = "small"});
  int count = 0, major = 0;
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(count == 2);
  CHECK(cudaGetDeviceProperties(&properties, 1) == cudaSuccess);
  CHECK(std::string(properties.name) == "small");
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess);
  CHECK(major == 8);
  CHECK(cudaSetDevice(2) == cudaErrorInvalidDevice);
  void* data = nullptr;
  CHECK(cudaMalloc(&data, 1001) == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(&data, 600) == cudaSuccess);
  std::size_t free = 0, total = 0;
  CHECK(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(free == 400);
  CHECK(total == 1000);
}

TEST_CASE("a machine without a device, or with an old driver, says so") {
  int count = -1;
  cuda_sim::reset(1, {.devices = 0});
  CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice);
  CHECK(count == 0);
  CHECK(cudaSetDevice(0) == cudaErrorNoDevice);
  cuda_sim::reset(1, {.driver_version = 12080});
  CHECK(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver);
  void* data = nullptr;
  CHECK(cudaMalloc(&data, 4) == cudaErrorInsufficientDriver);
  CHECK(cudaDriverGetVersion(&count) == cudaSuccess);
  CHECK(count == 12080);
}

TEST_CASE("handles are counted, and unknown ones refused") {
  cuda_sim::reset();
  const cudaStream_t stream = make_stream();
  const cudaEvent_t event = make_event();
  CHECK(cuda_sim::live_handles() == 2);
  CHECK(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cuda_sim::live_handles() == 0);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(event, nullptr) == cudaErrorInvalidResourceHandle);
}
