#include "tr/algo/cosine_annealing_lr.h"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

#include "tests/base/near.h"
#include "tests/golden/schedulers.h"

namespace tr {
namespace {

// The row of the design's table.
constexpr auto run = CosineAnnealingLR().base_lr(1e-3).warmup(2).prepare(10, 5);
static_assert(run.lr(0, 0) == 0.0F);
static_assert(run.lr(2, 4) == 1e-3F);
static_assert(run.lr(9, 0) == 1e-6F);

TEST_CASE("by epoch the rates are those of the design, the last epoch has eta_min") {
  constexpr double right[] = {0,          5e-4,       1e-3,       9.50534e-4, 8.11933e-4,
                              6.11649e-4, 3.89351e-4, 1.89067e-4, 5.0466e-5,  1e-6};
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (int batch = 0; batch < 5; ++batch) CHECK(std::abs(run.lr(epoch, batch) - right[epoch]) < 1e-9);
  }
}

TEST_CASE("by epoch the rates after the warm-up are PyTorch's with T_max one less than their number") {
  for (std::size_t i = 0; i < std::size(golden::cosine_7); ++i) {
    CHECK(near(run.lr(static_cast<int>(i) + 2, 0), golden::cosine_7[i], 1e-7));
  }
  const auto plain = CosineAnnealingLR().base_lr(0.5).eta_min(0.0).prepare(10, 3);
  for (std::size_t i = 0; i < std::size(golden::cosine_9); ++i) {
    const double right = golden::cosine_9[i];
    CHECK(std::abs(plain.lr(static_cast<int>(i), 1) - right) <= 1e-7 * right + 1e-17);
  }
}

constexpr auto by_batch = CosineAnnealingLR().base_lr(1e-3).eta_min(0.0).step_by_batch();

// L6
TEST_CASE("by batch the rates are PyTorch's with T_max the number of steps, resumed anywhere") {
  const auto hundred = by_batch.prepare(20, 5);
  CHECK(std::abs(hundred.lr(9, 0) - 5.782172e-4) < 1e-9);
  CHECK(std::abs(hundred.lr(9, 1) - 5.626667e-4) < 1e-9);
  for (int t = 0; t <= 100; ++t) {
    const double right = golden::cosine_100[t];
    CHECK(std::abs(hundred.lr(t / 5, t % 5) - right) <= 1e-7 * right + 1e-17);
    const auto resumed = by_batch.prepare(20, 5);
    CHECK(resumed.lr(t / 5, t % 5) == hundred.lr(t / 5, t % 5));
    // However the steps are cut into epochs.
    CHECK(by_batch.prepare(1, 100).lr(0, t) == hundred.lr(t / 5, t % 5));
  }
}

// L9
TEST_CASE("beyond its end the rate stays at eta_min and never climbs again") {
  const auto epochs = CosineAnnealingLR().base_lr(0.1).eta_min(0.01).warmup(1).prepare(6, 4);
  const auto batches = CosineAnnealingLR().base_lr(0.1).eta_min(0.01).warmup(1).step_by_batch().prepare(6, 4);
  for (int epoch : {6, 7, 11, 1000}) {
    for (int batch = 0; batch < 4; ++batch) {
      CHECK(epochs.lr(epoch, batch) == 0.01F);
      CHECK(batches.lr(epoch, batch) == 0.01F);
    }
  }
}

TEST_CASE("where the warm-up leaves no room to fall the rate is base") {
  const auto schedule = CosineAnnealingLR().base_lr(0.1).warmup(4).prepare(5, 3);
  CHECK(schedule.lr(4, 0) == 0.1F);
  CHECK(schedule.lr(5, 0) == 0.1F);
  CHECK(CosineAnnealingLR().base_lr(0.1).prepare(1, 3).lr(0, 2) == 0.1F);
}

TEST_CASE("eta_min above base is rejected when the run is prepared") {
  CHECK_THROWS_WITH_AS(CosineAnnealingLR().base_lr(1e-3).eta_min(1e-2).prepare(5, 5),
                       "eta_min is 0.01, legal is at most base_lr, which is 0.001", ValueError);
  CHECK_THROWS_AS(CosineAnnealingLR().base_lr(1e-7).prepare(5, 5), ValueError);
  const auto flat = CosineAnnealingLR().base_lr(1e-3).eta_min(1e-3).prepare(5, 5);
  CHECK(flat.lr(2, 0) == 1e-3F);
}

constexpr auto swept = CosineAnnealingLR().base_lr(0.0123).warmup(2).warmup_start_factor(0.1).step_by_batch();

TEST_CASE("a constant has the same bits as the rate computed at run time") {
  constexpr int epochs = 7;
  constexpr int steps = 31;
  constexpr auto constants = [] {
    std::array<float, epochs * steps> rates{};
    const auto prepared = swept.prepare(epochs, steps);
    for (int t = 0; t < epochs * steps; ++t) rates[static_cast<std::size_t>(t)] = prepared.lr(t / steps, t % steps);
    return rates;
  }();
  volatile double base = 0.0123;
  volatile int run_time_epochs = epochs;
  const auto prepared = CosineAnnealingLR().base_lr(base).warmup(2).warmup_start_factor(0.1).step_by_batch().prepare(
      run_time_epochs, steps);
  for (int t = 0; t < epochs * steps; ++t) {
    CHECK(std::bit_cast<std::uint32_t>(prepared.lr(t / steps, t % steps)) ==
          std::bit_cast<std::uint32_t>(constants[static_cast<std::size_t>(t)]));
  }
}

}  // namespace
}  // namespace tr
