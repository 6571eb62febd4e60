#include <chrono>

#include "tests/cuda_sim/src/call.h"

using namespace cuda_sim;

namespace {

cudaError_t make_stream(const char* function, cudaStream_t* stream, unsigned int flags) {
  return runtime_call(function, [&](Simulator& sim, Simulator::Lock&) {
    if (flags != cudaStreamNonBlocking) {
      sim.found(std::string(function) +
                " makes a stream that waits for the legacy stream; only non-blocking ones are "
                "supported");
      return cudaErrorNotSupported;
    }
    *stream = sim.add_stream();
    return cudaSuccess;
  });
}

/// For calls that wait for a stream or ask how far it is.
cudaError_t refuse_captured(Stream& stream) {
  if (stream.capture == nullptr) return cudaSuccess;
  stream.capture->invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t refuse_captured(const Event& event) {
  if (event.capture == nullptr) return cudaSuccess;
  event.capture->invalid = true;
  return cudaErrorCapturedEvent;
}

bool pending(const Event& event) { return event.record != nullptr && !event.record->done; }

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* pStream, unsigned int flags) {
  return make_stream("cudaStreamCreateWithFlags", pStream, flags);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* pStream, unsigned int flags, int) {
  return make_stream("cudaStreamCreateWithPriority", pStream, flags);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
  return runtime_call("cudaDeviceGetStreamPriorityRange", [&](Simulator&, Simulator::Lock&) {
    *leastPriority = 0;
    *greatestPriority = -5;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return runtime_call("cudaStreamDestroy", [&](Simulator& sim, Simulator::Lock& lock) {
    Stream* known = stream == nullptr ? nullptr : sim.stream(stream);
    if (known == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t status = refuse_captured(*known)) return status;
    // Its work is still done; the host does not wait for it, so nothing is ordered behind it.
    const cudaError_t status = sim.run_until(lock, [&] { return known->queue.empty(); });
    sim.remove_stream(stream);
    return status;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return runtime_call("cudaStreamSynchronize", [&](Simulator& sim, Simulator::Lock& lock) {
    Stream* known = sim.stream(stream);
    if (known == nullptr) return cudaErrorInvalidResourceHandle;
    const cudaError_t status = refuse_captured(*known);
    return status == cudaSuccess ? sim.synchronize(lock, *known) : status;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return runtime_call("cudaStreamQuery", [&](Simulator& sim, Simulator::Lock&) {
    Stream* known = sim.stream(stream);
    if (known == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t status = refuse_captured(*known)) return status;
    // Who asks again and again must get an answer some time, whatever the progress is set to.
    sim.step();
    if (!known->queue.empty()) return cudaErrorNotReady;
    sim.host_joins(known->last);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  return runtime_call("cudaStreamWaitEvent", [&](Simulator& sim, Simulator::Lock&) {
    Stream* waiting = sim.stream(stream);
    Event* awaited = sim.event(event);
    if (waiting == nullptr || awaited == nullptr) return cudaErrorInvalidResourceHandle;
    if (waiting->capture != nullptr || awaited->capture != nullptr) return sim.wait_in_capture(*waiting, *awaited);
    sim.wait(*waiting, *awaited);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return runtime_call("cudaEventCreateWithFlags", [&](Simulator& sim, Simulator::Lock&) {
    *event = sim.add_event((flags & cudaEventDisableTiming) == 0);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return runtime_call("cudaEventCreate", [&](Simulator& sim, Simulator::Lock&) {
    *event = sim.add_event(true);
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return runtime_call("cudaEventDestroy", [&](Simulator& sim, Simulator::Lock&) {
    if (sim.event(event) == nullptr) return cudaErrorInvalidResourceHandle;
    sim.remove_event(event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return runtime_call("cudaEventRecord", [&](Simulator& sim, Simulator::Lock&) {
    Stream* on = sim.stream(stream);
    Event* recorded = sim.event(event);
    if (on == nullptr || recorded == nullptr) return cudaErrorInvalidResourceHandle;
    sim.record(*recorded, *on);
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return runtime_call("cudaEventQuery", [&](Simulator& sim, Simulator::Lock&) {
    Event* asked = sim.event(event);
    if (asked == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t status = refuse_captured(*asked)) return status;
    if (pending(*asked)) sim.step();
    if (pending(*asked)) return cudaErrorNotReady;
    if (asked->record != nullptr) sim.host_joins(asked->record->point);
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return runtime_call("cudaEventSynchronize", [&](Simulator& sim, Simulator::Lock& lock) {
    Event* awaited = sim.event(event);
    if (awaited == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t status = refuse_captured(*awaited)) return status;
    const std::shared_ptr<Record> record = awaited->record;
    if (record == nullptr) return cudaSuccess;
    if (const cudaError_t status = sim.run_until(lock, [&] { return record->done; })) return status;
    sim.host_joins(record->point);
    return sim.fault(sim.thread().device);
  });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return runtime_call("cudaEventElapsedTime", [&](Simulator& sim, Simulator::Lock&) {
    Event* first = sim.event(start);
    Event* second = sim.event(end);
    if (first == nullptr || second == nullptr) return cudaErrorInvalidResourceHandle;
    if (!first->timing || !second->timing) return cudaErrorInvalidResourceHandle;
    if (first->record == nullptr || second->record == nullptr) return cudaErrorInvalidResourceHandle;
    if (pending(*first) || pending(*second)) return cudaErrorNotReady;
    *ms = std::chrono::duration<float, std::milli>(second->record->time - first->record->time).count();
    return cudaSuccess;
  });
}

}  // extern "C"
