#pragma once

#include <cstddef>
#include <memory>

namespace tr {

/// Memory of the device that was current when it was made; its content is undefined. Move-only.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Throws DeviceError when the memory cannot be had, naming the size.
  explicit DeviceBuffer(std::size_t bytes);

  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };

  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

/// Zeroed memory of the host that devices read and write by themselves. Move-only.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  /// Throws DeviceError when the memory cannot be had, naming the size.
  explicit PinnedBuffer(std::size_t bytes);

  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };

  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace tr
