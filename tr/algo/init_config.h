#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace tr {

/// How the first values of a tensor are made; spread_of() has the formulas. The last two are settings of batch
/// normalisation that no tensor carries: γ 1 and β 0, and the same but for γ 0 behind each residual branch.
enum class InitKind : std::uint8_t {
  none,
  zeros,
  constants,
  kaiming_normal,
  kaiming_uniform,
  xavier_normal,
  xavier_uniform,
  trunc_normal,
  fixed_normal,
  standard,
  zero_gamma,
};

inline constexpr int init_kind_count = static_cast<int>(InitKind::zero_gamma) + 1;

constexpr std::string_view name_of(InitKind kind) {
  switch (kind) {
    case InitKind::none: return "none";
    case InitKind::zeros: return "zeros";
    case InitKind::constants: return "constants";
    case InitKind::kaiming_normal: return "kaiming_normal";
    case InitKind::kaiming_uniform: return "kaiming_uniform";
    case InitKind::xavier_normal: return "xavier_normal";
    case InitKind::xavier_uniform: return "xavier_uniform";
    case InitKind::trunc_normal: return "trunc_normal";
    case InitKind::fixed_normal: return "fixed_normal";
    case InitKind::standard: return "standard";
    case InitKind::zero_gamma: return "zero_gamma";
  }
  return "?";
}

/// The count of connections that sets the spread: into an output, out of an input, or their mean. The Xavier kinds use
/// both whatever this says.
enum class FanMode : std::uint8_t { fan_in, fan_out, fan_avg };

/// What every tensor of a plan carries, in 8 bytes. `scale` is the gain g of the Kaiming and Xavier kinds, the variance
/// scale of trunc_normal, the standard deviation of fixed_normal and the value of constants.
struct InitConfig {
  float scale = 1.0F;
  InitKind kind = InitKind::none;
  FanMode fan = FanMode::fan_in;

  friend constexpr bool operator==(const InitConfig&, const InitConfig&) = default;
};

static_assert(sizeof(InitConfig) == 8);

namespace detail {

// Both are floats. What is smaller than the first is 0 to the threads that train, which flush subnormal numbers; no
// draw from a spread made of the second, at most 5.42 of it, leaves the floats.
inline constexpr double smallest_scale = std::numeric_limits<float>::min();
inline constexpr double largest_scale = 0x1p123;

/// Whether `scale` is one for this kind, once rounded to float.
constexpr bool is_legal_scale(InitKind kind, double scale) {
  constexpr double largest = std::numeric_limits<float>::max();
  const double magnitude = scale < 0.0 ? -scale : scale;
  switch (kind) {
    case InitKind::none:
    case InitKind::zeros: return true;
    case InitKind::constants: return scale == 0.0 || (magnitude >= smallest_scale && magnitude <= largest);
    case InitKind::fixed_normal: return scale == 0.0 || (scale >= smallest_scale && scale <= largest_scale);
    case InitKind::kaiming_normal:
    case InitKind::kaiming_uniform:
    case InitKind::xavier_normal:
    case InitKind::xavier_uniform:
    case InitKind::trunc_normal: return scale >= smallest_scale && scale <= largest_scale;
    case InitKind::standard:
    case InitKind::zero_gamma: break;
  }
  return false;
}

constexpr const char* legal_scales(InitKind kind) {
  switch (kind) {
    case InitKind::constants: return "0, or 1.1754944e-38 to 3.4028235e+38 with either sign";
    case InitKind::fixed_normal: return "0, or 1.1754944e-38 to 1.0633824e+37";
    default: return "1.1754944e-38 to 1.0633824e+37";
  }
}

}  // namespace detail

}  // namespace tr
