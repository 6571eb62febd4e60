#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_runtime_api.h"

/// What a test tells the stand-in for CUDA, and asks it. See tests/cuda_sim/README.md.
namespace cuda_sim {

/// Whether operations that could run do so at once, as late as possible (when the host waits), or now and then.
enum class Progress { at_random, eager, lazy };

/// The machine that the program finds.
struct Machine {
  int devices = 1;
  int driver_version = 13000;
  int compute_major = 9;
  int compute_minor = 0;
  int multiprocessors = 132;
  std::size_t memory_bytes = std::size_t{8} << 30;  // of each device
  std::string name = "simulated device";
};

/// Starts anew: all handles and memory of before are gone, as are findings, counters and failures to come. The seed
/// chooses the order in which streams run, and blocks and threads of a kernel. Not while another thread is in a call.
void reset(std::uint64_t seed = 1, const Machine& machine = {}, Progress progress = Progress::at_random);

/// The nth call from now (1: the next) of the function of the runtime, of cuBLASLt or of NCCL, named as in C, does
/// nothing and returns this status.
void fail_call(std::string_view function, int nth, int status);
/// The nth operation from now whose name contains this text fails while it runs, as a kernel that traps.
void fail_operation(std::string_view name, int nth);
/// How long a host thread waits for others to put the missing parts of a collective on their streams before that counts
/// as a deadlock. At first 10 seconds.
void set_patience(int milliseconds);

/// All that was wrong so far, one sentence each, in the order found: operations that conflict and are not ordered,
/// stray accesses, stale pointers in graphs, barriers that not all threads reach, races in shared memory, ...
std::vector<std::string> findings();
/// The same, and forgets them: for a test that makes mistakes on purpose.
std::vector<std::string> take_findings();
/// Calls of cudaStreamWaitEvent, each as a sentence, that order no two operations that conflict. Of captured calls,
/// those that a graph's form needs (to bring a stream into the capture, or back) are left out.
std::vector<std::string> redundant_waits();

/// How often the function was called, failures included.
std::int64_t calls(std::string_view function);
/// Bytes allocated now.
std::size_t device_bytes(int device = 0);
std::size_t pinned_bytes();
/// Streams, events, graphs, executable graphs, communicators and cuBLASLt's descriptors that exist now.
std::size_t live_handles();

/// What kernels of one name did, over all launches.
struct KernelCount {
  std::string name;
  std::int64_t launches = 0;
  std::size_t bytes_read = 0;     // each byte once a launch
  std::size_t bytes_written = 0;  // each byte once a launch
  std::size_t bytes_loaded = 0;   // each access
  std::size_t bytes_stored = 0;   // each access
};
/// By name. Bytes are zero where kernels are not instrumented.
std::vector<KernelCount> kernel_counts();
/// The sum over the kernels whose names contain this text.
KernelCount kernel_count(std::string_view name);
void clear_kernel_counts();

/// Bytes of memory.
struct Bytes {
  const void* begin;
  std::size_t size;
};
/// An operation that has run.
struct Ran {
  std::string name;  // with the name it was declared under
  int device;
  std::vector<Bytes> reads, writes;
};
/// All operations in the order in which they ran.
std::vector<Ran> operations();

/// Whether the kernels of this program are compiled so that their accesses are seen. If not (under AddressSanitizer),
/// only declared ranges are checked, and no bytes are counted.
bool instrumented();

/// The host reads or writes pinned memory now: checked against the operations of streams.
void host_reads(const void* data, std::size_t bytes);
void host_writes(const void* data, std::size_t bytes);

/// What the caller puts on the stream from now on, until the next call for it, is the named operation and touches only
/// these bytes. An empty name ends that.
void declare(cudaStream_t stream, std::string_view name, std::span<const Bytes> reads, std::span<const Bytes> writes);

}  // namespace cuda_sim

/// The same for code that is also built against the toolkit, where it declares this function weak and calls it if there
/// is one. written[i] tells whether the i-th range is written (and maybe read), else it is only read. A name that is
/// null ends it.
extern "C" void cuda_sim_declare(cudaStream_t stream, const char* name, std::size_t count, const void* const* data,
                                 const std::size_t* bytes, const bool* written);
