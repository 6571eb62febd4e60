#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tr/exec/cuda_memory.h"

namespace tr {

/// Memory of a device that a run needs beyond its plan: its size is known only when every operation was prepared.
class CudaAnnex {
 public:
  /// Sets bytes aside and gives their place for at(); before allocate().
  std::int64_t reserve(std::int64_t bytes);
  /// Allocates what was reserved, zeroed. Throws DeviceError, saying how much is free and how much is needed.
  void allocate(int device);

  std::int64_t size() const { return size_; }
  template <class T>
  T* at(std::int64_t place) const {
    return reinterpret_cast<T*>(buffer_.data() + place);
  }
  /// Copies to the device, at once.
  void upload(std::int64_t place, std::span<const std::byte> from) const;

 private:
  std::int64_t size_ = 0;
  DeviceBuffer buffer_;
};

}  // namespace tr
