#include "tests/kernels/cpu/testing.h"

#include <hwy/highway.h>

namespace tr::cpu::testing {

void for_each_target(const std::function<void(const std::string&)>& f) {
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::GetChosenTarget().Update(target);
    f(hwy::TargetName(target));
  }
  hwy::GetChosenTarget().DeInit();
}

}  // namespace tr::cpu::testing
