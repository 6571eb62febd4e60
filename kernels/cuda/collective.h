#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace tr::cuda {

enum class CollectiveType : std::uint8_t { fp32, fp64, int32 };
enum class Reduction : std::uint8_t { sum, max };

/// The part of one rank in a reduction over all ranks.
struct AllReduce {
  int rank = 0;
  /// [count]; may be the same memory.
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t count = 0;
  CollectiveType type = CollectiveType::fp32;
  Reduction reduction = Reduction::sum;
};

/// The part of one rank in a copy from rank 0 to all.
struct Broadcast {
  int rank = 0;
  /// [count]: read by rank 0, written by the others.
  void* data = nullptr;
  std::int64_t count = 0;
  CollectiveType type = CollectiveType::fp32;
};

/// GPUs of this process that compute together, one rank each, by NCCL. All ranks must call the same collectives in the
/// same order, each from a thread of its own or all within together(). In errors `operation` names the call.
class DeviceGroup {
 public:
  /// Rank i is devices[i]. Throws DeviceError if NCCL cannot join them.
  explicit DeviceGroup(std::span<const int> devices);
  ~DeviceGroup();
  DeviceGroup(DeviceGroup&&) noexcept;
  DeviceGroup& operator=(DeviceGroup&&) noexcept;

  int size() const;
  /// Every rank gets the same bits.
  void all_reduce(const AllReduce& part, std::string_view operation, cudaStream_t stream) const;
  void broadcast(const Broadcast& part, std::string_view operation, cudaStream_t stream) const;
  /// Throws DeviceError if a collective that was started on this rank has failed since.
  void require_healthy(int rank, std::string_view operation) const;
  /// Gives up what is under way, so that no rank waits for one that will not come. Nothing else may be called after.
  void abort();

 private:
  struct Communicators;

  std::unique_ptr<Communicators> communicators_;
};

namespace detail {

void start_group();
void end_group();

}  // namespace detail

/// Lets one thread call the collectives of several ranks, which would wait for each other one by one. What `calls`
/// throws is thrown on, when NCCL has taken what was called before.
template <class F>
void together(F&& calls) {
  detail::start_group();
  try {
    calls();
  } catch (...) {
    detail::end_group();
    throw;
  }
  detail::end_group();
}

}  // namespace tr::cuda
