#include "tr/base/error.h"

#include <fmt/format.h>

namespace tr {

void value_error(const char* parameter, double value, const char* legal) {
  throw ValueError(fmt::format("{} is {}, legal is {}", parameter, value, legal));
}

}  // namespace tr
