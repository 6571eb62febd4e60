#pragma once

#include <cstdint>
#include <span>

#include "tr/algo/init_config.h"
#include "tr/base/error.h"
#include "tr/base/math.h"
#include "tr/base/shape.h"

namespace tr {

namespace detail {

[[noreturn]] void reject_fan(const Shape& krsc);

}  // namespace detail

/// Connections of a KRSC weight [K, R, S, C/groups] of a convolution in groups: fan_in = (C/groups)·R·S,
/// fan_out = (K/groups)·R·S, fan_avg their mean. (PyTorch's fan_out does not divide by the groups.) Throws ShapeError
/// for a weight without elements, ValueError when the groups do not divide K.
constexpr double fan_of(const Shape& krsc, FanMode mode, int groups = 1) {
  if (krsc.n < 1 || krsc.h < 1 || krsc.w < 1 || krsc.c < 1) detail::reject_fan(krsc);
  if (groups < 1 || krsc.n % groups != 0) value_error("groups", groups, "a positive divisor of the output channels");
  const double field = static_cast<double>(krsc.h) * krsc.w;
  const double in = krsc.c * field;
  const int outputs = krsc.n / groups;
  const double out = outputs * field;
  switch (mode) {
    case FanMode::fan_in: return in;
    case FanMode::fan_out: return out;
    case FanMode::fan_avg: return (in + out) / 2.0;
  }
  value_error("fan", static_cast<int>(mode), "fan_in, fan_out or fan_avg");
}

/// The standard deviation of the normal kinds (of trunc_normal before the cut) or the bound of the uniform ones, for a
/// KRSC weight; 0 for the kinds that draw nothing. With g = config.scale, fi = fan_in and fo = fan_out:
/// Kaiming g/√fan and g·√(3/fan) (He et al. 2015), Xavier g·√(2/(fi+fo)) and g·√(6/(fi+fo)) (Glorot, Bengio 2010),
/// trunc_normal √(g/fan), fixed_normal g. Throws as fan_of() does.
constexpr double spread_of(InitConfig config, const Shape& krsc, int groups = 1) {
  const double g = config.scale;
  const auto fan = [&] { return fan_of(krsc, config.fan, groups); };
  const auto both = [&] { return fan_of(krsc, FanMode::fan_in, groups) + fan_of(krsc, FanMode::fan_out, groups); };
  switch (config.kind) {
    case InitKind::kaiming_normal: return g / math::sqrt(fan());
    case InitKind::kaiming_uniform: return g * math::sqrt(3.0 / fan());
    case InitKind::xavier_normal: return g * math::sqrt(2.0 / both());
    case InitKind::xavier_uniform: return g * math::sqrt(6.0 / both());
    case InitKind::trunc_normal: return math::sqrt(g / fan());
    case InitKind::fixed_normal: return g;
    case InitKind::none:
    case InitKind::zeros:
    case InitKind::constants:
    case InitKind::standard:
    case InitKind::zero_gamma: break;
  }
  return 0.0;
}

/// A standard normal number from a uniform one in [0, 1], by the inverse distribution function: one draw an element,
/// unlike Box-Muller's pairs. Finite at 0 and 1 too, where it stops at ±5.42, the limits of uniform().
constexpr double normal_from(double u) {
  constexpr double step = 0x1p-25;
  return math::inverse_normal(u < step ? step : u > 1.0 - step ? 1.0 - step : u);
}

/// The same for the standard normal distribution cut off (not rescaled) at ±2, so its standard deviation is 0.8796.
constexpr double truncated_normal_from(double u) {
  constexpr double below = 0.022750131948179208;  // Φ(-2)
  const double z = math::inverse_normal(below + u * (1.0 - 2.0 * below));
  return z < -2.0 ? -2.0 : z > 2.0 ? 2.0 : z;
}

/// Gives the elements of a tensor their first values; `none` leaves them as they are. `krsc` is the shape of the whole
/// tensor, a weight in KRSC layout, of a convolution in `groups`. An element's value depends on the seed, the
/// parameter's id (below 2^24) and the element's index alone, never on its neighbours or on the order of calls. Throws
/// ShapeError when the number of values is not that of the shape, ValueError for standard and zero_gamma, which are no
/// way to fill a tensor.
void fill(std::span<float> values, const Shape& krsc, InitConfig config, std::uint64_t seed, std::uint32_t parameter_id,
          int groups = 1);

/// The same for the elements [first, first + values.size()) only: parts filled apart hold the same bits as a tensor
/// filled at once. Throws ShapeError when the range leaves the tensor.
void fill_part(std::span<float> values, std::int64_t first, const Shape& krsc, InitConfig config, std::uint64_t seed,
               std::uint32_t parameter_id, int groups = 1);

}  // namespace tr
