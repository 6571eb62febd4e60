#pragma once

#include <cstdint>
#include <string_view>

#include "tr/op/layer.h"

namespace tr {

/// [n, h, w, c] → [n, 1, 1, h·w·c], in the order h, w, c. Memory is already in that order, so no node is made of it.
struct Flatten {
  static constexpr std::string_view name = "flatten";

  constexpr void describe(TextBuilder& text) const { text << "flatten()"; }
  constexpr void check(const Shape& in, TextBuilder& why) const {
    if (in.sample_size() > INT32_MAX) why << "a sample of more than 2147483647 values cannot be flattened";
  }
  constexpr Shape output(const Shape& in) const { return {in.n, 1, 1, static_cast<int>(in.sample_size())}; }
  constexpr std::int64_t parameter_count(const Shape&) const { return 0; }
  constexpr std::int64_t forward_flops(const Shape&) const { return 0; }

  constexpr bool keeps_output(const Site&) const { return false; }
  constexpr void parameters(GraphBuilder&, const Site&, LayerTensors&) const {}
  constexpr int forward(GraphBuilder&, const Site&, LayerTensors& ids) const { return ids.output = ids.input; }
  constexpr int backward(GraphBuilder&, const Site&, const LayerTensors&, int gradient) const { return gradient; }
};

constexpr Flatten flatten() { return {}; }

}  // namespace tr
