#pragma once

#include <cstdint>

#include "tr/base/dtype.h"
#include "tr/base/region.h"
#include "tr/base/shape.h"

namespace tr {

/// One tensor of a plan: a descriptor with the same id on every rank, never a pointer. `offset` counts bytes from the
/// start of the arena of its region and is −1 until the memory plan has placed it.
struct DTensor {
  int id = -1;
  Shape shape;
  DType dtype = DType::fp32;
  Region region = Region::t_temp;
  std::int64_t offset = -1;

  constexpr Arena arena() const { return arena_of(region); }
  constexpr std::int64_t bytes() const { return shape.size() * static_cast<std::int64_t>(bytes_of(dtype)); }

  friend constexpr bool operator==(const DTensor&, const DTensor&) = default;
};

}  // namespace tr
