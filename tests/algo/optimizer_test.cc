#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>
#include <optional>

#include "tr/algo/any_optimizer.h"
#include "tr/algo/clipping.h"
#include "tr/algo/ema.h"

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
static_assert(Adam().beta1() == 0.9 && Adam().beta2() == 0.999 && Adam().eps() == 1e-8);
static_assert(Adam().weight_decay() == 0.0 && Adam().weight_decay(1e-4).eps(1e-6).weight_decay() == 1e-4);
static_assert(!Adam::is_decoupled() && AdamW::is_decoupled());
static_assert(LARS().momentum() == 0.9 && LARS().trust_coefficient() == 1e-3 && LARS().eps() == 1e-8);
static_assert(LARS().weight_decay() == 0.0 && LARS().weight_decay(1e-4).trust_coefficient(0.02).weight_decay() == 1e-4);
static_assert(moments_of(SGD().momentum(0.5)) == 1 && moments_of(SGD().momentum(0.0)) == 0);
static_assert(moments_of(LARS()) == 1 && moments_of(LARS().momentum(0.0)) == 0);
static_assert(moments_of(Adam()) == 2 && moments_of(AdamW()) == 2);
static_assert(uses_layer_norms(LARS()) && !uses_layer_norms(SGD()) && !uses_layer_norms(Adam()));
static_assert(!uses_layer_norms(AdamW()));
static_assert(name_of(SGD()) == "SGD" && name_of(Adam()) == "Adam" && name_of(AdamW()) == "AdamW");
static_assert(name_of(LARS()) == "LARS");
static_assert(GradientClipping().norm() == 0.0 && GradientClipping().value() == 0.0);
static_assert(GradientClipping().by_norm(1.0).norm() == 1.0 && GradientClipping().by_norm(1.0).value() == 0.0);
static_assert(GradientClipping().by_norm(2.0).by_value(0.5).value() == 0.5);
static_assert(EMA().decay() == 0.999 && !EMA().evaluates());
static_assert(EMA().decay(0.9).evaluate().evaluates() && !EMA().evaluate().evaluate(false).evaluates());
static_assert(clip_factor(2.0, 1.0) == 0.49999975F && lars_ratio(5.0, 2.0, 0.001, 0.0, 0.0) == 0.0025);
static_assert(!Optimizer<int>);

TEST_CASE("a decay that would grow the weights is rejected") {
  for (double bad : {-1e-12, -1.0, inf, -inf, nan, 1e39}) {
    CHECK_THROWS_AS(SGD().weight_decay(bad), ValueError);
    CHECK_THROWS_AS(Adam().weight_decay(bad), ValueError);
    CHECK_THROWS_AS(AdamW().weight_decay(bad), ValueError);
    CHECK_THROWS_AS(LARS().weight_decay(bad), ValueError);
  }
  CHECK_THROWS_WITH(AdamW().weight_decay(-0.5), "weight_decay is -0.5, legal is 0 to 3.4028235e+38");
  CHECK_NOTHROW(SGD().weight_decay(0.0));
}

TEST_CASE("rates of exponential decay lie in [0, 1), also after rounding to float") {
  for (double bad : {-1e-12, 1.0, 1.5, 1.0 - 1e-12, inf, nan}) {
    CHECK_THROWS_AS(SGD().momentum(bad), ValueError);
    CHECK_THROWS_AS(AdamW().beta1(bad), ValueError);
    CHECK_THROWS_AS(AdamW().beta2(bad), ValueError);
    CHECK_THROWS_AS(Adam().beta1(bad), ValueError);
    CHECK_THROWS_AS(Adam().beta2(bad), ValueError);
    CHECK_THROWS_AS(LARS().momentum(bad), ValueError);
    CHECK_THROWS_AS(EMA().decay(bad), ValueError);
  }
  CHECK_THROWS_WITH(EMA().decay(1.0), "decay is 1, legal is 0 or more and, as a float, below 1");
  CHECK_THROWS_WITH(AdamW().beta2(1.0), "beta2 is 1, legal is 0 or more and, as a float, below 1");
  for (double good : {0.0, 0.5, 0.9999}) {
    CHECK(SGD().momentum(good).momentum() == good);
    CHECK(AdamW().beta1(good).beta1() == good);
    CHECK(AdamW().beta2(good).beta2() == good);
    CHECK(LARS().momentum(good).momentum() == good);
    CHECK(EMA().decay(good).decay() == good);
  }
}

// O11
TEST_CASE("what must not vanish is a number that the kernels do not flush to zero") {
  for (double bad : {0.0, -0.0, -1e-8, -1.0, 1e-40, 1e39, inf, -inf, nan}) {
    CHECK_THROWS_AS(Adam().eps(bad), ValueError);
    CHECK_THROWS_AS(AdamW().eps(bad), ValueError);
    CHECK_THROWS_AS(LARS().eps(bad), ValueError);
    CHECK_THROWS_AS(LARS().trust_coefficient(bad), ValueError);
    CHECK_THROWS_AS(GradientClipping().by_norm(bad), ValueError);
    CHECK_THROWS_AS(GradientClipping().by_value(bad), ValueError);
  }
  CHECK_THROWS_WITH(GradientClipping().by_norm(0.0), "by_norm is 0, legal is 1.1754944e-38 to 3.4028235e+38");
  CHECK_THROWS_WITH(GradientClipping().by_value(-1.0), "by_value is -1, legal is 1.1754944e-38 to 3.4028235e+38");
  for (double good : {1e-30, 1.0, 1e30}) {
    CHECK(AdamW().eps(good).eps() == good);
    CHECK(LARS().trust_coefficient(good).trust_coefficient() == good);
    CHECK(GradientClipping().by_norm(good).norm() == good);
    CHECK(GradientClipping().by_value(good).value() == good);
  }
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
  CHECK_NOTHROW(validate(Adam()));
  CHECK_NOTHROW(validate(AdamW()));
  CHECK_NOTHROW(validate(LARS().momentum(0.0)));
}

TEST_CASE("a rejected setting leaves the old one") {
  SGD sgd;
  sgd.momentum(0.8).weight_decay(0.1);
  CHECK_THROWS_AS(sgd.momentum(2.0), ValueError);
  CHECK_THROWS_AS(sgd.weight_decay(-1.0), ValueError);
  CHECK(sgd.momentum() == 0.8);
  CHECK(sgd.weight_decay() == 0.1);
  GradientClipping clipping;
  clipping.by_norm(1.0);
  CHECK_THROWS_AS(clipping.by_norm(-1.0), ValueError);
  CHECK(clipping.norm() == 1.0);
}

// O11
TEST_CASE("the factor of clipping by norm is PyTorch's, and 1 below the limit") {
  CHECK(clip_factor(10.0, 1.0) == static_cast<float>(1.0 / 10.000001));
  CHECK(clip_factor(1.0, 1.0) == static_cast<float>(1.0 / 1.000001));
  for (double total : {0.0, 1e-40, 0.5, 0.99}) CHECK(clip_factor(total, 1.0) == 1.0F);
  CHECK(clip_factor(0.0, 1e-7) == static_cast<float>(1e-7 / 1e-6));
  CHECK(clip_factor(1e21, 1.0) == 1e-21F);
  CHECK(clip_factor(1e300, 1e30) == std::nullopt);
}

TEST_CASE("there is no factor for a norm that is not finite, nor one that the kernels would take for 0") {
  for (double total : {inf, -inf, nan, -1.0}) CHECK(clip_factor(total, 1.0) == std::nullopt);
  CHECK(clip_factor(1e37, 1.0).has_value());
  CHECK(clip_factor(1e38, 1.0) == std::nullopt);
  CHECK(clip_factor(1e21, 1e-30) == std::nullopt);
}

// O7
TEST_CASE("the ratio of LARS is that of the norms, and 1 where one is 0") {
  CHECK(lars_ratio(5.0, 2.0, 0.001, 0.0, 1e-8) == doctest::Approx(0.0025));
  CHECK(lars_ratio(5.0, 2.0, 0.001, 0.4, 1e-8) == doctest::Approx(0.00125));
  CHECK(lars_ratio(5.0, 0.5, 0.001, 0.0, 0.5) == doctest::Approx(0.005));
  CHECK(lars_ratio(1e6, 1e-3, 1.0, 0.0, 1e-8) == doctest::Approx(1e9));
  CHECK(lars_ratio(0.0, 2.0, 0.001, 0.1, 1e-8) == 1.0);
  CHECK(lars_ratio(5.0, 0.0, 0.001, 0.1, 1e-8) == 1.0);
  CHECK(lars_ratio(0.0, 0.0, 0.001, 0.0, 1e-8) == 1.0);
}

}  // namespace
}  // namespace tr
