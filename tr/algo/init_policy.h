#pragma once

#include <concepts>

#include "tr/algo/init_config.h"
#include "tr/algo/initializer.h"
#include "tr/base/region.h"

namespace tr {

/// Says what the tensors of a region start with. Write one's own like those below. A policy may also say, by
/// `bool is_zero_gamma() const`, whether the last γ of each residual branch starts at 0.
template <class T>
concept InitPolicy = std::copyable<T> && requires(const T& policy, Region region) {
  { policy.config(region) } -> std::same_as<InitConfig>;
};

/// Whether the last γ of each residual branch starts at 0; not where the policy does not say so.
template <InitPolicy Policy>
constexpr bool is_zero_gamma(const Policy& policy) {
  if constexpr (requires {
                  { policy.is_zero_gamma() } -> std::same_as<bool>;
                }) {
    return policy.is_zero_gamma();
  } else {
    return false;
  }
}

namespace detail {

[[noreturn]] void reject_config(Region region, InitConfig config);

constexpr Initializer weights_by(InitKind kind) { return Initializer().conv(kind).fc(kind); }
constexpr Initializer weights_by(InitKind kind, double value) {
  return Initializer().conv(kind, value).fc(kind, value);
}

}  // namespace detail

/// What a policy says of a region, once it is something that a tensor can be filled by. Throws ValueError for standard
/// and zero_gamma, for numbers that are no enumerator, and for a scale that is not one of the kind.
template <InitPolicy Policy>
constexpr InitConfig checked_config(const Policy& policy, Region region) {
  const InitConfig config = policy.config(region);
  if (config.fan > FanMode::fan_avg || !detail::is_legal_scale(config.kind, static_cast<double>(config.scale))) {
    detail::reject_config(region, config);
  }
  return config;
}

// One kind for the weights of convolutions and fully connected layers alike, all else as `Initializer` has it. The
// limits of a setting are those of the setter there.

/// He et al. 2015, normal; `a` is the slope of a leaky ReLU below zero.
struct KaimingNormal {
  double a = 0.0;
  FanMode fan = FanMode::fan_in;

  constexpr InitConfig config(Region region) const {
    return detail::weights_by(InitKind::kaiming_normal).fan(fan).kaiming_a(a).config(region);
  }
};

/// He et al. 2015, uniform; `a` is the slope of a leaky ReLU below zero.
struct KaimingUniform {
  double a = 0.0;
  FanMode fan = FanMode::fan_in;

  constexpr InitConfig config(Region region) const {
    return detail::weights_by(InitKind::kaiming_uniform).fan(fan).kaiming_a(a).config(region);
  }
};

/// Glorot, Bengio 2010, normal.
struct XavierNormal {
  double gain = 1.0;

  constexpr InitConfig config(Region region) const {
    return detail::weights_by(InitKind::xavier_normal).scale(gain).config(region);
  }
};

/// Glorot, Bengio 2010, uniform.
struct XavierUniform {
  double gain = 1.0;

  constexpr InitConfig config(Region region) const {
    return detail::weights_by(InitKind::xavier_uniform).scale(gain).config(region);
  }
};

/// Normal of variance scale/fan, drawn inside two deviations.
struct TruncNormal {
  double scale = 1.0;
  FanMode fan = FanMode::fan_in;

  constexpr InitConfig config(Region region) const {
    return detail::weights_by(InitKind::trunc_normal).fan(fan).scale(scale).config(region);
  }
};

/// Normal of a standard deviation that no layer changes.
struct FixedNormal {
  double std = 0.01;

  constexpr InitConfig config(Region region) const {
    return detail::weights_by(InitKind::fixed_normal, std).config(region);
  }
};

/// The same value everywhere.
struct Constant {
  double value = 0.0;

  constexpr InitConfig config(Region region) const {
    return detail::weights_by(InitKind::constants, value).config(region);
  }
};

struct Zeros {
  constexpr InitConfig config(Region region) const { return detail::weights_by(InitKind::zeros).config(region); }
};

/// Another policy, but batch normalisation starts with γ 1 and β 0.
template <InitPolicy Others = Initializer>
struct StandardBn {
  Others others;

  constexpr InitConfig config(Region region) const {
    const bool is_bn = region == Region::w_bn_weight || region == Region::w_bn_bias;
    return is_bn ? Initializer().config(region) : others.config(region);
  }
  constexpr bool is_zero_gamma() const { return false; }
};

/// Another policy, but batch normalisation starts with γ 1 and β 0, and γ 0 behind each residual branch.
template <InitPolicy Others = Initializer>
struct ZeroGammaBn {
  Others others;

  constexpr InitConfig config(Region region) const { return StandardBn<Others>{others}.config(region); }
  constexpr bool is_zero_gamma() const { return true; }
};

template <class Others>
StandardBn(Others) -> StandardBn<Others>;
template <class Others>
ZeroGammaBn(Others) -> ZeroGammaBn<Others>;

}  // namespace tr
