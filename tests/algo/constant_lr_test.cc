#include "tr/algo/constant_lr.h"

#include <doctest/doctest.h>

namespace tr {
namespace {

TEST_CASE("a constant rate is base from the end of the warm-up to beyond the end of the run") {
  const auto by_epoch = ConstantLR().base_lr(1e-3).warmup(2).prepare(5, 4);
  const auto by_batch = ConstantLR().base_lr(1e-3).warmup(2).step_by_batch().prepare(5, 4);
  for (int epoch = 2; epoch < 8; ++epoch) {
    for (int batch = 0; batch < 4; ++batch) {
      CHECK(by_epoch.lr(epoch, batch) == 1e-3F);
      CHECK(by_batch.lr(epoch, batch) == 1e-3F);
    }
  }
}

}  // namespace
}  // namespace tr
