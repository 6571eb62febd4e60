#include <algorithm>

#include "tests/cuda_sim/src/collective.h"
#include "tests/cuda_sim/src/simulator.h"

// Streams as the host fills them: queues, captures into graphs, launches of graphs.

namespace cuda_sim {
namespace {

std::string name_of(const Capture& capture, int node) {
  for (int at = node; at >= 0;) {
    const GraphNode& what = capture.nodes[static_cast<std::size_t>(at)];
    if (what.operation != nullptr) return "'" + what.operation->name + "'";
    at = what.after.empty() ? -1 : what.after.front().node;
  }
  return "the begin of the capture";
}

/// The nodes from which the end can be reached without the edges of one wait.
std::vector<bool> joined(const Capture& capture, int end, int without) {
  std::vector<bool> result(capture.nodes.size());
  if (end >= 0) result[static_cast<std::size_t>(end)] = true;
  for (std::size_t i = capture.nodes.size(); i-- > 0;) {
    if (!result[i]) continue;
    for (const GraphNode::Before& before : capture.nodes[i].after) {
      if (before.wait != without) result[static_cast<std::size_t>(before.node)] = true;
    }
  }
  return result;
}

bool all_work_in(const Capture& capture, const std::vector<bool>& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (capture.nodes[i].operation != nullptr && !nodes[i]) return false;
  }
  return true;
}

}  // namespace

cudaError_t Simulator::enqueue(Stream& stream, Operation operation) {
  operation.declared = stream.declared;
  if (operation.declared != nullptr) operation.name = operation.declared->name + ": " + operation.name;
  const auto shared = std::make_shared<const Operation>(std::move(operation));
  if (stream.capture != nullptr) {
    if (stream.capture->invalid) return cudaErrorStreamCaptureInvalidated;
    capture_node(stream, {.operation = shared});
    return cudaSuccess;
  }
  Entry entry{.operation = shared, .source_hash = source_hash(*shared), .host = host_};
  if (shared->collective != nullptr) entry.rendezvous = join(*shared->collective);
  stream.queue.push_back(std::move(entry));
  ++stream.enqueued;
  changed();
  maybe_run_some();
  return cudaSuccess;
}

void Simulator::record(Event& event, Stream& stream) {
  event.recorded_on = stream.name();
  event.capture = stream.capture;
  event.captured_node = stream.captured_last;
  event.record = nullptr;
  if (stream.capture != nullptr) return;
  event.record = std::make_shared<Record>();
  stream.queue.push_back({.record = event.record, .host = host_});
  ++stream.enqueued;
  changed();
  maybe_run_some();
}

void Simulator::wait(Stream& stream, Event& event) {
  if (event.record == nullptr) return;
  auto [known, is_new] = event.waits.try_emplace(stream.number, -1);
  if (is_new) {
    known->second = order_.add_wait(stream.name() + " waits for event " + std::to_string(event.number) +
                                    ", recorded on " + event.recorded_on);
  }
  stream.queue.push_back({.awaited = event.record, .wait = known->second, .host = host_});
  ++stream.enqueued;
  changed();
  maybe_run_some();
}

int Simulator::capture_node(Stream& stream, GraphNode node) {
  Capture& capture = *stream.capture;
  if (stream.captured_last >= 0) node.after.insert(node.after.begin(), {stream.captured_last});
  node.stream = stream.captured_stream;
  capture.nodes.push_back(std::move(node));
  return stream.captured_last = static_cast<int>(capture.nodes.size()) - 1;
}

cudaError_t Simulator::wait_in_capture(Stream& stream, const Event& event) {
  if (event.capture == nullptr) return event.record == nullptr ? cudaSuccess : cudaErrorStreamCaptureIsolation;
  // The capture that recorded it is over.
  if (std::find(captures_.begin(), captures_.end(), event.capture) == captures_.end()) return cudaErrorInvalidValue;
  if (stream.capture != nullptr && stream.capture != event.capture) return cudaErrorStreamCaptureMerge;
  if (stream.number == 0) return cudaErrorStreamCaptureImplicit;
  Capture& capture = *event.capture;
  const bool forks = stream.capture == nullptr;
  if (forks) {
    stream.capture = event.capture;
    stream.captured_last = -1;
    stream.captured_stream = static_cast<int>(capture.streams.size());
    capture.streams.push_back(&stream);
  }
  if (event.captured_node < 0) return cudaSuccess;
  const int wait = order_.add_wait({});
  if (forks) order_.set_structural(wait);
  capture_node(stream, {.after = {{event.captured_node, wait}}});
  return cudaSuccess;
}

bool Simulator::capture_forbids_unsafe_calls() {
  const auto me = std::this_thread::get_id();
  return std::any_of(captures_.begin(), captures_.end(), [&](const auto& capture) {
    return capture->mode == cudaStreamCaptureModeGlobal ||
           (capture->mode == cudaStreamCaptureModeThreadLocal && capture->thread == me);
  });
}

void Simulator::invalidate_captures_of_thread() {
  for (const auto& capture : captures_) {
    if (capture->thread == std::this_thread::get_id()) capture->invalid = true;
  }
}

cudaError_t Simulator::begin_capture(Stream& stream, cudaStreamCaptureMode mode) {
  if (stream.number == 0) return cudaErrorStreamCaptureUnsupported;
  if (stream.capture != nullptr) return cudaErrorStreamCaptureUnsupported;
  auto capture = std::make_shared<Capture>();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = &stream;
  capture->streams = {&stream};
  stream.capture = capture;
  stream.captured_last = -1;
  stream.captured_stream = 0;
  captures_.push_back(std::move(capture));
  return cudaSuccess;
}

void Simulator::mark_structural_waits(const Capture& capture, int end) {
  for (const GraphNode& node : capture.nodes) {
    for (const GraphNode::Before& before : node.after) {
      if (before.wait >= 0 && !all_work_in(capture, joined(capture, end, before.wait))) {
        order_.set_structural(before.wait);
      }
    }
  }
}

cudaError_t Simulator::end_capture(Stream& stream, cudaGraph_t* graph) {
  *graph = nullptr;
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) return cudaErrorInvalidValue;
  if (capture->origin != &stream) return cudaErrorStreamCaptureUnmatched;
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  const int end = stream.captured_last;
  for (Stream* each : capture->streams) {
    each->capture = nullptr;
    each->captured_last = each->captured_stream = -1;
  }
  std::erase(captures_, capture);
  if (capture->invalid) return cudaErrorStreamCaptureInvalidated;
  const std::vector<bool> reached = joined(*capture, end, -2);
  if (!all_work_in(*capture, reached)) {
    const auto node = static_cast<int>(std::find(reached.begin(), reached.end(), false) - reached.begin());
    found("a capture ends before the stream of " + name_of(*capture, node) + " has joined it");
    return cudaErrorStreamCaptureUnjoined;
  }
  mark_structural_waits(*capture, end);
  for (const GraphNode& node : capture->nodes) {
    for (const GraphNode::Before& before : node.after) {
      if (before.wait >= 0) {
        order_.set_text(before.wait, "in a capture, " +
                                         capture->streams[static_cast<std::size_t>(node.stream)]->name() + ", after " +
                                         name_of(*capture, node.after.front().node) +
                                         ", waits for an event recorded after " + name_of(*capture, before.node));
      }
    }
  }
  auto made = std::make_unique<CUgraph_st>();
  made->nodes = capture->nodes;
  made->streams = static_cast<int>(capture->streams.size());
  *graph = made.get();
  graphs_.emplace(*graph, std::move(made));
  return cudaSuccess;
}

cudaGraphExec_t Simulator::instantiate(const Graph& graph) {
  auto exec = std::make_shared<GraphExec>();
  exec->number = ++numbers_;
  exec->graph = graph;
  for (int i = 0; i < graph.streams; ++i) exec->chains.push_back(order_.add_chain());
  exec->next.resize(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const GraphNode::Before& before : graph.nodes[i].after) {
      exec->next[static_cast<std::size_t>(before.node)].push_back(static_cast<int>(i));
    }
  }
  auto holder = std::make_unique<CUgraphExec_st>();
  static_cast<std::shared_ptr<GraphExec>&>(*holder) = std::move(exec);
  const cudaGraphExec_t handle = holder.get();
  execs_.emplace(handle, std::move(holder));
  return handle;
}

cudaError_t Simulator::launch(const std::shared_ptr<GraphExec>& exec, Stream& stream) {
  auto run = std::make_shared<GraphRun>();
  const std::vector<GraphNode>& nodes = exec->graph.nodes;
  run->exec = exec;
  run->previous_end = exec->last_end;
  run->left = nodes.size();
  run->points.resize(nodes.size(), no_point);
  run->rendezvous.resize(nodes.size());
  run->source_hashes.resize(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    run->missing.push_back(static_cast<int>(nodes[i].after.size()));
    if (run->missing[i] == 0) run->ready.push_back(static_cast<int>(i));
    if (nodes[i].operation == nullptr) continue;
    const Operation& operation = *nodes[i].operation;
    for (const int id : operation.allocations) {
      if (memory_.alive(id)) continue;
      found("a stale pointer: '" + operation.name + "' of graph " + std::to_string(exec->number) +
            " points into allocation " + std::to_string(id) + ", which was freed after the capture");
      return cudaErrorInvalidValue;
    }
    run->source_hashes[i] = source_hash(operation);
    if (operation.collective != nullptr) run->rendezvous[i] = join(*operation.collective);
  }
  exec->last_end = run->end;
  stream.queue.push_back({.graph = run, .host = host_});
  ++stream.enqueued;
  changed();
  maybe_run_some();
  return cudaSuccess;
}

}  // namespace cuda_sim
