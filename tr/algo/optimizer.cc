#include "tr/algo/optimizer.h"

#include <fmt/format.h>

namespace tr::detail {

void reject_nesterov(double momentum, double dampening) {
  throw ValueError(fmt::format("nesterov needs momentum above 0 and dampening 0; momentum is {}, dampening is {}",
                               momentum, dampening));
}

}  // namespace tr::detail
