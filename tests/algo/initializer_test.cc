#include "tr/algo/initializer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <set>
#include <string_view>

#include "tests/base/near.h"
#include "tests/golden/initializers.h"
#include "tr/algo/fill.h"
#include "tr/algo/init_policy.h"

namespace tr {
namespace {

constexpr InitConfig zeros{0.0F, InitKind::zeros, FanMode::fan_in};
constexpr InitConfig untouched{1.0F, InitKind::none, FanMode::fan_in};

/// Usable as a template argument, as a plan made by the compiler needs it.
template <InitConfig config>
struct Structural {};
static_assert(sizeof(Structural<InitConfig{}>) == 1);

static_assert(Initializer().derive(Region::w_fc_bias) == zeros);
static_assert(Initializer().derive(Region::v_fc_weight) == zeros);
static_assert(Initializer().derive(Region::g_fc_weight) == untouched);
static_assert(Initializer().derive(Region::w_fc_weight).kind == InitKind::kaiming_uniform);
static_assert(Initializer().fc(InitKind::zeros).derive(Region::w_fc_weight).kind == InitKind::zeros);

TEST_CASE("every region but the weights starts the same, whatever the policy") {
  const auto policy = Initializer().fc(InitKind::constants, 5.0).fan(FanMode::fan_out).scale(3.0);
  for (int i = 0; i < region_count; ++i) {
    const auto region = static_cast<Region>(i);
    if (is_weight(region)) continue;
    CAPTURE(name_of(region));
    CHECK(policy.derive(region) == (is_bias(region) || is_moment(region) ? zeros : untouched));
    CHECK(policy.config(region) == policy.derive(region));
  }
}

TEST_CASE("weights take kind, fan and gain; Kaiming kinds include the gain of the rectifier") {
  const auto weight = [](const Initializer& policy) { return policy.derive(Region::w_fc_weight); };
  CHECK(weight(Initializer()) == InitConfig{std::sqrt(2.0F), InitKind::kaiming_uniform, FanMode::fan_in});
  CHECK(weight(Initializer().fan(FanMode::fan_avg).scale(3.0)).fan == FanMode::fan_avg);
  CHECK(near(weight(Initializer().scale(3.0)).scale, 3.0 * std::sqrt(2.0), 1e-7));
  CHECK(near(weight(Initializer().kaiming_a(std::sqrt(5.0))).scale, std::sqrt(1.0 / 3.0), 1e-7));
  CHECK(weight(Initializer().fc(InitKind::xavier_normal).kaiming_a(7.0)).scale == 1.0F);
  CHECK(weight(Initializer().fc(InitKind::trunc_normal).scale(2.0)).scale == 2.0F);
  CHECK(weight(Initializer().fc(InitKind::fixed_normal, 0.01).scale(2.0)).scale == 0.01F);
  CHECK(weight(Initializer().fc(InitKind::constants, -2.0)) == InitConfig{-2.0F, InitKind::constants, FanMode::fan_in});
}

TEST_CASE("standard deviations and bounds are those of PyTorch") {
  for (const auto& right : golden::initializers) {
    InitKind kind = InitKind::none;
    for (int i = 0; i < init_kind_count; ++i) {
      if (name_of(static_cast<InitKind>(i)) == right.kind) kind = static_cast<InitKind>(i);
    }
    const auto config = Initializer()
                            .fc(kind)
                            .fan(right.fan_out ? FanMode::fan_out : FanMode::fan_in)
                            .kaiming_a(right.kaiming_a)
                            .scale(right.scale)
                            .derive(Region::w_fc_weight);
    const Shape krsc{right.krsc[0], right.krsc[1], right.krsc[2], right.krsc[3]};
    CAPTURE(right.kind);
    CHECK(near(spread_of(config, krsc), right.spread, 1e-7));
  }
}

TEST_CASE("the policies are the initializer with one kind chosen") {
  constexpr Region weight = Region::w_fc_weight;
  CHECK(KaimingNormal{}.config(weight) == Initializer().fc(InitKind::kaiming_normal).derive(weight));
  CHECK(KaimingUniform{.a = 0.5, .fan = FanMode::fan_out}.config(weight) ==
        Initializer().fc(InitKind::kaiming_uniform).kaiming_a(0.5).fan(FanMode::fan_out).derive(weight));
  CHECK(XavierNormal{}.config(weight) == Initializer().fc(InitKind::xavier_normal).derive(weight));
  CHECK(XavierUniform{.gain = 2.0}.config(weight) ==
        Initializer().fc(InitKind::xavier_uniform).scale(2.0).derive(weight));
  CHECK(KaimingNormal{}.config(Region::w_fc_bias) == zeros);
}

TEST_CASE("a kind that needs a value gets one, and no other does") {
  CHECK_THROWS_WITH_AS(Initializer().fc(InitKind::fixed_normal),
                       "fc(fixed_normal) needs a value, as in fc(InitKind::fixed_normal, 0.01)", ValueError);
  CHECK_THROWS_AS(Initializer().fc(InitKind::constants), ValueError);
  CHECK_THROWS_WITH_AS(
      Initializer().fc(InitKind::kaiming_normal, 0.5),
      "fc(kaiming_normal) is given the value 0.5, which only constants and fixed_normal take; leave it "
      "out, or use scale()",
      ValueError);
}

TEST_CASE("settings outside their range are rejected by name") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (double bad : {inf, -inf, nan, 1e39}) {
    CHECK_THROWS_AS(Initializer().scale(bad), ValueError);
    CHECK_THROWS_AS(Initializer().kaiming_a(bad), ValueError);
    CHECK_THROWS_AS(Initializer().fc(InitKind::constants, bad), ValueError);
    CHECK_THROWS_AS(Initializer().fc(InitKind::fixed_normal, bad), ValueError);
  }
  CHECK_THROWS_WITH(Initializer().scale(0.0), "scale is 0, legal is above 0, at most 3.4028235e+38");
  CHECK_THROWS_AS(Initializer().kaiming_a(-0.1), ValueError);
  CHECK_THROWS_AS(Initializer().fc(InitKind::fixed_normal, -0.01), ValueError);
  CHECK_THROWS_AS(Initializer().fc(static_cast<InitKind>(77)), ValueError);
  CHECK_THROWS_AS(Initializer().fan(static_cast<FanMode>(3)), ValueError);
}

TEST_CASE("every kind has a name of its own") {
  std::set<std::string_view> names;
  for (int i = 0; i < init_kind_count; ++i) names.insert(name_of(static_cast<InitKind>(i)));
  CHECK(names.size() == init_kind_count);
  CHECK(!names.contains("?"));
}

}  // namespace
}  // namespace tr
