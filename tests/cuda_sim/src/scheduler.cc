#include <algorithm>

#include "tests/cuda_sim/src/collective.h"
#include "tests/cuda_sim/src/simulator.h"

// Which operation of which stream runs next: any that stream order, events and graph edges allow, as chance has it.

namespace cuda_sim {
namespace {

constexpr int picks_between_weights = 32;

std::vector<After> after_of(const GraphRun& run, int node) {
  std::vector<After> after = {{run.begin}};
  for (const GraphNode::Before& before : run.exec->graph.nodes[static_cast<std::size_t>(node)].after) {
    after.push_back({run.points[static_cast<std::size_t>(before.node)], before.wait});
  }
  return after;
}

}  // namespace

bool Simulator::arrives(Rendezvous& rendezvous, const Operation& operation, std::vector<After> after, int chain) {
  const Operation*& part = rendezvous.parts[static_cast<std::size_t>(operation.collective->rank)];
  if (part == nullptr) {
    part = &operation;
    ++rendezvous.there;
    rendezvous.chain = chain;
    rendezvous.after.insert(rendezvous.after.end(), after.begin(), after.end());
  }
  return rendezvous.can_run();
}

bool Simulator::can_run(const Entry& entry, Stream& stream) {
  if (entry.awaited != nullptr) return entry.awaited->done;
  if (entry.rendezvous == nullptr) return true;
  return arrives(*entry.rendezvous, *entry.operation, {{stream.last}, {entry.host}}, stream.chain);
}

void Simulator::add_graph_candidates(Stream& stream, std::vector<Candidate>& to) {
  GraphRun& run = *stream.queue.front().graph;
  if (!run.started) {
    if (run.previous_end != nullptr && *run.previous_end == no_point) return;
    to.push_back({&stream, -1});
    return;
  }
  for (const int node : run.ready) {
    const auto at = static_cast<std::size_t>(node);
    const GraphNode& what = run.exec->graph.nodes[at];
    const int chain = run.exec->chains[static_cast<std::size_t>(what.stream)];
    if (run.rendezvous[at] == nullptr || arrives(*run.rendezvous[at], *what.operation, after_of(run, node), chain)) {
      to.push_back({&stream, node});
    }
  }
}

std::vector<Simulator::Candidate> Simulator::candidates() {
  std::vector<Candidate> result;
  const auto add = [&](Stream& stream) {
    if (stream.queue.empty()) return;
    if (stream.queue.front().graph != nullptr) {
      add_graph_candidates(stream, result);
    } else if (can_run(stream.queue.front(), stream)) {
      result.push_back({&stream, -1});
    }
  };
  for (const auto& stream : default_streams_) add(*stream);
  for (const auto& [handle, stream] : streams_) add(*stream);
  // The map's order is that of addresses, which differ from run to run.
  std::stable_sort(result.begin(), result.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.stream->number, a.node) < std::pair(b.stream->number, b.node);
  });
  return result;
}

void Simulator::shuffle_weights() {
  // Now and then one stream is far ahead of the others; evenly mixed orders alone would hardly ever show that.
  for (const auto& stream : default_streams_) stream->weight = 1U << (3 * (random_() % 4));
  std::vector<Stream*> all;
  for (const auto& [handle, stream] : streams_) all.push_back(stream.get());
  std::sort(all.begin(), all.end(), [](const Stream* a, const Stream* b) { return a->number < b->number; });
  for (Stream* stream : all) stream->weight = 1U << (3 * (random_() % 4));
}

bool Simulator::step() {
  if (picks_++ % picks_between_weights == 0) shuffle_weights();
  const std::vector<Candidate> all = candidates();
  if (all.empty()) return false;
  std::uint64_t weight = 0;
  for (const Candidate& each : all) weight += each.stream->weight;
  std::uint64_t left = random_() % weight;
  std::size_t chosen = 0;
  for (; left >= all[chosen].stream->weight; ++chosen) left -= all[chosen].stream->weight;
  const Candidate& next = all[chosen];
  if (next.node < 0) {
    run_head(*next.stream);
  } else {
    run_node(*next.stream, next.node);
  }
  changed();
  return true;
}

void Simulator::run_head(Stream& stream) {
  const Entry entry = stream.queue.front();
  const std::vector<After> after = {{stream.last}, {entry.host}};
  if (entry.graph != nullptr) {
    GraphRun& run = *entry.graph;
    const Point previous = run.previous_end == nullptr ? no_point : *run.previous_end;
    run.begin = order_.add(stream.chain, {{stream.last}, {entry.host}, {previous}});
    run.started = true;
    if (run.left > 0) return;
    *run.end = stream.last = run.begin;
  } else if (entry.awaited != nullptr) {
    stream.last = order_.add(stream.chain, {{stream.last}, {entry.host}, {entry.awaited->point, entry.wait}});
  } else if (entry.record != nullptr) {
    stream.last = entry.record->point = order_.add(stream.chain, after);
    entry.record->done = true;
    entry.record->time = std::chrono::steady_clock::now();
  } else if (entry.rendezvous != nullptr) {
    stream.last = execute(*entry.rendezvous);
  } else {
    check_source(*entry.operation, entry.source_hash);
    stream.last = execute(*entry.operation, stream.chain, after);
  }
  finish_head(stream);
}

void Simulator::finish_head(Stream& stream) {
  stream.queue.pop_front();
  ++stream.completed;
}

void Simulator::run_node(Stream& stream, int node) {
  // A copy, because the run must outlive the entry.
  const std::shared_ptr<GraphRun> run = stream.queue.front().graph;
  const auto at = static_cast<std::size_t>(node);
  const GraphNode& what = run->exec->graph.nodes[at];
  const int chain = run->exec->chains[static_cast<std::size_t>(what.stream)];
  std::erase(run->ready, node);
  if (run->rendezvous[at] != nullptr) {
    run->points[at] = execute(*run->rendezvous[at]);
  } else if (what.operation != nullptr) {
    check_source(*what.operation, run->source_hashes[at]);
    run->points[at] = execute(*what.operation, chain, after_of(*run, node));
  } else {
    run->points[at] = order_.add(chain, after_of(*run, node));
  }
  for (const int next : run->exec->next[at]) {
    if (--run->missing[static_cast<std::size_t>(next)] == 0) run->ready.push_back(next);
  }
  if (--run->left > 0) return;
  std::vector<After> all = {{run->begin}};
  for (const Point point : run->points) all.push_back({point});
  *run->end = stream.last = order_.add(stream.chain, all);
  finish_head(stream);
}

cudaError_t Simulator::run_until(Lock& lock, const std::function<bool()>& done) {
  while (!done()) {
    if (step()) continue;
    // What is missing can only come from another host thread.
    if (threads_.size() > 1 && progress_made_.wait_for(lock, patience_) != std::cv_status::timeout) continue;
    if (done()) break;
    found(
        "a deadlock: the host waits for a stream that nothing can bring on, such as one whose collective has parts "
        "that no rank has put on its stream");
    return cudaErrorLaunchTimeout;
  }
  return cudaSuccess;
}

cudaError_t Simulator::synchronize(Lock& lock, Stream& stream) {
  const std::uint64_t target = stream.enqueued;
  if (const cudaError_t status = run_until(lock, [&] { return stream.completed >= target; })) return status;
  host_joins(stream.last);
  return fault(stream.device);
}

cudaError_t Simulator::synchronize_device(Lock& lock, Space device) {
  std::vector<Stream*> all = {default_streams_[static_cast<std::size_t>(device)].get()};
  for (const auto& [handle, stream] : streams_) {
    if (stream->device == device) all.push_back(stream.get());
  }
  for (Stream* stream : all) {
    if (const cudaError_t status = synchronize(lock, *stream)) return status;
  }
  return fault(device);
}

void Simulator::maybe_run_some() {
  std::size_t steps = ~std::size_t{0};
  if (progress_ == Progress::lazy) return;
  if (progress_ == Progress::at_random) steps = random_() % 2 == 0 ? 0 : random_() % 4;
  while (steps-- > 0 && step()) {
  }
}

}  // namespace cuda_sim
