#pragma once

#include <cstdint>

#include "tr/base/text.h"

namespace tr {

/// Four dimensions, always NHWC for activations and KRSC for weights ([out, kernel height, kernel width, in]); a fully
/// connected weight is [out, 1, 1, in], a bias [1, 1, 1, out]. The last dimension is contiguous, rows are not padded.
struct Shape {
  int n = 1;
  int h = 1;
  int w = 1;
  int c = 1;

  /// Number of elements; 64 bits, because rows × classes alone can pass 2^32.
  constexpr std::int64_t size() const { return std::int64_t{n} * sample_size(); }
  /// Number of elements of one row of the first dimension.
  constexpr std::int64_t sample_size() const { return std::int64_t{h} * w * c; }
  constexpr bool is_flat() const { return h == 1 && w == 1; }
  constexpr Shape with_rows(int rows) const { return {rows, h, w, c}; }

  friend constexpr bool operator==(const Shape&, const Shape&) = default;
};

/// Appends the shape of one sample: "28x28x1", or "10" where height and width are 1.
constexpr TextBuilder& append_sample_shape(TextBuilder& text, const Shape& shape) {
  if (!shape.is_flat()) text << shape.h << "x" << shape.w << "x";
  return text << shape.c;
}

}  // namespace tr
