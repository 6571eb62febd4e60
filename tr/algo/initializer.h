#pragma once

#include <limits>

#include "tr/algo/init_config.h"
#include "tr/base/error.h"
#include "tr/base/math.h"
#include "tr/base/region.h"

namespace tr {

namespace detail {

[[noreturn]] void reject_missing_value(InitKind kind);
[[noreturn]] void reject_needless_value(InitKind kind, double value);

constexpr bool takes_value(InitKind kind) { return kind == InitKind::constants || kind == InitKind::fixed_normal; }
constexpr bool is_kaiming(InitKind kind) {
  return kind == InitKind::kaiming_normal || kind == InitKind::kaiming_uniform;
}

}  // namespace detail

/// How weights start, by kind of layer; the plan asks once for every region. Satisfies `InitPolicy`.
class Initializer {
 public:
  /// The weights of fully connected layers; kaiming_uniform by default. Throws ValueError for constants and
  /// fixed_normal, which take a value.
  constexpr Initializer& fc(InitKind kind) {
    check_kind("fc", kind);
    if (detail::takes_value(kind)) detail::reject_missing_value(kind);
    fc_kind_ = kind;
    return *this;
  }

  /// constants with their value, or fixed_normal with its standard deviation. Throws ValueError for the other kinds, a
  /// value that no float holds and a negative deviation.
  constexpr Initializer& fc(InitKind kind, double value) {
    check_kind("fc", kind);
    if (!detail::takes_value(kind)) detail::reject_needless_value(kind, value);
    if (!(math::abs(value) <= largest)) value_error("the value of fc", value, "-3.4028235e+38 to 3.4028235e+38");
    if (kind == InitKind::fixed_normal && value < 0.0) {
      value_error("the standard deviation of fc", value, "0 or more");
    }
    fc_kind_ = kind;
    fc_value_ = value;
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
    if (!(value > 0.0 && value <= largest)) value_error("scale", value, "above 0, at most 3.4028235e+38");
    scale_ = value;
    return *this;
  }

  /// The slope of a leaky ReLU below zero (He et al. 2015, section 2.2); 0, a plain ReLU, by default.
  constexpr Initializer& kaiming_a(double slope) {
    if (!(slope >= 0.0 && slope <= largest)) value_error("kaiming_a", slope, "0 to 3.4028235e+38");
    kaiming_a_ = slope;
    return *this;
  }

  /// What a tensor of this region starts with: biases and moments with zeros, what is no parameter with nothing (the
  /// memory comes zeroed), weights as set above.
  constexpr InitConfig derive(Region region) const {
    if (is_bias(region) || is_moment(region)) return {0.0F, InitKind::zeros, FanMode::fan_in};
    if (!is_weight(region)) return {1.0F, InitKind::none, FanMode::fan_in};
    if (detail::takes_value(fc_kind_)) return {static_cast<float>(fc_value_), fc_kind_, fan_};
    return {static_cast<float>(gain(fc_kind_)), fc_kind_, fan_};
  }

  constexpr InitConfig config(Region region) const { return derive(region); }

 private:
  static constexpr double largest = static_cast<double>(std::numeric_limits<float>::max());

  static constexpr void check_kind(const char* layer, InitKind kind) {
    if (static_cast<int>(kind) >= init_kind_count) value_error(layer, static_cast<int>(kind), "a kind of InitKind");
  }

  constexpr double gain(InitKind kind) const {
    return detail::is_kaiming(kind) ? scale_ * math::sqrt(2.0 / (1.0 + kaiming_a_ * kaiming_a_)) : scale_;
  }

  double fc_value_ = 0.0;
  double scale_ = 1.0;
  double kaiming_a_ = 0.0;
  InitKind fc_kind_ = InitKind::kaiming_uniform;
  FanMode fan_ = FanMode::fan_in;
};

}  // namespace tr
