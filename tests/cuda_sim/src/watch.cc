#include "tests/cuda_sim/src/watch.h"

#include <link.h>

#include <algorithm>

namespace cuda_sim {
namespace {

int add_segments(dl_phdr_info* info, std::size_t, void* to) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const Address begin = info->dlpi_addr + header.p_vaddr;
    static_cast<std::vector<Range>*>(to)->push_back({begin, begin + header.p_memsz});
  }
  return 0;
}

bool holds(const std::vector<Range>& ranges, Address address) {
  const auto next = std::upper_bound(ranges.begin(), ranges.end(), address,
                                     [](Address value, const Range& range) { return value < range.begin; });
  return next != ranges.begin() && std::prev(next)->contains(address);
}

}  // namespace

Watch::Watch(const Memory& memory, BlockRunner& runner) : memory_(memory), runner_(runner), stacks_(runner.stacks()) {
  for (const auto& window : memory.windows()) touched_.push_back(std::make_unique<Touched>(window->begin()));
}

void Watch::start(Space device, const Range& arguments) {
  if (statics_.empty()) {
    dl_iterate_phdr(add_segments, &statics_);
    statics_ = merged(statics_);
  }
  window_ = memory_.windows()[place(device)].get();
  local_ = &touched(device);
  arguments_ = arguments;
  loaded_ = stored_ = 0;
  for (const auto& each : touched_) each->start();
  shared_.end_block();
  shared_.take_unset_reads();
}

KernelAccesses Watch::finish() {
  KernelAccesses result{.bytes_loaded = loaded_, .bytes_stored = stored_};
  for (Touched* part : {local_, touched_.front().get()}) {
    for (const Range& range : part->collect(false)) result.reads.push_back(range);
    for (const Range& range : part->collect(true)) result.writes.push_back(range);
  }
  result.reads = merged(std::move(result.reads));
  result.writes = merged(std::move(result.writes));
  window_ = nullptr;
  return result;
}

void Watch::access(Address address, std::size_t bytes, bool write, bool atomic) {
  if (window_ == nullptr) return;
  if (!window_->contains(address)) {
    access_elsewhere(address, bytes, write, atomic);
    return;
  }
  if (atomic) {
    if (!local_->access(address, bytes, false)) stray(address, bytes, write);
    loaded_ += bytes;
  }
  if (!local_->access(address, bytes, write)) stray(address, bytes, write);
  (write ? stored_ : loaded_) += bytes;
}

void Watch::access_elsewhere(Address address, std::size_t bytes, bool write, bool atomic) {
  if (stacks_.contains(address) || arguments_.contains(address)) return;
  if (holds(statics_, address)) {
    access_shared(address, bytes, write, atomic);
    return;
  }
  if (!memory_.windows().front()->contains(address)) stray(address, bytes, write);
  Touched& pinned = *touched_.front();
  if (!pinned.access(address, bytes, write) || (atomic && !pinned.access(address, bytes, false))) {
    stray(address, bytes, write);
  }
  (write ? stored_ : loaded_) += bytes;
}

void Watch::access_shared(Address address, std::size_t bytes, bool write, bool atomic) {
  const std::uint32_t thread = runner_.thread();
  const auto rival = shared_.access(address, bytes, write, {thread, runner_.barriers(), runner_.warp_steps(), atomic});
  if (rival) {
    runner_.fail("a race in shared memory: the " + std::to_string(*rival) + "-th thread and the " +
                 std::to_string(thread) + "-th " + (write ? "write" : "read") +
                 " the same bytes with no barrier between");
  }
  if (shared_.written_bytes() > SharedMemory::most_bytes) runner_.fail("more than 48 KiB of shared memory");
}

void Watch::stray(Address address, std::size_t bytes, bool write) {
  runner_.fail(
      std::string("a stray ") + (write ? "write" : "read") + ": " + memory_.describe({address, address + bytes}),
      cudaErrorIllegalAddress);
}

void Watch::misaligned(Address address, std::size_t bytes) {
  runner_.fail("an access of " + std::to_string(bytes) +
                   " bytes that is not aligned: " + memory_.describe({address, address + bytes}),
               cudaErrorMisalignedAddress);
}

}  // namespace cuda_sim
