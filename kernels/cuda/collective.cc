#include "kernels/cuda/collective.h"

#include <nccl.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tr/base/error.h"

namespace tr::cuda {
namespace {

void check_nccl(ncclResult_t result, std::string_view operation) {
  if (result == ncclSuccess) return;
  throw DeviceError(std::string(operation) + ": NCCL reports " + ncclGetErrorString(result));
}

ncclDataType_t data_type_of(CollectiveType type) {
  switch (type) {
    case CollectiveType::fp32: return ncclFloat32;
    case CollectiveType::fp64: return ncclFloat64;
    case CollectiveType::int32: return ncclInt32;
  }
  return ncclFloat32;
}

}  // namespace

struct DeviceGroup::Communicators {
  explicit Communicators(std::size_t size) : of_rank(size) {}
  ~Communicators() {
    for (ncclComm_t communicator : of_rank) {
      if (communicator != nullptr) ncclCommDestroy(communicator);
    }
  }
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  std::vector<ncclComm_t> of_rank;
};

DeviceGroup::DeviceGroup(std::span<const int> devices)
    : communicators_(std::make_unique<Communicators>(devices.size())) {
  check_nccl(ncclCommInitAll(communicators_->of_rank.data(), static_cast<int>(devices.size()), devices.data()),
             "joining " + std::to_string(devices.size()) + " GPUs");
}

DeviceGroup::~DeviceGroup() = default;
DeviceGroup::DeviceGroup(DeviceGroup&&) noexcept = default;
DeviceGroup& DeviceGroup::operator=(DeviceGroup&&) noexcept = default;

int DeviceGroup::size() const { return static_cast<int>(communicators_->of_rank.size()); }

void DeviceGroup::all_reduce(const AllReduce& part, std::string_view operation, cudaStream_t stream) const {
  const ncclRedOp_t reduction = part.reduction == Reduction::sum ? ncclSum : ncclMax;
  check_nccl(ncclAllReduce(part.from, part.to, static_cast<std::size_t>(part.count), data_type_of(part.type), reduction,
                           communicators_->of_rank[static_cast<std::size_t>(part.rank)], stream),
             operation);
}

void DeviceGroup::broadcast(const Broadcast& part, std::string_view operation, cudaStream_t stream) const {
  check_nccl(ncclBroadcast(part.data, part.data, static_cast<std::size_t>(part.count), data_type_of(part.type), 0,
                           communicators_->of_rank[static_cast<std::size_t>(part.rank)], stream),
             operation);
}

void DeviceGroup::require_healthy(int rank, std::string_view operation) const {
  ncclResult_t failure = ncclSuccess;
  check_nccl(ncclCommGetAsyncError(communicators_->of_rank[static_cast<std::size_t>(rank)], &failure), operation);
  if (failure != ncclInProgress) check_nccl(failure, operation);
}

void DeviceGroup::abort() {
  for (ncclComm_t& communicator : communicators_->of_rank) {
    if (communicator != nullptr) ncclCommAbort(communicator);
    communicator = nullptr;
  }
}

namespace detail {

void start_group() { check_nccl(ncclGroupStart(), "starting a group of collectives"); }
void end_group() { check_nccl(ncclGroupEnd(), "a group of collectives"); }

}  // namespace detail

}  // namespace tr::cuda
