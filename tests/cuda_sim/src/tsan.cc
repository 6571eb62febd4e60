#include "cuda_sim/tsan.h"

#include "cuda_sim/device.h"
#include "tests/cuda_sim/src/hooks.h"

namespace {

using cuda_sim::Address;
using cuda_sim::hooks;

// Host functions beside the kernels are instrumented too, and other threads may be in them while a kernel runs: only
// what runs on a fiber is a kernel.
bool in_kernel() { return hooks.stacks.contains(reinterpret_cast<Address>(__builtin_frame_address(0))); }

void touch(const void* address, std::size_t bytes, bool write) {
  if (in_kernel()) hooks.watch->access(reinterpret_cast<Address>(address), bytes, write, false);
}

void touch_aligned(const void* address, std::size_t bytes, bool write) {
  if (in_kernel()) hooks.watch->aligned_access(reinterpret_cast<Address>(address), bytes, write);
}

}  // namespace

namespace cuda_sim {

Hooks hooks;

void block_barrier() { hooks.runner->block_barrier(); }

void warp_barrier(unsigned mask) { hooks.runner->warp_exchange(WarpOperation::barrier, mask, 0); }

std::uint64_t shuffle_bits(unsigned mask, std::uint64_t value, unsigned source) {
  return hooks.runner->warp_exchange(WarpOperation::shuffle, mask, value)[source % 32];
}

unsigned vote(unsigned mask, bool predicate) {
  const std::uint64_t* all = hooks.runner->warp_exchange(WarpOperation::vote, mask, predicate ? 1 : 0);
  unsigned result = 0;
  for (unsigned i = 0; i < 32; ++i) result |= static_cast<unsigned>(all[i]) << i;
  return result;
}

unsigned lane() { return hooks.runner->thread() % 32; }

void trap() { hooks.runner->fail("__trap()", cudaErrorLaunchFailure); }

void touch_atomic(const void* address, std::size_t bytes) {
  if (hooks.instrumented) hooks.watch->access(reinterpret_cast<Address>(address), bytes, true, true);
}

}  // namespace cuda_sim

extern "C" {

void __tsan_init() { hooks.instrumented = true; }
void __tsan_func_entry(const void*) {}
void __tsan_func_exit() {}

void __tsan_read1(const void* address) { touch(address, 1, false); }
void __tsan_write1(const void* address) { touch(address, 1, true); }
void __tsan_read2(const void* address) { touch_aligned(address, 2, false); }
void __tsan_unaligned_read2(const void* address) { touch(address, 2, false); }
void __tsan_write2(const void* address) { touch_aligned(address, 2, true); }
void __tsan_unaligned_write2(const void* address) { touch(address, 2, true); }
void __tsan_read4(const void* address) { touch_aligned(address, 4, false); }
void __tsan_unaligned_read4(const void* address) { touch(address, 4, false); }
void __tsan_write4(const void* address) { touch_aligned(address, 4, true); }
void __tsan_unaligned_write4(const void* address) { touch(address, 4, true); }
void __tsan_read8(const void* address) { touch_aligned(address, 8, false); }
void __tsan_unaligned_read8(const void* address) { touch(address, 8, false); }
void __tsan_write8(const void* address) { touch_aligned(address, 8, true); }
void __tsan_unaligned_write8(const void* address) { touch(address, 8, true); }
void __tsan_read16(const void* address) { touch_aligned(address, 16, false); }
void __tsan_unaligned_read16(const void* address) { touch(address, 16, false); }
void __tsan_write16(const void* address) { touch_aligned(address, 16, true); }
void __tsan_unaligned_write16(const void* address) { touch(address, 16, true); }

void __tsan_read_range(const void* address, unsigned long bytes) { touch(address, bytes, false); }
void __tsan_write_range(const void* address, unsigned long bytes) { touch(address, bytes, true); }
void __tsan_vptr_update(void* const* address, const void*) { touch(address, sizeof *address, true); }
void __tsan_vptr_read(void* const* address) { touch(address, sizeof *address, false); }

// NOLINTBEGIN(readability-non-const-parameter): it does not see that the built-in functions write.
unsigned char __tsan_atomic8_load(const volatile unsigned char* address, int) {
  return __atomic_load_n(address, __ATOMIC_SEQ_CST);
}
void __tsan_atomic8_store(volatile unsigned char* address, unsigned char value, int) {
  __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
}
unsigned __tsan_atomic32_load(const volatile unsigned* address, int) {
  return __atomic_load_n(address, __ATOMIC_SEQ_CST);
}
void __tsan_atomic32_store(volatile unsigned* address, unsigned value, int) {
  __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
}
unsigned __tsan_atomic32_fetch_add(volatile unsigned* address, unsigned value, int) {
  return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);
}
unsigned long __tsan_atomic64_load(const volatile unsigned long* address, int) {
  return __atomic_load_n(address, __ATOMIC_SEQ_CST);
}
void __tsan_atomic64_store(volatile unsigned long* address, unsigned long value, int) {
  __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
}
unsigned long __tsan_atomic64_fetch_add(volatile unsigned long* address, unsigned long value, int) {
  return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);
}
unsigned long __tsan_atomic64_exchange(volatile unsigned long* address, unsigned long value, int) {
  return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);
}
// NOLINTEND(readability-non-const-parameter)

}  // extern "C"
