#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/cuda_sim/src/block.h"
#include "tests/cuda_sim/src/memory.h"
#include "tests/cuda_sim/src/shared_memory.h"
#include "tests/cuda_sim/src/touched.h"

namespace cuda_sim {

/// What a kernel read and wrote in device and pinned memory.
struct KernelAccesses {
  std::vector<Range> reads, writes;
  std::size_t bytes_loaded = 0;  // each access counts, also of bytes that were read before
  std::size_t bytes_stored = 0;
};

/// Looks at each access of the kernel that runs: to device memory, which it notes; to shared memory, where it finds
/// races; to memory that a kernel on a GPU could not reach, where it ends the kernel with an error.
class Watch {
 public:
  Watch(const Memory& memory, BlockRunner& runner);

  void allocated(const Allocation& allocation) { touched(allocation.space).set_valid(allocation.range, true); }
  void freed(const Allocation& allocation) { touched(allocation.space).set_valid(allocation.range, false); }

  void start(Space device, const Range& arguments);
  void end_block() { shared_.end_block(); }
  bool take_unset_reads() { return shared_.take_unset_reads(); }
  KernelAccesses finish();

  /// On the kernel's fiber.
  void access(Address address, std::size_t bytes, bool write, bool atomic);
  /// The same, and ends the kernel if the address is no multiple of the size.
  void aligned_access(Address address, std::size_t bytes, bool write) {
    if (address % bytes != 0) misaligned(address, bytes);
    access(address, bytes, write, false);
  }

 private:
  Touched& touched(Space space) { return *touched_[place(space)]; }
  void access_elsewhere(Address address, std::size_t bytes, bool write, bool atomic);
  void access_shared(Address address, std::size_t bytes, bool write, bool atomic);
  [[noreturn]] void stray(Address address, std::size_t bytes, bool write);
  [[noreturn]] void misaligned(Address address, std::size_t bytes);

  const Memory& memory_;
  BlockRunner& runner_;
  std::vector<std::unique_ptr<Touched>> touched_;  // of the host, then of each device
  SharedMemory shared_;
  std::vector<Range> statics_;  // where the program and its libraries have their variables
  Range stacks_;

  const Window* window_ = nullptr;
  Touched* local_ = nullptr;
  Range arguments_;
  std::size_t loaded_ = 0, stored_ = 0;
};

}  // namespace cuda_sim
