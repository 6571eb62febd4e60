#include <cstring>
#include <new>

#include "tests/cuda_sim/src/call.h"

using namespace cuda_sim;

namespace {

const char* direction(bool from_device, bool to_device) {
  if (from_device) return to_device ? "copy device to device" : "copy device to host";
  return to_device ? "copy host to device" : "copy host to host";
}

bool fits(enum cudaMemcpyKind kind, bool from_device, bool to_device) {
  switch (kind) {
    case cudaMemcpyHostToHost: return !from_device && !to_device;
    case cudaMemcpyHostToDevice: return !from_device && to_device;
    case cudaMemcpyDeviceToHost: return from_device && !to_device;
    case cudaMemcpyDeviceToDevice: return from_device && to_device;
    case cudaMemcpyDefault: return true;
  }
  return false;
}

/// One side of a copy.
struct Side {
  Range range;
  bool reachable = false;  // device or pinned memory, else pageable
  bool device = false;
  int allocation = -1;
};

/// False if the bytes are not all in one allocation.
bool look_up(Simulator& sim, const void* data, std::size_t bytes, Side& side) {
  side.range = range_of(data, bytes);
  const Window* window = sim.memory().window_of(side.range.begin);
  if (window == nullptr) return true;
  side.reachable = true;
  side.device = window->space() != host_space;
  if (!sim.memory().holds(side.range)) {
    sim.found("a copy or fill of " + sim.memory().describe(side.range) + " leaves its allocation");
    return false;
  }
  side.allocation = window->find(side.range.begin)->id;
  return true;
}

cudaError_t enqueue_copy(Simulator& sim, Stream& stream, void* to, const void* from, std::size_t bytes,
                         enum cudaMemcpyKind kind, bool* needs_wait) {
  Side source, target;
  if (!look_up(sim, from, bytes, source) || !look_up(sim, to, bytes, target)) return cudaErrorInvalidValue;
  if (!fits(kind, source.device, target.device)) return cudaErrorInvalidMemcpyDirection;
  if (stream.capture != nullptr && !(source.reachable && target.reachable)) {
    // A replay would find whatever stands there by then.
    stream.capture->invalid = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  Operation copy{.name = direction(source.device, target.device), .device = stream.device};
  if (source.reachable) copy.reads = {source.range};
  if (target.reachable) copy.writes = {target.range};
  if (!source.device && source.reachable) copy.pinned_source = source.range;
  for (const Side* side : {&source, &target}) {
    if (side->allocation >= 0) copy.allocations.push_back(side->allocation);
  }
  copy.body = [=](KernelAccesses&) { std::memmove(to, from, bytes); };
  if (!source.reachable) {
    // Pageable memory is staged before the call returns.
    const auto* begin = static_cast<const char*>(from);
    copy.body = [=, staged = std::vector<char>(begin, begin + bytes)](KernelAccesses&) {
      std::memcpy(to, staged.data(), bytes);
    };
  }
  *needs_wait = !target.reachable;
  return sim.enqueue(stream, std::move(copy));
}

cudaError_t enqueue_fill(Simulator& sim, Stream& stream, void* data, int value, std::size_t bytes) {
  Side side;
  if (!look_up(sim, data, bytes, side) || !side.reachable) return cudaErrorInvalidValue;
  Operation fill{.name = "fill", .device = stream.device, .writes = {side.range}, .allocations = {side.allocation}};
  fill.body = [=](KernelAccesses&) { std::memset(data, value, bytes); };
  return sim.enqueue(stream, std::move(fill));
}

cudaError_t allocate(Simulator& sim, Space space, std::size_t bytes, void** result) {
  *result = nullptr;
  if (bytes == 0) return cudaSuccess;
  const std::size_t used = space == host_space ? 0 : sim.memory().window(space).bytes();
  if (space != host_space && bytes > sim.machine().memory_bytes - used) return cudaErrorMemoryAllocation;
  try {
    const Allocation& made = sim.memory().allocate(space, bytes);
    sim.watch().allocated(made);
    *result = reinterpret_cast<void*>(made.range.begin);  // NOLINT(performance-no-int-to-ptr)
    return cudaSuccess;
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  }
}

cudaError_t release(Simulator& sim, Simulator::Lock& lock, const void* data, bool pinned) {
  if (data == nullptr) return cudaSuccess;
  const Allocation* allocation = sim.memory().find(reinterpret_cast<Address>(data));
  if (allocation == nullptr || allocation->range.begin != reinterpret_cast<Address>(data) ||
      (allocation->space == host_space) != pinned) {
    sim.found("freed what is no allocation: " + sim.memory().describe(range_of(data, 1)));
    return cudaErrorInvalidValue;
  }
  const Allocation copy = *allocation;
  // Both functions wait for what may still use the memory.
  for (Space device = 0; device < sim.machine().devices; ++device) {
    if (pinned || device == copy.space) {
      if (const cudaError_t status = sim.synchronize_device(lock, device)) return status;
    }
  }
  sim.watch().freed(copy);
  sim.memory().free(copy.space, data);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return runtime_call("cudaMemGetInfo", [&](Simulator& sim, Simulator::Lock&) {
    *total = sim.machine().memory_bytes;
    *free = *total - sim.memory().window(sim.thread().device).bytes();
    return cudaSuccess;
  });
}

cudaError_t cudaMalloc(void** devPtr, size_t size) {
  return unsafe_call(
      "cudaMalloc", [&](Simulator& sim, Simulator::Lock&) { return allocate(sim, sim.thread().device, size, devPtr); });
}

cudaError_t cudaFree(void* devPtr) {
  return unsafe_call("cudaFree",
                     [&](Simulator& sim, Simulator::Lock& lock) { return release(sim, lock, devPtr, false); });
}

cudaError_t cudaHostAlloc(void** pHost, size_t size, unsigned int) {
  return unsafe_call("cudaHostAlloc",
                     [&](Simulator& sim, Simulator::Lock&) { return allocate(sim, host_space, size, pHost); });
}

cudaError_t cudaFreeHost(void* ptr) {
  return unsafe_call("cudaFreeHost",
                     [&](Simulator& sim, Simulator::Lock& lock) { return release(sim, lock, ptr, true); });
}

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind) {
  return unsafe_call("cudaMemcpy", [&](Simulator& sim, Simulator::Lock& lock) {
    if (count == 0) return cudaSuccess;
    Stream& stream = *sim.stream(nullptr);
    bool needs_wait = false;
    const cudaError_t status = enqueue_copy(sim, stream, dst, src, count, kind, &needs_wait);
    return status == cudaSuccess ? sim.synchronize(lock, stream) : status;
  });
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream) {
  return runtime_call("cudaMemcpyAsync", [&](Simulator& sim, Simulator::Lock& lock) {
    Stream* on = sim.stream(stream);
    if (on == nullptr) return cudaErrorInvalidResourceHandle;
    if (count == 0) return cudaSuccess;
    bool needs_wait = false;
    const cudaError_t status = enqueue_copy(sim, *on, dst, src, count, kind, &needs_wait);
    return status == cudaSuccess && needs_wait ? sim.synchronize(lock, *on) : status;
  });
}

cudaError_t cudaMemset(void* devPtr, int value, size_t count) {
  return unsafe_call("cudaMemset", [&](Simulator& sim, Simulator::Lock& lock) {
    if (count == 0) return cudaSuccess;
    Stream& stream = *sim.stream(nullptr);
    const cudaError_t status = enqueue_fill(sim, stream, devPtr, value, count);
    return status == cudaSuccess ? sim.synchronize(lock, stream) : status;
  });
}

cudaError_t cudaMemsetAsync(void* devPtr, int value, size_t count, cudaStream_t stream) {
  return runtime_call("cudaMemsetAsync", [&](Simulator& sim, Simulator::Lock&) {
    Stream* on = sim.stream(stream);
    if (on == nullptr) return cudaErrorInvalidResourceHandle;
    return count == 0 ? cudaSuccess : enqueue_fill(sim, *on, devPtr, value, count);
  });
}

}  // extern "C"
