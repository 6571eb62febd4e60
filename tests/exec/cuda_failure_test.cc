#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/exec/cuda_mlp.h"
#include "tr/base/error.h"

namespace tr {
namespace {

using namespace small_mlp;

CudaRig::Config config(bool graph = true, int ranks = 1) {
  return {.ranks = ranks, .rows = rows, .graph = graph, .optimizer = AdamW(), .ema = EMA()};
}

void fill_both(CudaRig& rig) {
  rig.fill(image, label, 0);
  rig.fill(image, label, 1);
}

/// The text of the DeviceError that f throws.
template <class F>
std::string device_error_of(F&& f) {
  try {
    f();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "no DeviceError";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void check_nothing_is_left(int devices = 1) {
  CHECK(cuda_sim::live_handles() == 0);
  for (int device = 0; device < devices; ++device) CHECK(cuda_sim::device_bytes(device) == 0);
  CHECK(cuda_sim::pinned_bytes() == 0);
}

}  // namespace

TEST_CASE("a step whose loss is not finite, or with an illegal label, changes nothing, nor do those behind it") {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  for (const bool graph : {true, false}) {
    for (const int ranks : {1, 2}) {
      for (const bool bad_label : {false, true}) {
        cuda_sim::reset(1, {.devices = ranks});
        CudaRig rig(model, config(graph, ranks));
        fill_both(rig);
        for (int i = 0; i < 2; ++i) REQUIRE(rig.step(0.01F, i).status == StepStatus::ok);
        const std::vector<std::byte> state = rig.state();
        // Step 3 fails in its last sample, and step 4 has begun when the host learns of it.
        rig.fill([&](int sample, int c) { return !bad_label && sample == rows - 1 && c == 3 ? nan : image(sample, c); },
                 [&](int sample) { return bad_label && sample == rows - 1 ? 5 : label(sample); }, 0);
        rig.start(0.01F, 0);
        rig.start(0.01F, 1);
        const StepStatus right = bad_label ? StepStatus::illegal_label : StepStatus::loss_not_finite;
        CHECK(rig.wait(0).status == right);
        CHECK(rig.wait(1).status == right);
        for (int rank = 0; rank < ranks; ++rank) CHECK(rig.state(rank) == state);
        CHECK(rig.steps() == 2);

        rig.fill(image, label, 0);
        for (int rank = 0; rank < ranks; ++rank) rig.executor(rank).forget_failure();
        CHECK(rig.step(0.01F).status == StepStatus::ok);
        CHECK(rig.steps() == 3);
        CHECK(rig.state() != state);
        check_findings();
      }
    }
  }
}

TEST_CASE("an evaluation reports a loss that is not finite and lets training go on") {
  cuda_sim::reset();
  CudaRig rig(model, config());
  fill_both(rig);
  REQUIRE(rig.step(0.01F, 0).status == StepStatus::ok);
  rig.fill([](int, int) { return std::numeric_limits<double>::infinity(); }, label, 1);
  CHECK(rig.step(0.0F, 1, CudaRig::evaluate).status == StepStatus::loss_not_finite);
  CHECK(rig.step(0.01F, 0).status == StepStatus::ok);
  CHECK(rig.steps() == 2);
  check_findings();
}

TEST_CASE("steps are started and waited for in turn") {
  cuda_sim::reset();
  CudaRig rig(model, config());
  fill_both(rig);
  CHECK_THROWS_AS(rig.wait(0), StateError);
  rig.start(0.01F, 0);
  CHECK_THROWS_AS(rig.start(0.01F, 0), StateError);
  rig.start(0.01F, 1);
  CHECK(rig.wait(0).status == StepStatus::ok);
  CHECK(rig.wait(1).status == StepStatus::ok);
  CHECK_THROWS_AS(rig.wait(1), StateError);
}

TEST_CASE("a step is one launch, and neither allocates nor makes anything") {
  cuda_sim::reset();
  CudaRig rig(model, config());
  fill_both(rig);
  const std::array functions{
      "cudaGraphLaunch",          "cudaMemcpyAsync",      "cudaEventRecord",       "cudaStreamWaitEvent",
      "cudaEventSynchronize",     "cudaMalloc",           "cudaHostAlloc",         "cudaFree",
      "cudaEventCreateWithFlags", "cudaGraphInstantiate", "cudaStreamSynchronize", "cudaDeviceSynchronize",
      "cudaLaunchKernelEx"};
  const std::array per_step{1, 1, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0};
  std::array<std::int64_t, functions.size()> before{};
  const std::size_t handles = cuda_sim::live_handles();
  const std::size_t bytes = cuda_sim::device_bytes();
  for (std::size_t i = 0; i < functions.size(); ++i) before[i] = cuda_sim::calls(functions[i]);
  for (int step = 0; step < 10; ++step) REQUIRE(rig.step(0.01F, step % 2).status == StepStatus::ok);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    CAPTURE(std::string(functions[i]));
    CHECK(cuda_sim::calls(functions[i]) - before[i] == 10 * per_step[i]);
  }
  CHECK(cuda_sim::live_handles() == handles);
  CHECK(cuda_sim::device_bytes() == bytes);
}

TEST_CASE("the device's memory is what the plan and the annex say, and all of it is given back") {
  for (const bool graph : {true, false}) {
    for (const int ranks : {1, 2}) {
      cuda_sim::reset(1, {.devices = ranks});
      {
        CudaRig rig(model, config(graph, ranks));
        fill_both(rig);
        rig.start(0.01F, 0);
        const MemoryPlan& layout = rig.plan().memory;
        CHECK(cuda_sim::device_bytes() ==
              static_cast<std::size_t>(layout.shared_bytes + layout.local_bytes + rig.executor().annex_bytes()));
        // Nobody waits for the step: its memory must still outlive it.
      }
      check_nothing_is_left(ranks);
      check_findings();
    }
  }
}

TEST_CASE("whatever call fails while a run is prepared, its error is a DeviceError and nothing is left behind") {
  for (const char* function : {"cudaMalloc", "cudaHostAlloc", "cudaStreamCreateWithFlags", "cudaEventCreateWithFlags",
                               "cudaMemsetAsync", "cudaMemcpyAsync", "cudaStreamBeginCapture", "cudaGraphInstantiate",
                               "cudaGraphUpload", "cudaLaunchKernelEx", "cudaStreamWaitEvent", "cudaEventRecord",
                               "cublasLtMatmul", "cublasLtMatmulAlgoGetHeuristic", "cublasLtCreate"}) {
    CAPTURE(std::string(function));
    int failures = 0;
    for (int nth = 1; nth <= 3; ++nth) {
      cuda_sim::reset();
      cuda_sim::fail_call(function, nth, 2);
      const std::string text = device_error_of([] { CudaRig(model, config()); });
      if (text != "no DeviceError") ++failures;
      check_nothing_is_left();
    }
    CHECK(failures > 0);
  }
}

TEST_CASE("an operation that fails on the device is reported by who waits for its step") {
  cuda_sim::reset();
  CudaRig rig(model, config());
  fill_both(rig);
  REQUIRE(rig.step(0.01F, 0).status == StepStatus::ok);
  cuda_sim::fail_operation("softmax_ce", 1);
  rig.start(0.01F, 1);
  CHECK(contains(device_error_of([&] { rig.wait(1); }), "waiting for a step"));
}

TEST_CASE("without a GPU, with an old driver or too little memory the error says what there is and what is needed") {
  const auto text = [](const cuda_sim::Machine& machine) {
    cuda_sim::reset(1, machine);
    std::string error = device_error_of([] { CudaRig(model, config()); });
    check_nothing_is_left(machine.devices);
    return error;
  };
  CHECK(contains(text({.devices = 0}), "no GPU"));
  const std::string old_driver = text({.driver_version = 12040});
  CHECK(contains(old_driver, "CUDA 12.4"));
  CHECK(contains(old_driver, "CUDA 13.0"));
  const std::string no_driver = text({.devices = 0, .driver_version = 0});
  CHECK(contains(no_driver, "no NVIDIA driver"));
  const std::string small = text({.memory_bytes = 4096});
  CHECK(contains(small, "of memory free"));
  CHECK(contains(small, "are needed"));
  // Enough for the plan, and not for what the libraries ask for on top.
  const std::vector<Plan> plans = CudaRig::plans_of(model, config());
  const auto planned = static_cast<std::size_t>(plans[0].memory.shared_bytes + plans[0].memory.local_bytes);
  CHECK(contains(text({.memory_bytes = planned + 256}), "are needed"));
}

}  // namespace tr
