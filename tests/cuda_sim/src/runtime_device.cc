#include <algorithm>
#include <cstring>

#include "tests/cuda_sim/src/call.h"

using namespace cuda_sim;

namespace {

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* text;
};

constexpr ErrorText errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched", "capture was not ended in the same stream"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
};

const ErrorText* find(cudaError_t code) {
  const auto* found = std::find_if(std::begin(errors), std::end(errors), [=](const auto& e) { return e.code == code; });
  return found == std::end(errors) ? nullptr : found;
}

cudaError_t with_device(const char* function, int device, const std::function<void(const Machine&)>& body) {
  return runtime_call(function, [&](Simulator& sim, Simulator::Lock&) {
    if (device < 0 || device >= sim.machine().devices) return cudaErrorInvalidDevice;
    body(sim.machine());
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  Simulator::Lock lock(simulator_mutex());
  Simulator& sim = simulator();
  auto status = static_cast<cudaError_t>(sim.count_call("cudaGetDeviceCount"));
  if (status == cudaSuccess) status = sim.availability();
  *count = status == cudaSuccess ? sim.machine().devices : 0;
  if (status != cudaSuccess) sim.thread().last_error = status;
  return status;
}

cudaError_t cudaSetDevice(int device) {
  return runtime_call("cudaSetDevice", [&](Simulator& sim, Simulator::Lock&) {
    if (device < 0 || device >= sim.machine().devices) return cudaErrorInvalidDevice;
    sim.thread().device = device;
    return sim.fault(device);
  });
}

cudaError_t cudaGetDevice(int* device) {
  return runtime_call("cudaGetDevice", [&](Simulator& sim, Simulator::Lock&) {
    *device = sim.thread().device;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attr, int device) {
  return with_device("cudaDeviceGetAttribute", device, [&](const Machine& machine) {
    switch (attr) {
      case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
      case cudaDevAttrMaxSharedMemoryPerBlock: *value = static_cast<int>(SharedMemory::most_bytes); break;
      case cudaDevAttrWarpSize: *value = 32; break;
      case cudaDevAttrMultiProcessorCount: *value = machine.multiprocessors; break;
      case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
      case cudaDevAttrComputeCapabilityMajor: *value = machine.compute_major; break;
      case cudaDevAttrComputeCapabilityMinor: *value = machine.compute_minor; break;
    }
  });
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* prop, int device) {
  return with_device("cudaGetDeviceProperties", device, [&](const Machine& machine) {
    *prop = {};
    machine.name.copy(prop->name, sizeof prop->name - 1);
    prop->totalGlobalMem = machine.memory_bytes;
    prop->sharedMemPerBlock = SharedMemory::most_bytes;
    prop->warpSize = 32;
    prop->maxThreadsPerBlock = 1024;
    prop->major = machine.compute_major;
    prop->minor = machine.compute_minor;
    prop->multiProcessorCount = machine.multiprocessors;
    prop->maxThreadsPerMultiProcessor = 2048;
  });
}

// The versions are known without a device; a driver that is not there has version 0.
cudaError_t cudaDriverGetVersion(int* driverVersion) {
  Simulator::Lock lock(simulator_mutex());
  *driverVersion = simulator().machine().driver_version;
  return static_cast<cudaError_t>(simulator().count_call("cudaDriverGetVersion"));
}

cudaError_t cudaRuntimeGetVersion(int* runtimeVersion) {
  Simulator::Lock lock(simulator_mutex());
  *runtimeVersion = CUDART_VERSION;
  return static_cast<cudaError_t>(simulator().count_call("cudaRuntimeGetVersion"));
}

cudaError_t cudaDeviceSynchronize(void) {
  return unsafe_call("cudaDeviceSynchronize", [](Simulator& sim, Simulator::Lock& lock) {
    return sim.synchronize_device(lock, sim.thread().device);
  });
}

cudaError_t cudaGetLastError(void) {
  Simulator::Lock lock(simulator_mutex());
  return std::exchange(simulator().thread().last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError(void) {
  Simulator::Lock lock(simulator_mutex());
  return simulator().thread().last_error;
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* found = find(error);
  return found == nullptr ? "unrecognized error code" : found->text;
}

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* found = find(error);
  return found == nullptr ? "unrecognized error code" : found->name;
}

}  // extern "C"
