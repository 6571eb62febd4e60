#pragma once

#include <string_view>

#include "tr/algo/adam.h"

namespace tr {

/// Adam with decoupled weight decay (Loshchilov, Hutter: Decoupled weight decay regularization, ICLR 2019, algorithm
/// 2): w ← w·(1 - lr·weight_decay) - lr·m̂/(√v̂ + eps), m̂ and v̂ the moments after bias correction. The decay is 0.01
/// by default.
class AdamW final : public AdamBase<AdamW> {
 public:
  constexpr AdamW() : AdamBase(1e-2) {}

  static constexpr std::string_view name() { return "AdamW"; }
  static constexpr bool is_decoupled() { return true; }
};

static_assert(Optimizer<AdamW>);

}  // namespace tr
