#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>

#include "tr/algo/any_optimizer.h"

namespace tr {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

static_assert(SGD().momentum() == 0.9 && SGD().weight_decay() == 0.0 && SGD().dampening() == 0.0);
static_assert(SGD().nesterov().is_nesterov() && SGD().decoupled().is_decoupled());
static_assert(!SGD().is_nesterov() && !SGD().is_decoupled());
static_assert(AdamW().beta1() == 0.9 && AdamW().beta2() == 0.999 && AdamW().eps() == 1e-8);
static_assert(AdamW().weight_decay() == 1e-2);
static_assert(AdamW().weight_decay(1e-4).beta1(0.8).weight_decay() == 1e-4);
static_assert(moments_of(SGD().momentum(0.5)) == 1 && moments_of(SGD().momentum(0.0)) == 0 && moments_of(AdamW()) == 2);
static_assert(name_of(SGD()) == "SGD" && name_of(AdamW()) == "AdamW");
static_assert(!Optimizer<int>);

TEST_CASE("a decay that would grow the weights is rejected") {
  for (double bad : {-1e-12, -1.0, inf, -inf, nan, 1e39}) {
    CHECK_THROWS_AS(SGD().weight_decay(bad), ValueError);
    CHECK_THROWS_AS(AdamW().weight_decay(bad), ValueError);
  }
  CHECK_THROWS_WITH(AdamW().weight_decay(-0.5), "weight_decay is -0.5, legal is 0 to 3.4028235e+38");
  CHECK_NOTHROW(SGD().weight_decay(0.0));
}

TEST_CASE("rates of exponential decay lie in [0, 1), also after rounding to float") {
  for (double bad : {-1e-12, 1.0, 1.5, 1.0 - 1e-12, inf, nan}) {
    CHECK_THROWS_AS(SGD().momentum(bad), ValueError);
    CHECK_THROWS_AS(AdamW().beta1(bad), ValueError);
    CHECK_THROWS_AS(AdamW().beta2(bad), ValueError);
  }
  CHECK_THROWS_WITH(AdamW().beta2(1.0), "beta2 is 1, legal is 0 or more and, as a float, below 1");
  for (double good : {0.0, 0.5, 0.9999}) {
    CHECK(SGD().momentum(good).momentum() == good);
    CHECK(AdamW().beta1(good).beta1() == good);
    CHECK(AdamW().beta2(good).beta2() == good);
  }
}

TEST_CASE("epsilon is a number that the kernels do not flush to zero") {
  for (double bad : {0.0, -1e-8, 1e-40, 1e39, inf, nan}) CHECK_THROWS_AS(AdamW().eps(bad), ValueError);
  CHECK(AdamW().eps(1e-30).eps() == 1e-30);
}

TEST_CASE("dampening lies in [0, 1]") {
  for (double bad : {-0.1, 1.1, inf, nan}) CHECK_THROWS_AS(SGD().dampening(bad), ValueError);
  CHECK(SGD().dampening(1.0).dampening() == 1.0);
}

// O6
TEST_CASE("Nesterov's form needs momentum and no dampening, whatever the order of the setters") {
  CHECK_THROWS_WITH_AS(validate(SGD().nesterov().momentum(0.0)),
                       "nesterov needs momentum above 0 and dampening 0; momentum is 0, dampening is 0", ValueError);
  CHECK_THROWS_WITH_AS(validate(SGD().dampening(0.5).nesterov()),
                       "nesterov needs momentum above 0 and dampening 0; momentum is 0.9, dampening is 0.5",
                       ValueError);
  CHECK_NOTHROW(validate(SGD().nesterov()));
  CHECK_NOTHROW(validate(SGD().nesterov().momentum(0.0).nesterov(false)));
  CHECK_NOTHROW(validate(SGD().momentum(0.0)));
  CHECK_NOTHROW(validate(AdamW()));
}

TEST_CASE("a rejected setting leaves the old one") {
  SGD sgd;
  sgd.momentum(0.8).weight_decay(0.1);
  CHECK_THROWS_AS(sgd.momentum(2.0), ValueError);
  CHECK_THROWS_AS(sgd.weight_decay(-1.0), ValueError);
  CHECK(sgd.momentum() == 0.8);
  CHECK(sgd.weight_decay() == 0.1);
}

}  // namespace
}  // namespace tr
