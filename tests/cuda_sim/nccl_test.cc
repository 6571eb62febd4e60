#include <nccl.h>

#include <thread>

#include "tests/cuda_sim/kernels.h"
#include "tests/cuda_sim/programs.h"

using namespace cuda_sim_test;

namespace {

constexpr std::size_t n = 64;

/// Three devices, each with a stream, a communicator and an array that holds its rank + 1.
struct Ranks {
  static constexpr int count = 3;
  ncclComm_t comm[count] = {};
  cudaStream_t stream[count] = {};
  float* data[count] = {};

  Ranks() {
    for (int rank = 0; rank < count; ++rank) {
      REQUIRE(cudaSetDevice(rank) == cudaSuccess);
      stream[rank] = make_stream();
      data[rank] = device_array(std::vector<float>(n, static_cast<float>(rank + 1)));
    }
    REQUIRE(ncclCommInitAll(comm, count, nullptr) == ncclSuccess);
  }

  ncclResult_t all_reduce(int rank, std::size_t elements = n) const {
    return ncclAllReduce(data[rank], data[rank], elements, ncclFloat, ncclSum, comm[rank], stream[rank]);
  }

  float value(int rank) const {
    REQUIRE(cudaSetDevice(rank) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(stream[rank]) == cudaSuccess);
    return on_host(data[rank], n)[n - 1];
  }
};

void reset(std::uint64_t seed = 1, cuda_sim::Progress progress = cuda_sim::Progress::at_random) {
  cuda_sim::reset(seed, {.devices = 3}, progress);
}

}  // namespace

TEST_CASE("an all-reduce in a group gives every rank the sum, in any order of streams") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    reset(seed);
    const Ranks ranks;
    for (int step = 0; step < 3; ++step) {
      REQUIRE(ncclGroupStart() == ncclSuccess);
      for (int rank = 0; rank < 3; ++rank) REQUIRE(ranks.all_reduce(rank) == ncclSuccess);
      REQUIRE(ncclGroupEnd() == ncclSuccess);
    }
    for (int rank = 0; rank < 3; ++rank) CHECK(ranks.value(rank) == 54);
    CHECK(all_findings() == "");
  }
}

TEST_CASE("host threads, one a rank, meet") {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    reset(seed);
    const Ranks ranks;
    std::vector<std::thread> threads;
    threads.reserve(3);
    for (int rank = 0; rank < 3; ++rank) {
      threads.emplace_back([&ranks, rank] {
        cudaSetDevice(rank);
        for (int step = 0; step < 4; ++step) {
          ranks.all_reduce(rank);
          cudaStreamSynchronize(ranks.stream[rank]);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (int rank = 0; rank < 3; ++rank) CHECK(ranks.value(rank) == 162);
    CHECK(all_findings() == "");
  }
}

TEST_CASE("a broadcast brings the root's values; integers, doubles and maxima are reduced too") {
  reset();
  const Ranks ranks;
  std::int32_t* integers[3] = {};
  double* doubles[3] = {};
  REQUIRE(ncclGroupStart() == ncclSuccess);
  for (int rank = 0; rank < 3; ++rank) {
    REQUIRE(cudaSetDevice(rank) == cudaSuccess);
    integers[rank] = device_array(std::vector<std::int32_t>{rank, -rank});
    doubles[rank] = device_array(std::vector<double>{rank * 0.5});
    const cudaStream_t stream = ranks.stream[rank];
    REQUIRE(ncclBroadcast(ranks.data[rank], ranks.data[rank], n, ncclFloat, 1, ranks.comm[rank], stream) ==
            ncclSuccess);
    REQUIRE(ncclAllReduce(integers[rank], integers[rank], 2, ncclInt32, ncclMax, ranks.comm[rank], stream) ==
            ncclSuccess);
    REQUIRE(ncclAllReduce(doubles[rank], doubles[rank], 1, ncclDouble, ncclSum, ranks.comm[rank], stream) ==
            ncclSuccess);
  }
  REQUIRE(ncclGroupEnd() == ncclSuccess);
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(ranks.value(rank) == 2);
    CHECK(on_host(integers[rank], 2) == std::vector<std::int32_t>{2, 0});
    CHECK(on_host(doubles[rank], 1)[0] == 1.5);
  }
  CHECK(all_findings() == "");
}

TEST_CASE("collectives are captured and meet again at each replay") {
  reset(3);
  const Ranks ranks;
  cudaGraphExec_t exec[3] = {};
  for (int rank = 0; rank < 3; ++rank) {
    REQUIRE(cudaSetDevice(rank) == cudaSuccess);
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamBeginCapture(ranks.stream[rank], cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    REQUIRE(ncclGroupStart() == ncclSuccess);
    REQUIRE(ranks.all_reduce(rank) == ncclSuccess);
    REQUIRE(ncclGroupEnd() == ncclSuccess);
    REQUIRE(cudaStreamEndCapture(ranks.stream[rank], &graph) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&exec[rank], graph) == cudaSuccess);
  }
  for (int step = 0; step < 2; ++step) {
    for (int rank = 0; rank < 3; ++rank) {
      REQUIRE(cudaSetDevice(rank) == cudaSuccess);
      REQUIRE(cudaGraphLaunch(exec[rank], ranks.stream[rank]) == cudaSuccess);
    }
  }
  for (int rank = 0; rank < 3; ++rank) CHECK(ranks.value(rank) == 18);
  CHECK(all_findings() == "");
}

TEST_CASE("a rank that does not come is a deadlock, and an abort ends it") {
  reset();
  const Ranks ranks;
  REQUIRE(ranks.all_reduce(0) == ncclSuccess);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  CHECK(cudaStreamSynchronize(ranks.stream[0]) == cudaErrorLaunchTimeout);
  CHECK(found("a deadlock") == 1);
  CHECK(ncclCommAbort(ranks.comm[0]) == ncclSuccess);
  CHECK(ranks.value(0) == 1);
  CHECK(ranks.all_reduce(1) == ncclInvalidUsage);
}

TEST_CASE("what does not fit together is found") {
  reset();
  const Ranks ranks;
  REQUIRE(ncclGroupStart() == ncclSuccess);
  for (int rank = 0; rank < 3; ++rank) REQUIRE(ranks.all_reduce(rank, rank == 2 ? n - 1 : n) == ncclSuccess);
  REQUIRE(ncclGroupEnd() == ncclSuccess);
  CHECK(ranks.value(0) == 1);
  CHECK(
      found("ranks 0 and 2 meet in different collectives: 'ncclAllReduce' of 64 elements and 'ncclAllReduce' of 63") ==
      1);
  CHECK(ranks.all_reduce(0, n + 1) == ncclInvalidArgument);
  CHECK(found("a collective on device 0 cannot use") == 1);
  cuda_sim::take_findings();
  for (int rank = 0; rank < 3; ++rank) REQUIRE(ranks.all_reduce(rank) == ncclSuccess);
  CHECK(found("one thread calls a collective for several ranks outside ncclGroupStart()") == 1);
}

TEST_CASE("a collective is ordered as other work is") {
  for (const bool waits : {false, true}) {
    reset();
    const Ranks ranks;
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    const cudaStream_t side = make_stream();
    REQUIRE(cudaMemsetAsync(ranks.data[0], 0, 4, side) == cudaSuccess);
    if (waits) join(side, ranks.stream[0]);
    REQUIRE(ncclGroupStart() == ncclSuccess);
    for (int rank = 0; rank < 3; ++rank) REQUIRE(ranks.all_reduce(rank) == ncclSuccess);
    REQUIRE(ncclGroupEnd() == ncclSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK((found("not ordered") == 0) == waits);
    CHECK(cuda_sim::redundant_waits().empty());
  }
}

TEST_CASE("calls fail on demand") {
  reset();
  const Ranks ranks;
  ncclResult_t state = ncclSuccess;
  cuda_sim::fail_call("ncclAllReduce", 1, ncclSystemError);
  cuda_sim::fail_call("ncclCommGetAsyncError", 1, ncclRemoteError);
  CHECK(ranks.all_reduce(0) == ncclSystemError);
  CHECK(ncclCommGetAsyncError(ranks.comm[0], &state) == ncclSuccess);
  CHECK(state == ncclRemoteError);
  CHECK(std::string(ncclGetErrorString(state)) == "remote process exited or there was a network error");
}
