#include "tr/algo/initializer.h"

#include <fmt/format.h>

namespace tr::detail {

void reject_missing_value(InitKind kind) {
  throw ValueError(fmt::format("fc({0}) needs a value, as in fc(InitKind::{0}, 0.01)", name_of(kind)));
}

void reject_needless_value(InitKind kind, double value) {
  throw ValueError(
      fmt::format("fc({}) is given the value {}, which only constants and fixed_normal take; leave it out, "
                  "or use scale()",
                  name_of(kind), value));
}

}  // namespace tr::detail
