#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/cuda_sim/control.h"
#include "tests/cuda_sim/src/block.h"
#include "tests/cuda_sim/src/history.h"
#include "tests/cuda_sim/src/memory.h"
#include "tests/cuda_sim/src/order.h"
#include "tests/cuda_sim/src/stream.h"
#include "tests/cuda_sim/src/watch.h"

namespace cuda_sim {

struct Communicators;

/// What CUDA keeps for each host thread.
struct HostThread {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
  int group_depth = 0;
  std::vector<std::function<cudaError_t()>> group;  // calls of NCCL that wait for the group's end
};

/// Everything behind the C functions, one machine. Its members expect that the caller holds the lock.
class Simulator {
 public:
  using Lock = std::unique_lock<std::mutex>;

  Simulator(std::uint64_t seed, Machine machine, Progress progress);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  const Machine& machine() const { return machine_; }
  Memory& memory() { return memory_; }
  Watch& watch() { return watch_; }
  HostThread& thread() { return threads_[std::this_thread::get_id()]; }

  // Findings and counters.
  void found(const std::string& text);
  const std::vector<std::string>& findings() const { return findings_; }
  std::vector<std::string> take_findings();
  std::map<std::string, std::int64_t, std::less<>>& calls() { return calls_; }
  std::map<std::string, KernelCount, std::less<>>& kernels() { return kernels_; }
  const std::vector<Ran>& ran() const { return ran_; }
  std::vector<std::string> redundant_waits() const { return order_.redundant_waits(); }

  // Failures on demand.
  void plan_failure(std::string function, int nth, int status) {
    call_failures_.push_back({std::move(function), nth, status});
  }
  void plan_operation_failure(std::string name, int nth) { operation_failures_.push_back({std::move(name), nth, 0}); }
  void set_patience(int milliseconds) { patience_ = std::chrono::milliseconds(milliseconds); }
  /// Counts the call; the status it shall fail with, or 0.
  int count_call(std::string_view function);
  /// What every call says on a machine without a device, or with a driver that is older than the runtime.
  cudaError_t availability() const;
  /// The error that a device has run into and never leaves.
  cudaError_t fault(Space device) const { return faults_[static_cast<std::size_t>(device)]; }

  // Streams and events.
  cudaStream_t add_stream();
  cudaEvent_t add_event(bool timing);
  /// nullptr for what is no stream; the null handle is the device's default stream.
  Stream* stream(cudaStream_t handle);
  Event* event(cudaEvent_t handle);
  void remove_stream(cudaStream_t handle) { streams_.erase(handle); }
  void remove_event(cudaEvent_t handle) { events_.erase(handle); }
  std::size_t live_handles() const;

  /// Puts the operation on the stream, or into the graph that the stream is captured to.
  cudaError_t enqueue(Stream& stream, Operation operation);
  void record(Event& event, Stream& stream);
  void wait(Stream& stream, Event& event);
  /// The same if the stream or the event belongs to a capture.
  cudaError_t wait_in_capture(Stream& stream, const Event& event);
  cudaError_t launch(const std::shared_ptr<GraphExec>& exec, Stream& stream);

  /// Runs operations until done() holds. An error if that cannot be.
  cudaError_t run_until(Lock& lock, const std::function<bool()>& done);
  cudaError_t synchronize(Lock& lock, Stream& stream);
  cudaError_t synchronize_device(Lock& lock, Space device);
  /// The host has seen this happen.
  void host_joins(Point point);
  void host_touches(const Range& range, bool write);
  /// Runs one operation that can run; false if none can.
  bool step();
  /// A few operations run, or not, as chance has it.
  void maybe_run_some();

  // Captures.
  bool capture_forbids_unsafe_calls();
  void invalidate_captures_of_thread();
  cudaError_t begin_capture(Stream& stream, cudaStreamCaptureMode mode);
  cudaError_t end_capture(Stream& stream, cudaGraph_t* graph);
  int capture_node(Stream& stream, GraphNode node);
  cudaGraphExec_t instantiate(const Graph& graph);
  Graph* graph(cudaGraph_t handle);
  GraphExec* exec(cudaGraphExec_t handle);
  void remove_graph(cudaGraph_t handle) { graphs_.erase(handle); }
  void remove_exec(cudaGraphExec_t handle) { execs_.erase(handle); }

  // Kernels.
  const std::string& kernel_name(const void* kernel);
  void run_kernel(const Grid& grid, Space device, const Range& arguments, KernelAccesses& accesses);
  void fail_device(Space device, cudaError_t code, const std::string& text);

  Communicators& communicators() { return *communicators_; }
  std::size_t& descriptors() { return descriptors_; }
  void changed() { progress_made_.notify_all(); }

 private:
  struct PlannedFailure {
    std::string name;
    int nth;
    int status;
  };
  /// Something that can run next: the head of a stream, or a node of the graph that is the head.
  struct Candidate {
    Stream* stream;
    int node;
  };

  std::vector<Candidate> candidates();
  void add_graph_candidates(Stream& stream, std::vector<Candidate>& to);
  bool can_run(const Entry& entry, Stream& stream);
  bool arrives(Rendezvous& rendezvous, const Operation& operation, std::vector<After> after, int chain);
  void run_head(Stream& stream);
  void run_node(Stream& stream, int node);
  void finish_head(Stream& stream);
  Point execute(const Operation& operation, int chain, const std::vector<After>& after);
  Point execute(Rendezvous& rendezvous);
  void check_source(const Operation& operation, std::uint64_t hash);
  void check_order(const Operation& operation, Point point, const KernelAccesses& accesses);
  void check_declared(const Operation& operation, const KernelAccesses& accesses);
  void log(const Operation& operation, Point point, const KernelAccesses& accesses);
  bool must_fail(const Operation& operation);
  std::uint64_t source_hash(const Operation& operation) const;
  void shuffle_weights();
  void mark_structural_waits(const Capture& capture, int end);

  Machine machine_;
  Progress progress_;
  std::mt19937_64 random_;
  std::chrono::milliseconds patience_{10000};
  std::condition_variable progress_made_;

  Memory memory_;
  BlockRunner runner_;
  Watch watch_;
  Order order_;
  History history_;
  int host_chain_;
  Point host_ = no_point;

  std::map<cudaStream_t, std::unique_ptr<CUstream_st>> streams_;
  std::vector<std::unique_ptr<CUstream_st>> default_streams_;
  std::map<cudaEvent_t, std::unique_ptr<CUevent_st>> events_;
  std::map<cudaGraph_t, std::unique_ptr<CUgraph_st>> graphs_;
  std::map<cudaGraphExec_t, std::unique_ptr<CUgraphExec_st>> execs_;
  std::vector<std::shared_ptr<Capture>> captures_;
  std::unique_ptr<Communicators> communicators_;
  std::size_t descriptors_ = 0;
  int numbers_ = 0;
  int picks_ = 0;

  std::map<std::thread::id, HostThread> threads_;
  std::vector<cudaError_t> faults_;
  std::vector<PlannedFailure> call_failures_, operation_failures_;
  std::vector<std::string> findings_;
  std::set<std::string> known_findings_;
  std::map<std::string, std::int64_t, std::less<>> calls_;
  std::map<std::string, KernelCount, std::less<>> kernels_;
  std::set<int> written_by_devices_;  // ids of pinned allocations
  std::vector<Ran> ran_;
  std::map<Point, std::string> names_;
  std::map<const void*, std::string> kernel_names_;
};

/// The C functions have no argument that could name a simulator, so there is one for the program; reset() makes it
/// anew.
Simulator& simulator();
std::mutex& simulator_mutex();
void reset_simulator(std::uint64_t seed, const Machine& machine, Progress progress);

}  // namespace cuda_sim
