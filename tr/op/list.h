#pragma once

#include <cstdint>

#include "tr/op/fc.h"
#include "tr/op/flatten.h"
#include "tr/op/layer.h"
#include "tr/op/relu.h"

namespace tr {

/// The layers there are; a new one is a line here, in `LayerRecord` and in `visit`.
enum class LayerKind : std::uint8_t { flatten, fc, relu };

/// A layer of any kind as a plain record: what a blueprint holds, so that its type depends on its length alone.
struct LayerRecord {
  LayerKind kind = LayerKind::flatten;
  union {
    Flatten flatten;
    Fc fc;
    Relu relu;
  };

  constexpr LayerRecord() : flatten{} {}
  constexpr LayerRecord(Flatten layer)
      : kind(LayerKind::flatten), flatten(layer) {}                          // NOLINT: layers convert to records
  constexpr LayerRecord(Fc layer) : kind(LayerKind::fc), fc(layer) {}        // NOLINT
  constexpr LayerRecord(Relu layer) : kind(LayerKind::relu), relu(layer) {}  // NOLINT
};

/// Calls `f` with the layer that the record holds.
template <class F>
constexpr auto visit(const LayerRecord& record, F&& f) {
  switch (record.kind) {
    case LayerKind::flatten: return f(record.flatten);
    case LayerKind::fc: return f(record.fc);
    case LayerKind::relu: break;
  }
  return f(record.relu);
}

static_assert(Layer<Flatten> && Layer<Fc> && Layer<Relu>);

}  // namespace tr
