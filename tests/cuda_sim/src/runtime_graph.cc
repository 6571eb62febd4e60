#include <algorithm>

#include "tests/cuda_sim/src/call.h"

using namespace cuda_sim;

namespace {

bool valid(const cudaLaunchConfig_t& config) {
  const dim3 &grid = config.gridDim, &block = config.blockDim;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  return threads >= 1 && threads <= 1024 && block.z <= 64 && grid.x >= 1 && grid.y >= 1 && grid.z >= 1 &&
         grid.x <= 0x7fffffffU && grid.y <= 65535 && grid.z <= 65535;
}

cudaError_t capture_status(const Stream& stream, enum cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  if (stream.capture != nullptr) {
    *status = stream.capture->invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
  }
  return cudaSuccess;
}

}  // namespace

namespace cuda_sim {

cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel, std::shared_ptr<const void> arguments,
                   std::size_t argument_bytes, Thread thread) {
  return runtime_call("cudaLaunchKernelEx", [&](Simulator& sim, Simulator::Lock&) {
    Stream* stream = sim.stream(config.stream);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream->device != sim.thread().device) return cudaErrorInvalidResourceHandle;
    if (!valid(config)) return cudaErrorInvalidConfiguration;
    if (config.dynamicSmemBytes != 0) return cudaErrorNotSupported;
    const Grid grid{sim.kernel_name(kernel), config.gridDim, config.blockDim, kernel, arguments.get(), thread};
    Operation operation{.name = grid.name, .device = stream->device, .is_kernel = true};
    std::vector<Address> stale;
    operation.allocations = sim.memory().pointers_in(arguments.get(), argument_bytes, stale);
    for (const Address address : stale) {
      sim.found("a stale pointer: an argument of " + grid.name + " is " +
                sim.memory().describe({address, address + 1}));
    }
    operation.body = [&sim, grid, arguments, argument_bytes, device = stream->device](KernelAccesses& accesses) {
      sim.run_kernel(grid, device, range_of(arguments.get(), argument_bytes), accesses);
    };
    return sim.enqueue(*stream, std::move(operation));
  });
}

}  // namespace cuda_sim

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
  return runtime_call("cudaStreamBeginCapture", [&](Simulator& sim, Simulator::Lock&) {
    Stream* known = sim.stream(stream);
    return known == nullptr ? cudaErrorInvalidResourceHandle : sim.begin_capture(*known, mode);
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* pGraph) {
  return runtime_call("cudaStreamEndCapture", [&](Simulator& sim, Simulator::Lock&) {
    Stream* known = sim.stream(stream);
    return known == nullptr ? cudaErrorInvalidResourceHandle : sim.end_capture(*known, pGraph);
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus* pCaptureStatus) {
  return runtime_call("cudaStreamIsCapturing", [&](Simulator& sim, Simulator::Lock&) {
    Stream* known = sim.stream(stream);
    return known == nullptr ? cudaErrorInvalidResourceHandle : capture_status(*known, pCaptureStatus);
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph, unsigned long long) {
  return runtime_call("cudaGraphInstantiate", [&](Simulator& sim, Simulator::Lock&) {
    const Graph* known = sim.graph(graph);
    if (known == nullptr) return cudaErrorInvalidValue;
    *pGraphExec = sim.instantiate(*known);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream) {
  return runtime_call("cudaGraphUpload", [&](Simulator& sim, Simulator::Lock&) {
    const bool known = sim.exec(graphExec) != nullptr && sim.stream(stream) != nullptr;
    return known ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream) {
  return runtime_call("cudaGraphLaunch", [&](Simulator& sim, Simulator::Lock&) {
    Stream* on = sim.stream(stream);
    if (sim.exec(graphExec) == nullptr || on == nullptr) return cudaErrorInvalidValue;
    if (on->capture == nullptr) return sim.launch(*graphExec, *on);
    sim.found("a graph is launched into a capture; the stand-in has no child graphs");
    return cudaErrorNotSupported;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* numNodes) {
  return runtime_call("cudaGraphGetNodes", [&](Simulator& sim, Simulator::Lock&) {
    Graph* known = sim.graph(graph);
    if (known == nullptr || numNodes == nullptr) return cudaErrorInvalidValue;
    std::vector<cudaGraphNode_t> work;
    for (GraphNode& node : known->nodes) {
      if (node.operation != nullptr) work.push_back(reinterpret_cast<cudaGraphNode_t>(&node));
    }
    if (nodes == nullptr) {
      *numNodes = work.size();
      return cudaSuccess;
    }
    const std::size_t count = std::min(*numNodes, work.size());
    std::copy_n(work.begin(), count, nodes);
    std::fill(nodes + count, nodes + *numNodes, nullptr);
    *numNodes = count;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return runtime_call("cudaGraphDestroy", [&](Simulator& sim, Simulator::Lock&) {
    if (sim.graph(graph) == nullptr) return cudaErrorInvalidValue;
    sim.remove_graph(graph);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec) {
  return runtime_call("cudaGraphExecDestroy", [&](Simulator& sim, Simulator::Lock&) {
    if (sim.exec(graphExec) == nullptr) return cudaErrorInvalidValue;
    sim.remove_exec(graphExec);
    return cudaSuccess;
  });
}

}  // extern "C"
