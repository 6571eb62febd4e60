#pragma once

#include <cstddef>

namespace tr {

/// What operator new was asked for, by all threads together, while this object lives. One at a time.
class AllocationProbe {
 public:
  AllocationProbe();

  std::size_t count() const;
  /// Bytes of all blocks together.
  std::size_t bytes() const;
  /// Bytes of the largest single block.
  std::size_t largest() const;
};

}  // namespace tr
