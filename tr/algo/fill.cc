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

[[noreturn]] void reject_fill(InitKind kind, std::uint32_t parameter_id) {
  throw ValueError(fmt::format("parameter {} is to be filled by {} (kind {}), legal is {} to {}", parameter_id,
                               name_of(kind), static_cast<int>(kind), name_of(InitKind::none),
                               name_of(InitKind::fixed_normal)));
}

}  // namespace

namespace detail {

void reject_fan(const Shape& krsc) {
  throw ShapeError(
      fmt::format("a weight of {}x{}x{}x{} has no elements, so it has no fan", krsc.n, krsc.h, krsc.w, krsc.c));
}

}  // namespace detail

void fill_part(std::span<float> values, std::int64_t first, const Shape& krsc, InitConfig config, std::uint64_t seed,
               std::uint32_t parameter_id, int groups) {
  const auto count = static_cast<std::int64_t>(values.size());
  if (first < 0 || count > krsc.size() || first > krsc.size() - count) {
    throw ShapeError(fmt::format("the elements {} to {} are asked of parameter {}, which has {}", first, first + count,
                                 parameter_id, krsc.size()));
  }
  const double spread = spread_of(config, krsc, groups);
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
    case InitKind::standard:
    case InitKind::zero_gamma: break;
  }
  reject_fill(config.kind, parameter_id);
}

void fill(std::span<float> values, const Shape& krsc, InitConfig config, std::uint64_t seed, std::uint32_t parameter_id,
          int groups) {
  if (static_cast<std::int64_t>(values.size()) != krsc.size()) {
    throw ShapeError(
        fmt::format("parameter {} has {} elements, there is room for {}", parameter_id, krsc.size(), values.size()));
  }
  fill_part(values, 0, krsc, config, seed, parameter_id, groups);
}

}  // namespace tr
