#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cuda_runtime_api.h"
#include "tests/cuda_sim/src/memory.h"
#include "tests/cuda_sim/src/order.h"
#include "tests/cuda_sim/src/watch.h"

namespace cuda_sim {

struct CollectiveCall;
struct Rendezvous;
struct GraphRun;
struct Capture;

/// What the program says that the operations it puts on a stream read and write.
struct Declared {
  std::string name;
  std::vector<Range> reads, writes;  // merged
};

/// One piece of work on a stream: a kernel, a copy, a fill, a matrix product, a rank's part in a collective.
struct Operation {
  std::string name;
  Space device = 0;
  std::vector<Range> reads, writes;
  /// Does the work; a kernel adds what it turned out to touch.
  std::function<void(KernelAccesses&)> body;
  /// Ids of the allocations that it points into.
  std::vector<int> allocations;
  /// Pinned memory that the host must not change before the operation has run.
  Range pinned_source;
  std::shared_ptr<const Declared> declared;
  std::shared_ptr<const CollectiveCall> collective;
  bool is_kernel = false;
};

/// One time that an event was recorded.
struct Record {
  bool done = false;
  Point point = no_point;
  std::chrono::steady_clock::time_point time;
};

/// What stands in a stream's queue. Just one of the first four is set.
struct Entry {
  std::shared_ptr<const Operation> operation;
  std::shared_ptr<Record> record;   // to be made
  std::shared_ptr<Record> awaited;  // to be waited for
  std::shared_ptr<GraphRun> graph;
  int wait = -1;  // the place in the program that waits
  std::shared_ptr<Rendezvous> rendezvous;
  std::uint64_t source_hash = 0;
  Point host = no_point;  // what the host had seen when it put this here
};

struct Stream {
  int number = 0;
  Space device = 0;
  int chain = 0;
  unsigned weight = 1;  // how readily the scheduler picks it
  std::deque<Entry> queue;
  std::uint64_t enqueued = 0, completed = 0;
  Point last = no_point;
  std::shared_ptr<const Declared> declared;
  // While it is captured:
  std::shared_ptr<Capture> capture;
  int captured_last = -1;    // the node after which the next one comes
  int captured_stream = -1;  // its place among the capture's streams

  std::string name() const { return "stream " + std::to_string(number); }
};

struct Event {
  int number = 0;
  bool timing = true;
  std::shared_ptr<Record> record;  // the latest
  std::string recorded_on;
  // If it was recorded in a capture:
  std::shared_ptr<Capture> capture;
  int captured_node = -1;
  std::map<int, int> waits;  // by the number of the waiting stream: the place of the program
};

/// A captured operation, or (with none) the place where a stream waited for an event.
struct GraphNode {
  struct Before {
    int node;
    int wait = -1;
  };
  std::shared_ptr<const Operation> operation;
  std::vector<Before> after;
  int stream;
};

struct Capture {
  cudaStreamCaptureMode mode;
  std::thread::id thread;
  const Stream* origin;
  std::vector<Stream*> streams;
  std::vector<GraphNode> nodes;
  bool invalid = false;
};

struct Graph {
  std::vector<GraphNode> nodes;
  int streams = 0;
};

struct GraphExec {
  int number = 0;
  Graph graph;
  std::vector<int> chains;  // of each captured stream
  std::vector<std::vector<int>> next;
  std::shared_ptr<const Point> last_end;  // of the latest launch; no_point until that is done
};

/// One launch of a graph.
struct GraphRun {
  std::shared_ptr<const GraphExec> exec;
  std::shared_ptr<const Point> previous_end;
  std::shared_ptr<Point> end = std::make_shared<Point>(no_point);
  std::vector<int> missing;  // predecessors that have not run, of each node
  std::vector<int> ready;
  std::vector<Point> points;
  std::vector<std::shared_ptr<Rendezvous>> rendezvous;
  std::vector<std::uint64_t> source_hashes;
  std::size_t left = 0;
  bool started = false;
  Point begin = no_point;
};

}  // namespace cuda_sim

// The types that the handles point to.
struct CUstream_st : cuda_sim::Stream {};                         // NOLINT(readability-identifier-naming)
struct CUevent_st : cuda_sim::Event {};                           // NOLINT(readability-identifier-naming)
struct CUgraph_st : cuda_sim::Graph {};                           // NOLINT(readability-identifier-naming)
struct CUgraphNode_st {};                                         // NOLINT(readability-identifier-naming)
struct CUgraphExec_st : std::shared_ptr<cuda_sim::GraphExec> {};  // NOLINT(readability-identifier-naming)
