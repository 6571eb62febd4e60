#include <algorithm>

#include "tests/cuda_sim/src/collective.h"
#include "tests/cuda_sim/src/communicator.h"
#include "tests/cuda_sim/src/simulator.h"

using namespace cuda_sim;

namespace {

template <class Body>
ncclResult_t nccl_call(const char* function, Body body) {
  const Simulator::Lock lock(simulator_mutex());
  Simulator& sim = simulator();
  const auto status = static_cast<ncclResult_t>(sim.count_call(function));
  return status == ncclSuccess ? body(sim) : status;
}

ncclComm* find(Simulator& sim, ncclComm_t handle) {
  const auto known = sim.communicators().live.find(handle);
  return known == sim.communicators().live.end() ? nullptr : known->second.get();
}

/// A call outside a group may block until the other ranks have called too: one thread cannot make two of them.
void check_group(Simulator& sim, const ncclComm& comm) {
  Clique& clique = *comm.clique;
  const auto me = std::this_thread::get_id();
  const auto rank = static_cast<std::size_t>(comm.rank);
  const std::uint64_t number = clique.next[rank];
  if (sim.thread().group_depth == 0) {
    // Captured calls of one rank all have the number of its next call.
    const auto blocked = [&](const Clique::Alone& call) {
      return call.number == number && call.thread == me && call.rank != comm.rank;
    };
    if (std::any_of(clique.alone.begin(), clique.alone.end(), blocked)) {
      sim.found("one thread calls a collective for several ranks outside ncclGroupStart() and ncclGroupEnd()");
    }
    clique.alone.push_back({number, me, comm.rank});
  }
  const std::uint64_t oldest = *std::min_element(clique.next.begin(), clique.next.end());
  std::erase_if(clique.alone, [=](const Clique::Alone& call) { return call.number < oldest; });
}

/// The bytes must lie in one allocation of the rank's device.
bool reachable(Simulator& sim, const Range& range, int device) {
  const Allocation* allocation = sim.memory().find(range.begin);
  if (allocation != nullptr && allocation->space == device && allocation->range.contains(range)) return true;
  sim.found("a collective on device " + std::to_string(device) + " cannot use " + sim.memory().describe(range));
  return false;
}

ncclResult_t enqueue(const char* function, CollectiveCall call, ncclComm_t handle, cudaStream_t stream_handle) {
  return nccl_call(function, [&](Simulator& sim) {
    ncclComm* comm = find(sim, handle);
    Stream* stream = stream_handle == nullptr ? nullptr : sim.stream(stream_handle);
    const std::size_t bytes = call.count * element_bytes(call.type);
    if (comm == nullptr || stream == nullptr || stream->device != comm->device) return ncclInvalidArgument;
    if (element_bytes(call.type) == 0 || (call.op != ncclSum && call.op != ncclMax)) return ncclInvalidArgument;
    if (call.root < 0 || call.root >= comm->clique->ranks) return ncclInvalidArgument;
    if (comm->clique->aborted) return ncclInvalidUsage;
    const bool sends = call.reduces || call.root == comm->rank;
    Operation part{.name = function, .device = stream->device, .writes = {range_of(call.receive, bytes)}};
    if (sends) part.reads = {range_of(call.send, bytes)};
    for (const auto* ranges : {&part.reads, &part.writes}) {
      for (const Range& range : *ranges) {
        if (bytes == 0) continue;
        if (!reachable(sim, range, stream->device)) return ncclInvalidArgument;
        part.allocations.push_back(sim.memory().find(range.begin)->id);
      }
    }
    call.clique = comm->clique;
    call.rank = comm->rank;
    part.collective = std::make_shared<const CollectiveCall>(call);
    check_group(sim, *comm);
    const auto put = [&sim, stream, part = std::move(part)] { return sim.enqueue(*stream, part); };
    HostThread& thread = sim.thread();
    if (thread.group_depth > 0) {
      thread.group.emplace_back(put);
      return ncclSuccess;
    }
    return put() == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
  });
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  return nccl_call("ncclGetVersion", [&](Simulator&) {
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
  });
}

ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist) {
  return nccl_call("ncclCommInitAll", [&](Simulator& sim) {
    if (comm == nullptr || ndev < 1 || ndev > sim.machine().devices) return ncclInvalidArgument;
    std::vector<bool> taken(static_cast<std::size_t>(sim.machine().devices));
    for (int rank = 0; rank < ndev; ++rank) {
      const int device = devlist == nullptr ? rank : devlist[rank];
      if (device < 0 || device >= sim.machine().devices) return ncclInvalidArgument;
      if (taken[static_cast<std::size_t>(device)]) return ncclInvalidUsage;
      taken[static_cast<std::size_t>(device)] = true;
    }
    auto clique = std::make_shared<Clique>();
    clique->ranks = ndev;
    clique->next.resize(static_cast<std::size_t>(ndev));
    for (int rank = 0; rank < ndev; ++rank) {
      auto made = std::make_unique<ncclComm>();
      *made = {.clique = clique, .rank = rank, .device = devlist == nullptr ? rank : devlist[rank]};
      comm[rank] = made.get();
      sim.communicators().live.emplace(comm[rank], std::move(made));
    }
    return ncclSuccess;
  });
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return nccl_call("ncclCommDestroy", [&](Simulator& sim) {
    return sim.communicators().live.erase(comm) == 1 ? ncclSuccess : ncclInvalidArgument;
  });
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return nccl_call("ncclCommAbort", [&](Simulator& sim) {
    ncclComm* known = find(sim, comm);
    if (known == nullptr) return ncclInvalidArgument;
    // Collectives that wait for this rank end without a result.
    known->clique->aborted = true;
    sim.communicators().live.erase(comm);
    sim.changed();
    return ncclSuccess;
  });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError) {
  *asyncError = nccl_call("ncclCommGetAsyncError", [](Simulator&) { return ncclSuccess; });
  const Simulator::Lock lock(simulator_mutex());
  return find(simulator(), comm) == nullptr ? ncclInvalidArgument : ncclSuccess;
}

ncclResult_t ncclGroupStart(void) {
  return nccl_call("ncclGroupStart", [](Simulator& sim) {
    ++sim.thread().group_depth;
    return ncclSuccess;
  });
}

ncclResult_t ncclGroupEnd(void) {
  return nccl_call("ncclGroupEnd", [](Simulator& sim) {
    HostThread& thread = sim.thread();
    if (thread.group_depth == 0) return ncclInvalidUsage;
    if (--thread.group_depth > 0) return ncclSuccess;
    ncclResult_t result = ncclSuccess;
    for (const auto& put : std::exchange(thread.group, {})) {
      if (put() != cudaSuccess) result = ncclUnhandledCudaError;
    }
    return result;
  });
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError: return "unhandled cuda error";
    case ncclSystemError: return "unhandled system error";
    case ncclInternalError: return "internal error";
    case ncclInvalidArgument: return "invalid argument";
    case ncclInvalidUsage: return "invalid usage";
    case ncclRemoteError: return "remote process exited or there was a network error";
    case ncclInProgress: return "NCCL operation in progress";
    case ncclNumResults: break;
  }
  return "unknown result code";
}

ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  const CollectiveCall call{
      .reduces = true, .count = count, .type = datatype, .op = op, .send = sendbuff, .receive = recvbuff};
  return enqueue("ncclAllReduce", call, comm, stream);
}

ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  const CollectiveCall call{.count = count, .type = datatype, .root = root, .send = sendbuff, .receive = recvbuff};
  return enqueue("ncclBroadcast", call, comm, stream);
}

}  // extern "C"
