#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "tr/exec/arenas.h"
#include "tr/exec/cuda_memory.h"
#include "tr/plan/plan.h"

namespace tr {

namespace cuda {
class DeviceGroup;
}

/// The memory of a run on one GPU: the shared arena and its rank's local arena, each of exactly the bytes that the plan
/// says, zeroed.
class CudaArenas {
 public:
  /// Makes the device the current one of the calling thread. Throws DeviceError, saying what was found and what is
  /// needed, if there is no such device, its driver or it is too old, or too little of its memory is free.
  CudaArenas(const MemoryPlan& layout, int device);
  ~CudaArenas();
  CudaArenas(CudaArenas&&) noexcept;
  CudaArenas& operator=(CudaArenas&&) noexcept;

  int device() const;
  /// Makes the device the current one of the calling thread.
  void make_current() const;

  std::byte* address(const DTensor& tensor) const;
  /// The first byte of a region.
  std::byte* address(Region region) const;
  template <class T>
  T* at(const DTensor& tensor) const {
    return reinterpret_cast<T*>(address(tensor));
  }
  template <class T>
  T* at(Region region) const {
    return reinterpret_cast<T*>(address(region));
  }
  const MemoryPlan& layout() const;

  /// Copies a tensor from or to the host, while no step is under way. Throws ShapeError if the bytes are not as many as
  /// the tensor's.
  void upload(const DTensor& tensor, std::span<const std::byte> from) const;
  void download(const DTensor& tensor, std::span<std::byte> to) const;
  /// The same for the whole shared arena.
  void upload_shared(std::span<const std::byte> from) const;
  void download_shared(std::span<std::byte> to) const;
  /// Makes every rank's shared arena that of rank 0; each rank has to call it.
  void share(const cuda::DeviceGroup& group, int rank) const;

 private:
  struct Impl;

  std::unique_ptr<Impl> impl_;
};

/// Gives every tensor its first value: the bits that init_all() gives on the host for the same seed.
void init_all(const Plan& plan, const CudaArenas& arenas, std::uint64_t seed);

/// A copy of the shared arena on the host; its local arena is empty.
Arenas download_shared(const Plan& plan, const CudaArenas& arenas);

}  // namespace tr
