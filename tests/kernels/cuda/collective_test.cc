#include "kernels/cuda/collective.h"

#include <doctest/doctest.h>
#include <nccl.h>

#include <vector>

#include "kernels/cuda/status.h"
#include "tests/cuda_sim/control.h"
#include "tr/base/error.h"

namespace {

using namespace tr;
using namespace tr::cuda;

constexpr int ranks = 3;

/// A stream and an array of two numbers on each GPU.
struct Rank {
  explicit Rank(int device, float value) : index(device) {
    check(cudaSetDevice(device), "a device");
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
    check(cudaMalloc(&data, 2 * sizeof(float)), "an array");
    const float values[] = {value, -value};
    check(cudaMemcpy(data, values, sizeof(values), cudaMemcpyHostToDevice), "an array");
  }
  std::vector<float> get() const {
    check(cudaSetDevice(index), "a device");
    check(cudaStreamSynchronize(stream), "a stream");
    std::vector<float> values(2);
    check(cudaMemcpy(values.data(), data, 2 * sizeof(float), cudaMemcpyDeviceToHost), "an array");
    return values;
  }

  int index;
  cudaStream_t stream = nullptr;
  float* data = nullptr;
};

struct Group {
  Group() {
    cuda_sim::reset(1, {.devices = ranks});
    for (int r = 0; r < ranks; ++r) all.emplace_back(r, static_cast<float>(r + 1));
  }
  std::vector<Rank> all;
};

TEST_CASE("all ranks get the sum, the largest, or what rank 0 had") {
  const Group group;
  const int devices[] = {0, 1, 2};
  const DeviceGroup joined(devices);
  CHECK(joined.size() == ranks);
  const auto reduce = [&](Reduction reduction) {
    together([&] {
      for (const Rank& rank : group.all) {
        check(cudaSetDevice(rank.index), "a device");
        joined.all_reduce({rank.index, rank.data, rank.data, 2, CollectiveType::fp32, reduction}, "a sum", rank.stream);
      }
    });
  };
  reduce(Reduction::sum);
  for (const Rank& rank : group.all) CHECK(rank.get() == std::vector<float>{6.0F, -6.0F});
  reduce(Reduction::max);
  for (const Rank& rank : group.all) CHECK(rank.get() == std::vector<float>{6.0F, -6.0F});
  const float changed = 9.0F;
  check(cudaSetDevice(0), "a device");
  check(cudaMemcpy(group.all[0].data, &changed, sizeof(changed), cudaMemcpyHostToDevice), "an array");
  together([&] {
    for (const Rank& rank : group.all) {
      check(cudaSetDevice(rank.index), "a device");
      joined.broadcast({rank.index, rank.data, 2}, "a copy", rank.stream);
    }
  });
  for (const Rank& rank : group.all) {
    CHECK(rank.get() == std::vector<float>{9.0F, -6.0F});
    CHECK_NOTHROW(joined.require_healthy(rank.index, "a copy"));
  }
  CHECK(cuda_sim::findings().empty());
}

TEST_CASE("a collective that NCCL refuses is thrown with its name") {
  const Group group;
  const int devices[] = {0, 1, 2};
  const DeviceGroup joined(devices);
  cuda_sim::fail_call("ncclAllReduce", 1, ncclInvalidArgument);
  CHECK_THROWS_WITH_AS(
      joined.all_reduce({0, group.all[0].data, group.all[0].data, 2}, "reduce gradients", group.all[0].stream),
      doctest::Contains("reduce gradients: NCCL reports "), DeviceError);
  cuda_sim::fail_call("ncclCommInitAll", 1, ncclSystemError);
  CHECK_THROWS_WITH_AS(DeviceGroup again(devices), doctest::Contains("joining 3 GPUs: NCCL reports "), DeviceError);
}

}  // namespace
