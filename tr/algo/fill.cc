#include "tr/algo/fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "tr/base/error.h"
#include "tr/base/philox.h"

namespace tr {
namespace {

/// Calls `value_of` with a uniform number for each element, a whole block of draws at a time.
template <class ValueOf>
void draw(std::span<float> values, std::int64_t first, const RandomStream& stream, const ValueOf& value_of) {
  auto element = static_cast<std::uint64_t>(first);
  std::size_t i = 0;
  while (i < values.size()) {
    const auto words = stream.block(element / 4);
    do {
      values[i++] = static_cast<float>(value_of(uniform(words[element % 4])));
    } while (++element % 4 != 0 && i < values.size());
  }
}

}  // namespace

void fill_part(std::span<float> values, std::int64_t first, const Shape& krsc, InitConfig config, std::uint64_t seed,
               std::uint32_t parameter_id) {
  const auto count = static_cast<std::int64_t>(values.size());
  if (first < 0 || count > krsc.size() || first > krsc.size() - count) {
    throw ShapeError(fmt::format("the elements {} to {} are asked of parameter {}, which has {}", first, first + count,
                                 parameter_id, krsc.size()));
  }
  const double spread = spread_of(config, krsc);
  const RandomStream stream(seed, Purpose::init, parameter_id);
  switch (config.kind) {
    case InitKind::none: return;
    case InitKind::zeros: std::ranges::fill(values, 0.0F); return;
    case InitKind::constants: std::ranges::fill(values, config.scale); return;
    case InitKind::kaiming_normal:
    case InitKind::xavier_normal:
    case InitKind::fixed_normal: return draw(values, first, stream, [=](double u) { return spread * normal_from(u); });
    case InitKind::kaiming_uniform:
    case InitKind::xavier_uniform:
      return draw(values, first, stream, [=](double u) { return spread * (2.0 * u - 1.0); });
    case InitKind::trunc_normal:
      return draw(values, first, stream, [=](double u) { return spread * truncated_normal_from(u); });
  }
}

void fill(std::span<float> values, const Shape& krsc, InitConfig config, std::uint64_t seed,
          std::uint32_t parameter_id) {
  if (static_cast<std::int64_t>(values.size()) != krsc.size()) {
    throw ShapeError(
        fmt::format("parameter {} has {} elements, there is room for {}", parameter_id, krsc.size(), values.size()));
  }
  fill_part(values, 0, krsc, config, seed, parameter_id);
}

}  // namespace tr
