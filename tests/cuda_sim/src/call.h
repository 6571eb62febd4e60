#pragma once

#include "tests/cuda_sim/src/simulator.h"

namespace cuda_sim {

/// What each function of the runtime does: holds the lock, counts, fails if it shall or if the device has failed, and
/// keeps the error for cudaGetLastError. body(simulator, lock) does the rest.
template <class Body>
cudaError_t runtime_call(const char* function, Body body) {
  Simulator::Lock lock(simulator_mutex());
  Simulator& sim = simulator();
  HostThread& thread = sim.thread();
  auto status = static_cast<cudaError_t>(sim.count_call(function));
  if (status == cudaSuccess) status = sim.availability();
  if (status == cudaSuccess) status = sim.fault(thread.device);
  if (status == cudaSuccess) status = body(sim, lock);
  if (status != cudaSuccess) thread.last_error = status;
  return status;
}

/// The same for calls that a capture forbids, because they could wait for the device.
template <class Body>
cudaError_t unsafe_call(const char* function, Body body) {
  return runtime_call(function, [&](Simulator& sim, Simulator::Lock& lock) -> cudaError_t {
    if (sim.capture_forbids_unsafe_calls()) {
      sim.invalidate_captures_of_thread();
      return cudaErrorStreamCaptureUnsupported;
    }
    return body(sim, lock);
  });
}

}  // namespace cuda_sim
