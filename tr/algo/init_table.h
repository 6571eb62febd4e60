#pragma once

#include <array>
#include <concepts>

#include "tr/algo/init_policy.h"

namespace tr {

/// What a policy says for every region: what any `InitPolicy` is lowered to, and one itself.
class InitTable {
 public:
  /// Throws ValueError when a tensor cannot be filled by what the policy says.
  template <class Policy>
  requires(!std::same_as<Policy, InitTable> && InitPolicy<Policy>) explicit constexpr InitTable(const Policy& policy)
      : is_zero_gamma_(tr::is_zero_gamma(policy)) {
    for (int r = 0; r < region_count; ++r) configs_[r] = checked_config(policy, static_cast<Region>(r));
  }

  constexpr InitConfig config(Region region) const { return configs_[static_cast<int>(region)]; }
  constexpr bool is_zero_gamma() const { return is_zero_gamma_; }

 private:
  std::array<InitConfig, region_count> configs_{};
  bool is_zero_gamma_ = false;
};

static_assert(InitPolicy<InitTable>);

}  // namespace tr
