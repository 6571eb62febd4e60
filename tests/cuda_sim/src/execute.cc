#include <algorithm>
#include <string_view>

#include "tests/cuda_sim/src/collective.h"
#include "tests/cuda_sim/src/simulator.h"
#include "tests/cuda_sim/src/symbol.h"

// What happens when an operation's turn has come: the work, and the checks of what it touched.

namespace cuda_sim {
namespace {

std::vector<Bytes> as_bytes(const std::vector<Range>& ranges) {
  std::vector<Bytes> result;
  result.reserve(ranges.size());
  for (const Range& range : ranges) {
    result.push_back({reinterpret_cast<const void*>(range.begin), range.bytes()});  // NOLINT(performance-no-int-to-ptr)
  }
  return result;
}

void append(std::vector<Range>& to, const std::vector<Range>& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace

std::uint64_t Simulator::source_hash(const Operation& operation) const {
  const Range& source = operation.pinned_source;
  const Allocation* allocation = source.bytes() == 0 ? nullptr : memory_.find(source.begin);
  // Where devices write too, a change says nothing about the host.
  if (allocation == nullptr || written_by_devices_.contains(allocation->id)) return 0;
  const auto* data = reinterpret_cast<const char*>(source.begin);  // NOLINT(performance-no-int-to-ptr)
  return std::hash<std::string_view>{}({data, source.bytes()}) | 1U;
}

void Simulator::check_source(const Operation& operation, std::uint64_t hash) {
  if (hash == 0) return;
  const std::uint64_t now = source_hash(operation);
  if (now != 0 && now != hash) {
    found("the host changed " + memory_.describe(operation.pinned_source) + " while '" + operation.name +
          "', which reads them, was pending");
  }
}

void Simulator::check_order(const Operation& operation, Point point, const KernelAccesses& accesses) {
  names_[point] = operation.name + " on device " + std::to_string(operation.device);
  bool writes = false;
  const auto report = [&](Point earlier, const Range& bytes, bool earlier_wrote) {
    found("not ordered: '" + names_[earlier] + "' " + (earlier_wrote ? "writes " : "reads ") + "and '" + names_[point] +
          "' " + (writes ? "writes " : "reads ") + memory_.describe(bytes));
  };
  for (const Range& range : accesses.reads) history_.read(point, range, report);
  writes = true;
  for (const Range& range : accesses.writes) {
    history_.write(point, range, report);
    const Allocation* allocation = memory_.find(range.begin);
    if (allocation != nullptr && allocation->space == host_space) written_by_devices_.insert(allocation->id);
  }
}

void Simulator::check_declared(const Operation& operation, const KernelAccesses& accesses) {
  if (operation.declared == nullptr) return;
  const Declared& declared = *operation.declared;
  std::vector<Range> readable = declared.reads;
  append(readable, declared.writes);
  for (const Range& range : uncovered(accesses.reads, merged(readable))) {
    found("'" + operation.name + "' reads what it does not declare: " + memory_.describe(range));
  }
  for (const Range& range : uncovered(accesses.writes, declared.writes)) {
    found("'" + operation.name + "' writes what it does not declare: " + memory_.describe(range));
  }
}

void Simulator::log(const Operation& operation, Point point, const KernelAccesses& accesses) {
  check_declared(operation, accesses);
  ran_.push_back({operation.name, operation.device, as_bytes(accesses.reads), as_bytes(accesses.writes)});
  if (operation.declared == nullptr) {
    check_order(operation, point, accesses);
    return;
  }
  KernelAccesses all = accesses;
  append(all.reads, operation.declared->reads);
  append(all.writes, operation.declared->writes);
  all.reads = merged(std::move(all.reads));
  all.writes = merged(std::move(all.writes));
  check_order(operation, point, all);
}

Point Simulator::execute(const Operation& operation, int chain, const std::vector<After>& after) {
  const Point point = order_.add(chain, after);
  KernelAccesses accesses{.reads = operation.reads, .writes = operation.writes};
  if (must_fail(operation)) fail_device(operation.device, cudaErrorLaunchFailure, {});
  // A device that has failed does nothing more, and forgets what it was told to do.
  if (fault(operation.device) == cudaSuccess) {
    operation.body(accesses);
    log(operation, point, accesses);
  }
  return point;
}

Point Simulator::execute(Rendezvous& rendezvous) {
  if (rendezvous.done) return rendezvous.point;
  rendezvous.done = true;
  rendezvous.point = order_.add(rendezvous.chain, rendezvous.after);
  if (rendezvous.clique->aborted) return rendezvous.point;
  bool works = true;
  for (const Operation* part : rendezvous.parts) {
    if (must_fail(*part)) fail_device(part->device, cudaErrorLaunchFailure, {});
    works = works && fault(part->device) == cudaSuccess;
  }
  if (!works) return rendezvous.point;
  const std::string mistake = run(rendezvous);
  if (!mistake.empty()) found(mistake);
  for (const Operation* part : rendezvous.parts) {
    log(*part, rendezvous.point, {.reads = part->reads, .writes = part->writes});
  }
  return rendezvous.point;
}

const std::string& Simulator::kernel_name(const void* kernel) {
  std::string& name = kernel_names_[kernel];
  if (name.empty()) name = function_name(kernel);
  return name;
}

void Simulator::run_kernel(const Grid& grid, Space device, const Range& arguments, KernelAccesses& accesses) {
  watch_.start(device, arguments);
  const std::string failure = runner_.run(grid, random_(), [this] { watch_.end_block(); });
  KernelAccesses touched = watch_.finish();
  if (!failure.empty()) fail_device(device, runner_.failure_code(), failure);
  if (watch_.take_unset_reads()) found(grid.name + " reads shared memory that no thread of the block wrote before");
  auto& count = kernels_[grid.name];
  count.name = grid.name;
  ++count.launches;
  count.bytes_read += total_bytes(touched.reads);
  count.bytes_written += total_bytes(touched.writes);
  count.bytes_loaded += touched.bytes_loaded;
  count.bytes_stored += touched.bytes_stored;
  accesses = std::move(touched);
}

}  // namespace cuda_sim
