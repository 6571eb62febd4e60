#pragma once

#include <cstdint>

#include "tr/algo/scheduler.h"

namespace tr {

/// base_lr all along, after the warm-up.
class ConstantLR final : public SchedulerBase<ConstantLR> {
 public:
  constexpr double decayed(std::int64_t /*d*/, std::int64_t /*total*/) const { return base_lr(); }
};

static_assert(Scheduler<ConstantLR>);

}  // namespace tr
