#include <cstdint>

#include "tr/algo/cosine_annealing_lr.h"
#include "tr/algo/scheduler.h"

struct Mine : TOKEN {
  constexpr double decayed(std::int64_t, std::int64_t) const { return 42.0; }
};

static_assert(tr::Scheduler<Mine>);
