#include "tr/algo/any_scheduler.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "tests/algo/schedules.h"

namespace tr {
namespace {

/// A user's own schedule, without any help of the library.
struct InverseRoot {
  double base = 1.0;
  int steps = 0;

  constexpr InverseRoot prepare(int /*total_epochs*/, int steps_per_epoch) const { return {base, steps_per_epoch}; }
  constexpr float lr(int epoch, int batch) const {
    return static_cast<float>(base / (1.0 + static_cast<double>(epoch) * steps + batch));
  }
};

/// A user's own schedule on the shared base, with warm-up and stepping for nothing.
class LinearLR : public SchedulerBase<LinearLR> {
 public:
  constexpr double decayed(std::int64_t d, std::int64_t total) const {
    return base_lr() * (1.0 - static_cast<double>(d) / static_cast<double>(total));
  }
};

/// Exactly as large as fits.
struct Table {
  float rates[CustomScheduler::capacity / sizeof(float)];

  constexpr Table prepare(int, int) const { return *this; }
  constexpr float lr(int epoch, int) const { return rates[epoch]; }
};

static_assert(Scheduler<InverseRoot> && Scheduler<LinearLR> && Scheduler<Table> && Scheduler<CustomScheduler>);
static_assert(sizeof(Table) == CustomScheduler::capacity);
static_assert(std::is_trivially_copyable_v<AnyScheduler>);

constexpr AnyScheduler cosine = prepare(CosineAnnealingLR().base_lr(0.5).eta_min(0.0), 5, 2);
static_assert(lr(cosine, 0, 1) == 0.5F);
static_assert(lr(cosine, 4, 0) == 0.0F);

constexpr AnyScheduler custom_constant = Table{{0.5F, 0.25F}};
static_assert(lr(custom_constant, 1, 0) == 0.25F);

// Each of the library's schedules is kept inline, also in a constant expression.
template <class S>
constexpr CustomScheduler prepared_inline = S().base_lr(0.5).warmup(1).prepare(12, 2);
static_assert(prepared_inline<ConstantLR>.lr(11, 0) == 0.5F);
static_assert(prepared_inline<StepLR>.lr(11, 1) == 0.05F);
static_assert(prepared_inline<MultiStepLR>.lr(11, 0) == 0.5F);
static_assert(prepared_inline<ExponentialLR>.lr(2, 0) == 0.475F);
static_assert(prepared_inline<PolynomialLR>.lr(1, 0) == 0.5F);
static_assert(prepared_inline<CosineAnnealingLR>.lr(11, 0) == 1e-6F);
static_assert(prepared_inline<CosineAnnealingWithWarmRestartsLR>.lr(11, 0) == 0.5F);
static_assert(prepared_inline<WSDLR>.lr(12, 0) == 0.0F);

TEST_CASE("every schedule of the library is an alternative of its own and gives the same rates inline") {
  std::size_t index = 0;
  for_every_schedule([&](const auto& schedule) {
    CHECK(AnyScheduler(schedule).index() == index++);
    const auto prepared = schedule.prepare(30, 2);
    const AnyScheduler any = prepare(schedule, 30, 2);
    const CustomScheduler custom = prepared;
    for (int epoch = 0; epoch <= 30; ++epoch) {
      CHECK(lr(any, epoch, 1) == prepared.lr(epoch, 1));
      CHECK(custom.lr(epoch, 1) == prepared.lr(epoch, 1));
    }
  });
  CHECK(index == std::variant_size_v<AnyScheduler> - 1);
}

TEST_CASE("the library's schedules keep their own type") {
  CHECK(std::holds_alternative<ConstantLR>(AnyScheduler(ConstantLR().base_lr(0.2))));
  CHECK(std::holds_alternative<CosineAnnealingLR>(AnyScheduler(CosineAnnealingLR().warmup(1))));
  CHECK(std::holds_alternative<CosineAnnealingLR>(prepare(CosineAnnealingLR(), 2, 2)));
  CHECK(std::holds_alternative<ConstantLR>(AnyScheduler()));
}

TEST_CASE("any other schedule becomes a custom one and gives the same rates") {
  const AnyScheduler inverse = prepare(InverseRoot{0.5, 0}, 3, 4);
  CHECK(std::holds_alternative<CustomScheduler>(inverse));
  for (int t = 0; t < 12; ++t) CHECK(lr(inverse, t / 4, t % 4) == InverseRoot{0.5, 4}.lr(t / 4, t % 4));

  const auto linear = LinearLR().base_lr(0.5).warmup(1).step_by_batch();
  const AnyScheduler any = prepare(linear, 3, 4);
  for (int t = 0; t <= 12; ++t) CHECK(lr(any, 0, t) == linear.prepare(3, 4).lr(0, t));
}

TEST_CASE("a copy is independent and keeps its rates") {
  AnyScheduler first = Table{{0.5F}};
  const AnyScheduler second = first;
  first = Table{{0.25F}};
  CHECK(lr(first, 0, 0) == 0.25F);
  CHECK(lr(second, 0, 0) == 0.5F);
}

TEST_CASE("errors of a schedule come through") {
  CHECK_THROWS_AS(prepare(ConstantLR(), 0, 1), ValueError);
  CHECK_THROWS_AS(prepare(LinearLR().warmup(9), 3, 4), ValueError);
  CHECK_THROWS_AS(lr(AnyScheduler(LinearLR()), 0, 0), StateError);
}

}  // namespace
}  // namespace tr
