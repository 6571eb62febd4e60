#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "kernels/cuda/advance_step.h"
#include "kernels/cuda/loss_scale.h"
#include "tests/kernels/cuda/testing.h"
#include "tr/base/math.h"

namespace {

using namespace tr;
using namespace tr::cuda::testing;

TEST_CASE("a step is counted and its bias corrections have the CPU's bits, unless it is skipped") {
  const Simulated simulated;
  const OnDevice<float> beta1(simulated, 0.9F);
  const OnDevice<float> beta2(simulated, 0.999F);
  const OnDevice<std::int32_t> step(simulated, 0);
  const OnDevice<float> correction1(simulated, 5.0F);
  const OnDevice<float> correction2(simulated, 5.0F);
  const OnDevice<std::int32_t> yes(simulated, 1);
  const OnDevice<std::int32_t> no(simulated, 0);
  std::int32_t taken = 0;
  for (int i = 0; i < 30; ++i) {
    const bool skip = i % 7 == 3;
    cuda::advance_step({beta1.data(), beta2.data(), step.data(), correction1.data(), correction2.data(),
                        skip ? yes.data() : no.data()},
                       simulated.stream());
    taken += skip ? 0 : 1;
    CHECK(step.value() == taken);
    CHECK(correction1.value() == static_cast<float>(1.0 - math::pow(0.9F, taken)));
    CHECK(correction2.value() == static_cast<float>(1.0 - math::pow(0.999F, taken)));
  }
}

/// The scalars of a loss scale.
struct Scale {
  explicit Scale(float value) : scale(simulated, value) {}

  void adjust(std::int32_t had_overflow = 0) const {
    if (had_overflow != 0) cudaMemsetAsync(overflow.data(), 1, sizeof(std::int32_t), simulated.stream());
    cuda::adjust_loss_scale({scale.data(), clean.data(), skipped.data(), overflow.data()}, simulated.stream());
  }

  Simulated simulated;
  OnDevice<float> scale;
  OnDevice<std::int32_t> clean{simulated, 0};
  OnDevice<std::int32_t> skipped{simulated, 0};
  OnDevice<std::int32_t> overflow{simulated, 0};
};

TEST_CASE("an overflow halves the loss scale, 2000 clean steps double it") {
  const Scale s(cuda::first_loss_scale);
  for (int i = 0; i < 1999; ++i) s.adjust();
  CHECK(s.scale.value() == 65536.0F);
  s.adjust();
  CHECK(s.scale.value() == 131072.0F);
  for (int i = 0; i < 1999; ++i) s.adjust();
  s.adjust(1);
  CHECK(s.scale.value() == 65536.0F);
  CHECK(s.overflow.value() == 0);
  CHECK(s.skipped.value() == 1);
  s.adjust();
  CHECK(s.scale.value() == 65536.0F);
  CHECK(s.clean.value() == 1);
}

TEST_CASE("a loss scale never falls below its lower bound") {
  const Scale s(2.0F);
  for (int i = 0; i < 5; ++i) s.adjust(1);
  CHECK(s.scale.value() == 1.0F);
  CHECK(s.skipped.value() == 5);
}

TEST_CASE("a loss scale never rises above its upper bound") {
  const Scale s(cuda::largest_loss_scale);
  for (int i = 0; i < 2000; ++i) s.adjust();
  CHECK(s.scale.value() == cuda::largest_loss_scale);
  CHECK(s.clean.value() == 0);
}

TEST_CASE("a loss scale outside its bounds returns to them") {
  for (const float wrong : {0.0F, -2.0F, NAN, INFINITY, 1e30F}) {
    const Scale s(wrong);
    s.adjust();
    CHECK(s.scale.value() == (wrong > 1.0F ? cuda::largest_loss_scale : 1.0F));
  }
}

}  // namespace
