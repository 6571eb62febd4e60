#include <algorithm>
#include <set>
#include <thread>

#include "tests/cuda_sim/kernels.h"
#include "tests/cuda_sim/programs.h"

using namespace cuda_sim_test;

namespace {

constexpr long n = 64;

/// A small step on two streams: a ← input, b ← a + 1 beside c ← a + 1, d ← d + b + c.
struct Step {
  cudaStream_t main = make_stream();
  cudaStream_t side = make_stream();
  cudaEvent_t forked = make_event();
  cudaEvent_t joined = make_event();
  float* input = pinned_array<float>(n);
  float* a = device_array<float>(n);
  float* b = device_array<float>(n);
  float* c = device_array<float>(n);
  float* d = device_array(std::vector<float>(n));

  void enqueue() const {
    REQUIRE(cudaMemcpyAsync(a, input, n * 4, cudaMemcpyHostToDevice, main) == cudaSuccess);
    REQUIRE(cudaEventRecord(forked, main) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(side, forked) == cudaSuccess);
    REQUIRE(launch(increment, dim3(1), dim3(64), main, a, b, n) == cudaSuccess);
    REQUIRE(launch(increment, dim3(1), dim3(64), side, a, c, n) == cudaSuccess);
    REQUIRE(cudaEventRecord(joined, side) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(main, joined) == cudaSuccess);
    REQUIRE(launch(axpy, dim3(1), dim3(16), main, 1.0F, b, d, n) == cudaSuccess);
    REQUIRE(launch(axpy, dim3(1), dim3(16), main, 1.0F, c, d, n) == cudaSuccess);
  }

  cudaGraph_t capture() const {
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamBeginCapture(main, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    enqueue();
    REQUIRE(cudaStreamEndCapture(main, &graph) == cudaSuccess);
    return graph;
  }
};

cudaGraphExec_t instantiate(cudaGraph_t graph) {
  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
  return exec;
}

void begin(cudaStream_t stream) {
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
}

/// Sets input and runs the step; true if d came out right.
float run_steps(const Step& step, cudaGraphExec_t exec) {
  for (int i = 1; i <= 3; ++i) {
    std::fill_n(step.input, n, static_cast<float>(i));
    if (exec != nullptr) {
      REQUIRE(cudaGraphLaunch(exec, step.main) == cudaSuccess);
    } else {
      step.enqueue();
    }
    REQUIRE(cudaStreamSynchronize(step.main) == cudaSuccess);
  }
  return on_host(step.d, n)[n - 1];
}

}  // namespace

TEST_CASE("a replayed graph does what the calls did, with the inputs of its own time, in many orders") {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    cuda_sim::reset(seed);
    const Step step;
    CHECK(run_steps(step, nullptr) == 2 * (2 + 3 + 4));
    cuda_sim::reset(seed);
    const Step captured;
    const cudaGraph_t graph = captured.capture();
    CHECK(cuda_sim::operations().size() == 1);  // d's first values
    CHECK(run_steps(captured, instantiate(graph)) == 2 * (2 + 3 + 4));
    CHECK(all_findings() == "");
    std::string order;
    for (const cuda_sim::Ran& ran : cuda_sim::operations()) {
      for (const cuda_sim::Bytes& bytes : ran.writes)
        order += bytes.begin == captured.b ? 'b' : bytes.begin == captured.c ? 'c' : '.';
    }
    orders.insert(order);
  }
  if (cuda_sim::instrumented()) CHECK(orders.size() > 1);
}

TEST_CASE("a graph's nodes can be counted, and the graph may go before what was made of it") {
  cuda_sim::reset();
  const Step step;
  const cudaGraph_t graph = step.capture();
  std::size_t count = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
  CHECK(count == 5);
  const cudaGraphExec_t exec = instantiate(graph);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(cudaGraphUpload(exec, step.main) == cudaSuccess);
  CHECK(run_steps(step, exec) == 18);
  CHECK(cudaGraphLaunch(exec, step.main) == cudaSuccess);
  CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
  CHECK(cudaStreamSynchronize(step.main) == cudaSuccess);
  CHECK(cudaGraphLaunch(exec, step.main) == cudaErrorInvalidValue);
}

TEST_CASE("launches on different streams come one after another") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    cuda_sim::reset(seed);
    const Step step;
    std::fill_n(step.input, n, 1.0F);
    const cudaGraphExec_t exec = instantiate(step.capture());
    REQUIRE(cudaGraphLaunch(exec, step.main) == cudaSuccess);
    REQUIRE(cudaGraphLaunch(exec, step.side) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(on_host(step.d, n)[0] == 8);
    CHECK(all_findings() == "");
  }
}

TEST_CASE("a graph that points into freed memory does not run") {
  cuda_sim::reset();
  const Step step;
  const cudaGraphExec_t exec = instantiate(step.capture());
  REQUIRE(cudaFree(step.c) == cudaSuccess);
  CHECK(cudaGraphLaunch(exec, step.main) == cudaErrorInvalidValue);
  CHECK(found("a stale pointer: 'increment' of graph") == 1);
}

TEST_CASE("every stream must join before the capture ends") {
  cuda_sim::reset();
  const cudaStream_t main = make_stream(), side = make_stream();
  float* a = device_array<float>(n);
  cudaGraph_t graph = nullptr;
  begin(main);
  join(main, side);
  REQUIRE(launch(set, dim3(1), dim3(64), side, a, 1.0F, n) == cudaSuccess);
  CHECK(cudaStreamEndCapture(main, &graph) == cudaErrorStreamCaptureUnjoined);
  CHECK(graph == nullptr);
  CHECK(found("a capture ends before the stream of 'set' has joined it") == 1);
}

TEST_CASE("what would wait for the device is refused in a capture, and ends it") {
  using Call = cudaError_t (*)(cudaStream_t);
  const Call calls[] = {
      [](cudaStream_t stream) { return cudaStreamSynchronize(stream); },
      [](cudaStream_t stream) { return cudaStreamQuery(stream); },
      [](cudaStream_t) { return cudaDeviceSynchronize(); },
      [](cudaStream_t) {
        void* data = nullptr;
        return cudaMalloc(&data, 4);
      },
      [](cudaStream_t) {
        void* data = nullptr;
        return cudaHostAlloc(&data, 4, 0);
      },
      [](cudaStream_t stream) {
        float value = 0;
        return cudaMemcpyAsync(&value, &value, 4, cudaMemcpyDefault, stream);
      },
  };
  for (const Call call : calls) {
    cuda_sim::reset();
    const cudaStream_t stream = make_stream();
    cudaGraph_t graph = nullptr;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    begin(stream);
    CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusActive);
    CHECK(call(stream) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusInvalidated);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  }
}

TEST_CASE("another thread may allocate during a capture of this thread, and may not end it") {
  cuda_sim::reset();
  const cudaStream_t stream = make_stream();
  cudaGraph_t graph = nullptr;
  begin(stream);
  cudaError_t allocated = cudaErrorUnknown, ended = cudaErrorUnknown;
  std::thread([&] {
    void* data = nullptr;
    allocated = cudaMalloc(&data, 4);
    ended = cudaStreamEndCapture(stream, &graph);
  }).join();
  CHECK(allocated == cudaSuccess);
  CHECK(ended == cudaErrorStreamCaptureWrongThread);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
}

TEST_CASE("captures and what is outside do not mix") {
  cuda_sim::reset();
  const cudaStream_t first = make_stream(), second = make_stream(), outside = make_stream();
  const cudaEvent_t event = make_event(), before = make_event();
  REQUIRE(cudaEventRecord(before, outside) == cudaSuccess);
  begin(first);
  begin(second);
  REQUIRE(cudaEventRecord(event, first) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(second, event) == cudaErrorStreamCaptureMerge);
  CHECK(cudaStreamWaitEvent(second, before) == cudaErrorStreamCaptureIsolation);
  CHECK(cudaEventSynchronize(event) == cudaErrorCapturedEvent);
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed) == cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(outside, &graph) == cudaErrorInvalidValue);
}

TEST_SUITE("what only instrumented kernels show" * doctest::skip(!cuda_sim::instrumented())) {
  TEST_CASE("in a graph too, a missing wait is found") {
    cuda_sim::reset();
    const cudaStream_t main = make_stream(), side = make_stream();
    float* a = device_array<float>(n);
    float* b = device_array<float>(n);
    cudaGraph_t graph = nullptr;
    begin(main);
    join(main, side);
    REQUIRE(launch(set, dim3(1), dim3(64), main, a, 1.0F, n) == cudaSuccess);
    REQUIRE(launch(increment, dim3(1), dim3(64), side, a, b, n) == cudaSuccess);
    join(side, main);
    REQUIRE(cudaStreamEndCapture(main, &graph) == cudaSuccess);
    REQUIRE(cudaGraphLaunch(instantiate(graph), main) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(found("not ordered") == 1);
  }

  TEST_CASE("of a graph's waits, those that make its form are needed; another one is if data says so") {
    for (const bool uses_data : {false, true}) {
      cuda_sim::reset();
      const cudaStream_t main = make_stream(), side = make_stream();
      float* a = device_array<float>(n);
      float* b = device_array<float>(n);
      float* c = device_array<float>(n);
      cudaGraph_t graph = nullptr;
      begin(main);
      join(main, side);
      REQUIRE(launch(set, dim3(1), dim3(64), main, a, 1.0F, n) == cudaSuccess);
      REQUIRE(launch(set, dim3(1), dim3(64), side, b, 1.0F, n) == cudaSuccess);
      join(main, side);
      REQUIRE(launch(increment, dim3(1), dim3(64), side, uses_data ? a : b, c, n) == cudaSuccess);
      join(side, main);
      REQUIRE(cudaStreamEndCapture(main, &graph) == cudaSuccess);
      const cudaGraphExec_t exec = instantiate(graph);
      for (int i = 0; i < 2; ++i) REQUIRE(cudaGraphLaunch(exec, main) == cudaSuccess);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      CHECK(all_findings() == "");
      const std::vector<std::string> redundant = cuda_sim::redundant_waits();
      REQUIRE(redundant.size() == (uses_data ? 0 : 1));
      if (!uses_data) {
        CHECK(redundant[0].find("in a capture, stream 2, after 'set', waits for an event recorded after 'set'") == 0);
      }
    }
  }
}
