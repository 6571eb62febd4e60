#pragma once

#include <cstdint>

namespace tr {

/// A contiguous part of something that is shared out.
struct Slice {
  std::int64_t first = 0;
  std::int64_t count = 0;

  friend constexpr bool operator==(const Slice&, const Slice&) = default;
};

/// The share of `part` when `total` things are split over `parts`: shares follow each other, cover everything and
/// differ by at most one; a share is empty where there are more parts than things.
constexpr Slice slice_of(std::int64_t total, std::int64_t part, std::int64_t parts) {
  const std::int64_t first = total * part / parts;
  return {first, total * (part + 1) / parts - first};
}

}  // namespace tr
