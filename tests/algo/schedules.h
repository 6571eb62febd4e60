#pragma once

#include "tr/algo/any_scheduler.h"

namespace tr {

/// Calls `check` with each of the library's schedules, as it is by default.
template <class Check>
void for_every_schedule(Check check) {
  check(ConstantLR());
  check(StepLR());
  check(MultiStepLR());
  check(ExponentialLR());
  check(PolynomialLR());
  check(CosineAnnealingLR());
  check(CosineAnnealingWithWarmRestartsLR());
  check(WSDLR());
}

}  // namespace tr
