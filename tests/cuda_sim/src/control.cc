#include "tests/cuda_sim/control.h"

#include "tests/cuda_sim/src/hooks.h"
#include "tests/cuda_sim/src/simulator.h"

namespace cuda_sim {
namespace {

std::vector<Range> ranges_of(std::span<const Bytes> all) {
  std::vector<Range> result;
  for (const Bytes& each : all) result.push_back(range_of(each.begin, each.size));
  return merged(std::move(result));
}

template <class Body>
auto with_simulator(Body body) {
  const Simulator::Lock lock(simulator_mutex());
  return body(simulator());
}

}  // namespace

void reset(std::uint64_t seed, const Machine& machine, Progress progress) {
  const Simulator::Lock lock(simulator_mutex());
  reset_simulator(seed, machine, progress);
}

void fail_call(std::string_view function, int nth, int status) {
  with_simulator([&](Simulator& sim) { sim.plan_failure(std::string(function), nth, status); });
}

void fail_operation(std::string_view name, int nth) {
  with_simulator([&](Simulator& sim) { sim.plan_operation_failure(std::string(name), nth); });
}

void set_patience(int milliseconds) {
  with_simulator([=](Simulator& sim) { sim.set_patience(milliseconds); });
}

std::vector<std::string> findings() {
  return with_simulator([](Simulator& sim) { return sim.findings(); });
}

std::vector<std::string> take_findings() {
  return with_simulator([](Simulator& sim) { return sim.take_findings(); });
}

std::vector<std::string> redundant_waits() {
  return with_simulator([](Simulator& sim) { return sim.redundant_waits(); });
}

std::int64_t calls(std::string_view function) {
  return with_simulator([=](Simulator& sim) {
    const auto known = sim.calls().find(function);
    return known == sim.calls().end() ? 0 : known->second;
  });
}

std::size_t device_bytes(int device) {
  return with_simulator([=](Simulator& sim) { return sim.memory().window(device).bytes(); });
}

std::size_t pinned_bytes() {
  return with_simulator([](Simulator& sim) { return sim.memory().window(host_space).bytes(); });
}

std::size_t live_handles() {
  return with_simulator([](Simulator& sim) { return sim.live_handles(); });
}

std::vector<KernelCount> kernel_counts() {
  return with_simulator([](Simulator& sim) {
    std::vector<KernelCount> result;
    for (const auto& [name, count] : sim.kernels()) result.push_back(count);
    return result;
  });
}

KernelCount kernel_count(std::string_view name) {
  KernelCount total{.name = std::string(name)};
  for (const KernelCount& each : kernel_counts()) {
    if (each.name.find(name) == std::string::npos) continue;
    total.launches += each.launches;
    total.bytes_read += each.bytes_read;
    total.bytes_written += each.bytes_written;
    total.bytes_loaded += each.bytes_loaded;
    total.bytes_stored += each.bytes_stored;
  }
  return total;
}

void clear_kernel_counts() {
  with_simulator([](Simulator& sim) { sim.kernels().clear(); });
}

std::vector<Ran> operations() {
  return with_simulator([](Simulator& sim) { return sim.ran(); });
}

bool instrumented() { return hooks.instrumented; }

void host_reads(const void* data, std::size_t bytes) {
  with_simulator([&](Simulator& sim) { sim.host_touches(range_of(data, bytes), false); });
}

void host_writes(const void* data, std::size_t bytes) {
  with_simulator([&](Simulator& sim) { sim.host_touches(range_of(data, bytes), true); });
}

void declare(cudaStream_t stream, std::string_view name, std::span<const Bytes> reads, std::span<const Bytes> writes) {
  with_simulator([&](Simulator& sim) {
    Stream* known = sim.stream(stream);
    if (known == nullptr) return;
    known->declared = nullptr;
    if (name.empty()) return;
    known->declared =
        std::make_shared<const Declared>(Declared{std::string(name), ranges_of(reads), ranges_of(writes)});
  });
}

}  // namespace cuda_sim

void cuda_sim_declare(cudaStream_t stream, const char* name, std::size_t count, const void* const* data,
                      const std::size_t* bytes, const bool* written) {
  std::vector<cuda_sim::Bytes> reads, writes;
  for (std::size_t i = 0; i < count; ++i) (written[i] ? writes : reads).push_back({data[i], bytes[i]});
  cuda_sim::declare(stream, name == nullptr ? "" : name, reads, writes);
}
