#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tr/base/dtype.h"
#include "tr/data/dataset.h"

namespace tr {

/// Turns decoded pixels into what the network reads, in one pass: (pixel/255 - mean)/std, computed in double, rounded
/// to fp32 once and from there, where asked, to bf16 or fp16. A pixel has 256 values, so the pass is a table look-up a
/// channel: the result of a pixel depends on nothing around it.
class FusedNormalization {
 public:
  /// `channels` is 1 to 4, `type` fp32, bf16 or fp16. Throws ValueError for others, for a standard deviation that is
  /// not positive and finite, and for a mean that is not finite.
  FusedNormalization(const Normalization& normalization, int channels, DType type);

  /// Writes pixels.size() elements to `out`, in the pixels' order; the channel is the innermost dimension.
  void apply(std::span<const std::uint8_t> pixels, std::byte* out) const;

  DType type() const { return type_; }

 private:
  int channels_;
  DType type_;
  /// One of the two is filled, as [channel][pixel].
  std::vector<float> fp32_;
  std::vector<std::uint16_t> half_;
};

}  // namespace tr
