#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace tr {

/// Every tensor starts on this boundary; four cache lines, and what cuBLASLt and NCCL like best.
inline constexpr std::size_t alignment = 256;

constexpr std::int64_t align_up(std::int64_t bytes) {
  constexpr auto a = static_cast<std::int64_t>(alignment);
  return (bytes + a - 1) / a * a;
}

/// A zeroed block of memory that starts on an `alignment` boundary; move-only.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~AlignedBuffer();
  /// Throws Error when the memory cannot be had, naming the size.
  explicit AlignedBuffer(std::size_t bytes);

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {data(), size()}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tr
