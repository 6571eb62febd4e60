#pragma once

#include <limits>

#include "tr/algo/init_config.h"
#include "tr/base/error.h"
#include "tr/base/math.h"
#include "tr/base/region.h"

namespace tr {

namespace detail {

[[noreturn]] void reject_kind(const char* layer, InitKind kind, const char* legal);
[[noreturn]] void reject_missing_value(const char* layer, InitKind kind);
[[noreturn]] void reject_needless_value(const char* layer, InitKind kind, double value);

constexpr bool takes_value(InitKind kind) { return kind == InitKind::constants || kind == InitKind::fixed_normal; }
constexpr bool is_kaiming(InitKind kind) {
  return kind == InitKind::kaiming_normal || kind == InitKind::kaiming_uniform;
}

}  // namespace detail

/// How parameters start, by kind of layer; the plan asks once for every region. Satisfies `InitPolicy`.
class Initializer final {
 public:
  /// The weights of convolutions; trunc_normal by default. Throws ValueError for constants and fixed_normal, which take
  /// a value, and for standard and zero_gamma, which are for bn.
  constexpr Initializer& conv(InitKind kind) {
    conv_ = checked("conv", kind);
    return *this;
  }
  /// constants with their value, or fixed_normal with its standard deviation. Throws ValueError for the other kinds, a
  /// value that no float holds, a subnormal one and a negative deviation.
  constexpr Initializer& conv(InitKind kind, double value) {
    conv_ = checked("conv", "the value of conv", "the standard deviation of conv", {value, kind});
    return *this;
  }

  /// The weights of fully connected layers; kaiming_uniform by default. The same kinds as for conv.
  constexpr Initializer& fc(InitKind kind) {
    fc_ = checked("fc", kind);
    return *this;
  }
  constexpr Initializer& fc(InitKind kind, double value) {
    fc_ = checked("fc", "the value of fc", "the standard deviation of fc", {value, kind});
    return *this;
  }

  /// Batch normalisation: standard, the default, starts γ at 1 and β at 0; zero_gamma starts the last γ of each
  /// residual branch at 0, so that a block begins as its shortcut (Goyal et al. 2017, section 5.1). Throws ValueError
  /// for the other kinds.
  constexpr Initializer& bn(InitKind kind) {
    if (kind != InitKind::standard && kind != InitKind::zero_gamma) {
      detail::reject_kind("bn", kind, "standard or zero_gamma");
    }
    bn_ = kind;
    return *this;
  }

  /// fan_in by default, which keeps the variance of activations; fan_out keeps that of gradients.
  constexpr Initializer& fan(FanMode mode) {
    if (mode > FanMode::fan_avg) value_error("fan", static_cast<int>(mode), "fan_in, fan_out or fan_avg");
    fan_ = mode;
    return *this;
  }

  /// Multiplies the gain of the Kaiming and Xavier kinds and is the variance scale of trunc_normal; 1 by default.
  constexpr Initializer& scale(double value) {
    if (!(value >= detail::smallest_scale && value <= detail::largest_scale)) {
      value_error("scale", value, "1.1754944e-38 to 1.0633824e+37");
    }
    scale_ = value;
    return *this;
  }

  /// The slope of a leaky ReLU below zero (He et al. 2015, section 2.2); 0, a plain ReLU, by default.
  constexpr Initializer& kaiming_a(double slope) {
    constexpr double largest = std::numeric_limits<float>::max();
    if (!(slope >= 0.0 && slope <= largest)) value_error("kaiming_a", slope, "0 to 3.4028235e+38");
    kaiming_a_ = slope;
    return *this;
  }

  /// What a tensor of this region starts with, in three stages. What no setting reaches: biases, moments and running
  /// means start with 0, running variances with 1, and nothing is done to what else is no parameter (memory comes
  /// zeroed; an average starts as a copy of its weight). Scales: those of equalisation and γ start with 1, zero_gamma
  /// or not, since a region does not say where a branch ends. Weights: by conv, fc, fan, scale and kaiming_a. Throws
  /// ValueError when scale and kaiming_a together make a gain that is no normal float.
  constexpr InitConfig derive(Region region) const {
    constexpr InitConfig zeros{0.0F, InitKind::zeros, FanMode::fan_in};
    constexpr InitConfig ones{1.0F, InitKind::constants, FanMode::fan_in};
    const bool is_scale = region == Region::w_bn_weight || region == Region::w_eq_scale;

    if (region == Region::b_variance) return ones;
    if (is_moment(region) || region == Region::b_mean || region == Region::w_eq_bias) return zeros;
    if (is_bias(region) && !is_scale) return zeros;
    if (!is_parameter(region) && !is_scale) return {1.0F, InitKind::none, FanMode::fan_in};

    if (is_scale) return ones;

    return region == Region::w_fc_weight ? config_of("the gain of fc, scale * sqrt(2 / (1 + kaiming_a^2)),", fc_)
                                         : config_of("the gain of conv, scale * sqrt(2 / (1 + kaiming_a^2)),", conv_);
  }

  constexpr InitConfig config(Region region) const { return derive(region); }

  /// Whether the last γ of each residual branch starts at 0 instead of what derive() says.
  constexpr bool is_zero_gamma() const { return bn_ == InitKind::zero_gamma; }

 private:
  struct Weights {
    double value = 0.0;
    InitKind kind = InitKind::none;
  };

  static constexpr void check_kind(const char* layer, InitKind kind) {
    if (kind >= InitKind::standard) {
      detail::reject_kind(layer, kind, "any kind but standard and zero_gamma, which are for bn");
    }
  }

  static constexpr Weights checked(const char* layer, InitKind kind) {
    check_kind(layer, kind);
    if (detail::takes_value(kind)) detail::reject_missing_value(layer, kind);
    return {0.0, kind};
  }

  static constexpr Weights checked(const char* layer, const char* constant, const char* deviation,
                                   const Weights& weights) {
    check_kind(layer, weights.kind);
    if (!detail::takes_value(weights.kind)) detail::reject_needless_value(layer, weights.kind, weights.value);
    if (!detail::is_legal_scale(weights.kind, weights.value)) {
      value_error(weights.kind == InitKind::constants ? constant : deviation, weights.value,
                  detail::legal_scales(weights.kind));
    }
    return weights;
  }

  constexpr InitConfig config_of(const char* gain_name, const Weights& weights) const {
    if (detail::takes_value(weights.kind)) return {static_cast<float>(weights.value), weights.kind, fan_};
    const double factor = detail::is_kaiming(weights.kind) ? math::sqrt(2.0 / (1.0 + kaiming_a_ * kaiming_a_)) : 1.0;
    const double gain = scale_ * factor;
    if (!detail::is_legal_scale(weights.kind, gain)) value_error(gain_name, gain, detail::legal_scales(weights.kind));
    return {static_cast<float>(gain), weights.kind, fan_};
  }

  Weights conv_{0.0, InitKind::trunc_normal};
  Weights fc_{0.0, InitKind::kaiming_uniform};
  double scale_ = 1.0;
  double kaiming_a_ = 0.0;
  InitKind bn_ = InitKind::standard;
  FanMode fan_ = FanMode::fan_in;
};

}  // namespace tr
