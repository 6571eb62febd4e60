#include "tr/base/clock.h"

#include <chrono>

namespace tr {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tr
