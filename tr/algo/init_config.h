#pragma once

#include <cstdint>
#include <string_view>

namespace tr {

/// How the first values of a tensor are made; fill() has the formulas.
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
};

inline constexpr int init_kind_count = static_cast<int>(InitKind::fixed_normal) + 1;

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

}  // namespace tr
