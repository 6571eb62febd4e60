#pragma once

#include <concepts>

#include "tr/algo/init_config.h"
#include "tr/algo/initializer.h"
#include "tr/base/region.h"

namespace tr {

/// Says what the tensors of a region start with. Write one's own like those below.
template <class T>
concept InitPolicy = std::copyable<T> && requires(const T& policy, Region region) {
  { policy.config(region) } -> std::same_as<InitConfig>;
};

/// He et al. 2015, normal; `a` is the slope of a leaky ReLU below zero.
struct KaimingNormal {
  double a = 0.0;
  FanMode fan = FanMode::fan_in;

  constexpr InitConfig config(Region region) const {
    return Initializer().fc(InitKind::kaiming_normal).fan(fan).kaiming_a(a).config(region);
  }
};

/// He et al. 2015, uniform; `a` is the slope of a leaky ReLU below zero.
struct KaimingUniform {
  double a = 0.0;
  FanMode fan = FanMode::fan_in;

  constexpr InitConfig config(Region region) const {
    return Initializer().fc(InitKind::kaiming_uniform).fan(fan).kaiming_a(a).config(region);
  }
};

/// Glorot, Bengio 2010, normal.
struct XavierNormal {
  double gain = 1.0;

  constexpr InitConfig config(Region region) const {
    return Initializer().fc(InitKind::xavier_normal).scale(gain).config(region);
  }
};

/// Glorot, Bengio 2010, uniform.
struct XavierUniform {
  double gain = 1.0;

  constexpr InitConfig config(Region region) const {
    return Initializer().fc(InitKind::xavier_uniform).scale(gain).config(region);
  }
};

static_assert(InitPolicy<Initializer>);
static_assert(InitPolicy<KaimingNormal> && InitPolicy<KaimingUniform>);
static_assert(InitPolicy<XavierNormal> && InitPolicy<XavierUniform>);

}  // namespace tr
