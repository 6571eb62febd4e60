#pragma once

#include <span>
#include <vector>

#include "tr/base/aligned.h"
#include "tr/plan/plan.h"

namespace tr {

/// The memory of a run in one process: the shared arena once, a local arena for every rank, each of exactly the bytes
/// that its plan says.
class Arenas {
 public:
  /// One layout a rank; the plans of ranks differ in rows alone, so the first one's shared arena serves all.
  explicit Arenas(std::span<const MemoryPlan> layouts);

  int ranks() const { return static_cast<int>(local_.size()); }
  std::byte* address(const DTensor& tensor, int rank) const;

  template <class T>
  T* at(const DTensor& tensor, int rank) const {
    return reinterpret_cast<T*>(address(tensor, rank));
  }
  std::span<std::byte> shared() const { return shared_.bytes(); }
  std::span<std::byte> local(int rank) const { return local_[static_cast<std::size_t>(rank)].bytes(); }

 private:
  AlignedBuffer shared_;
  std::vector<AlignedBuffer> local_;
};

}  // namespace tr
