#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "vector_types.h"

// What a kernel may call to meet other threads. The built-in variables are global because CUDA's are; they are constant
// for the thread that reads them, and the stand-in sets them each time it turns to another one.
extern const uint3 threadIdx;
extern const uint3 blockIdx;
extern const dim3 blockDim;
extern const dim3 gridDim;
inline constexpr int warpSize = 32;

namespace cuda_sim {

/// Waits for the block's threads.
void block_barrier();
/// Waits for the lanes of the warp.
void warp_barrier(unsigned mask);
/// Waits for the lanes of the warp; the value that the lane `source` brings.
std::uint64_t shuffle_bits(unsigned mask, std::uint64_t value, unsigned source);
/// Waits for the lanes of the warp; a bit for each whose predicate holds.
unsigned vote(unsigned mask, bool predicate);
/// The calling thread's place in its warp.
unsigned lane();
/// Ends the kernel as a failed assertion does.
[[noreturn]] void trap();
/// An atomic access of a kernel: both a read and a write.
void touch_atomic(const void* address, std::size_t bytes);

/// The value that the lane `source` brings.
template <class T>
T shuffle(unsigned mask, T value, unsigned source) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = shuffle_bits(mask, bits, source);
  T result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

// Not instrumented: its two accesses are one, and atomic.
template <class T, class Update>
__attribute__((no_sanitize("thread"))) T atomic_update(T* address, Update update) {
  touch_atomic(address, sizeof(T));
  const T old = *address;
  *address = update(old);
  return old;
}

}  // namespace cuda_sim

inline void __syncthreads() { cuda_sim::block_barrier(); }
inline void __syncwarp(unsigned mask = 0xffffffffU) { cuda_sim::warp_barrier(mask); }
inline void __threadfence() {}
inline void __threadfence_block() {}
[[noreturn]] inline void __trap() { cuda_sim::trap(); }

// width parts the warp into groups of 2, 4, 8, 16 or 32 lanes; a source outside the group is the thread itself.
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
  const unsigned group = cuda_sim::lane() & ~static_cast<unsigned>(width - 1);
  return cuda_sim::shuffle(mask, value, group + (static_cast<unsigned>(source) & static_cast<unsigned>(width - 1)));
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize) {
  const unsigned lane = cuda_sim::lane(), source = lane ^ static_cast<unsigned>(lane_mask);
  const unsigned end = (lane & ~static_cast<unsigned>(width - 1)) + static_cast<unsigned>(width);
  return cuda_sim::shuffle(mask, value, source < end ? source : lane);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const unsigned lane = cuda_sim::lane(), within = lane & static_cast<unsigned>(width - 1);
  return cuda_sim::shuffle(mask, value, within + delta < static_cast<unsigned>(width) ? lane + delta : lane);
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const unsigned lane = cuda_sim::lane(), within = lane & static_cast<unsigned>(width - 1);
  return cuda_sim::shuffle(mask, value, within >= delta ? lane - delta : lane);
}

inline unsigned __ballot_sync(unsigned mask, int predicate) { return cuda_sim::vote(mask, predicate != 0); }
inline int __any_sync(unsigned mask, int predicate) { return cuda_sim::vote(mask, predicate != 0) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return cuda_sim::vote(mask, predicate != 0) == mask; }

template <class T>
T __ldg(const T* address) {
  return *address;
}

template <class T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  return cuda_sim::atomic_update(address, [value](T old) { return static_cast<T>(old + value); });
}
template <class T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T>, "CUDA has atomicMax for integers only");
  return cuda_sim::atomic_update(address, [value](T old) { return old > value ? old : value; });
}
template <class T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T>, "CUDA has atomicMin for integers only");
  return cuda_sim::atomic_update(address, [value](T old) { return old < value ? old : value; });
}
template <class T>
T atomicOr(T* address, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T>, "CUDA has atomicOr for integers only");
  return cuda_sim::atomic_update(address, [value](T old) { return static_cast<T>(old | value); });
}
template <class T>
T atomicExch(T* address, std::type_identity_t<T> value) {
  return cuda_sim::atomic_update(address, [value](T) { return value; });
}
template <class T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return cuda_sim::atomic_update(address, [expected, value](T old) { return old == expected ? value : old; });
}
