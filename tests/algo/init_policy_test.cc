#include "tr/algo/init_policy.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>

#include "tr/algo/init_table.h"

namespace tr {
namespace {

static_assert(InitPolicy<Initializer> && InitPolicy<InitTable>);
static_assert(InitPolicy<KaimingNormal> && InitPolicy<KaimingUniform>);
static_assert(InitPolicy<XavierNormal> && InitPolicy<XavierUniform>);
static_assert(InitPolicy<TruncNormal> && InitPolicy<FixedNormal>);
static_assert(InitPolicy<Constant> && InitPolicy<Zeros>);
static_assert(InitPolicy<StandardBn<>> && InitPolicy<ZeroGammaBn<XavierNormal>>);
static_assert(!InitPolicy<InitConfig> && !InitPolicy<Region>);

/// One's own policy: the same for every region.
struct Same {
  InitConfig answer;
  constexpr InitConfig config(Region) const { return answer; }
};

/// Its question must not change it.
struct Counting {
  int asked = 0;
  InitConfig config(Region) {
    ++asked;
    return {};
  }
};
static_assert(InitPolicy<Same> && !InitPolicy<Counting>);

template <class Policy>
void check_is(const Policy& policy, const Initializer& right) {
  for (int r = 0; r < region_count; ++r) {
    const auto region = static_cast<Region>(r);
    CAPTURE(name_of(region));
    CHECK(policy.config(region) == right.derive(region));
  }
}

Initializer both(InitKind kind) { return Initializer().conv(kind).fc(kind); }
Initializer both(InitKind kind, double value) { return Initializer().conv(kind, value).fc(kind, value); }

TEST_CASE("the policies are the initializer with one kind for convolutions and fully connected layers") {
  check_is(KaimingNormal{}, both(InitKind::kaiming_normal));
  check_is(KaimingNormal{.a = 0.5, .fan = FanMode::fan_out},
           both(InitKind::kaiming_normal).kaiming_a(0.5).fan(FanMode::fan_out));
  check_is(KaimingUniform{}, both(InitKind::kaiming_uniform));
  check_is(KaimingUniform{.a = 0.5, .fan = FanMode::fan_avg},
           both(InitKind::kaiming_uniform).kaiming_a(0.5).fan(FanMode::fan_avg));
  check_is(XavierNormal{}, both(InitKind::xavier_normal));
  check_is(XavierNormal{.gain = 2.0}, both(InitKind::xavier_normal).scale(2.0));
  check_is(XavierUniform{}, both(InitKind::xavier_uniform));
  check_is(XavierUniform{.gain = 2.0}, both(InitKind::xavier_uniform).scale(2.0));
  check_is(TruncNormal{}, both(InitKind::trunc_normal));
  check_is(TruncNormal{.scale = 2.0, .fan = FanMode::fan_out},
           both(InitKind::trunc_normal).scale(2.0).fan(FanMode::fan_out));
  check_is(FixedNormal{}, both(InitKind::fixed_normal, 0.01));
  check_is(FixedNormal{.std = 0.5}, both(InitKind::fixed_normal, 0.5));
  check_is(Constant{-3.0}, both(InitKind::constants, -3.0));
  check_is(Zeros{}, both(InitKind::zeros));
}

TEST_CASE("the settings of a policy have the limits of the initializer's") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH_AS(KaimingNormal{.a = -1.0}.config(Region::w_fc_weight),
                       "kaiming_a is -1, legal is 0 to 3.4028235e+38", ValueError);
  CHECK_THROWS_AS(InitTable(KaimingUniform{.fan = static_cast<FanMode>(7)}), ValueError);
  CHECK_THROWS_AS(InitTable(XavierNormal{0.0}), ValueError);
  CHECK_THROWS_AS(InitTable(XavierUniform{nan}), ValueError);
  CHECK_THROWS_AS(InitTable(TruncNormal{-1.0}), ValueError);
  CHECK_THROWS_AS(InitTable(FixedNormal{-0.1}), ValueError);
  CHECK_THROWS_AS(InitTable(Constant{1e39}), ValueError);
}

TEST_CASE("the policies of batch normalisation take all else from another") {
  const Same sevens{{7.0F, InitKind::constants, FanMode::fan_in}};
  for (int r = 0; r < region_count; ++r) {
    const auto region = static_cast<Region>(r);
    const bool is_bn = region == Region::w_bn_weight || region == Region::w_bn_bias;
    const InitConfig right = is_bn ? Initializer().derive(region) : sevens.answer;
    CAPTURE(name_of(region));
    CHECK(StandardBn{sevens}.config(region) == right);
    CHECK(ZeroGammaBn{sevens}.config(region) == right);
  }
  check_is(ZeroGammaBn<>{}, Initializer());
}

TEST_CASE("a policy that does not speak of zero gamma starts every γ alike") {
  CHECK(!is_zero_gamma(KaimingNormal{}));
  CHECK(!is_zero_gamma(Same{}));
  CHECK(!is_zero_gamma(Initializer()));
  CHECK(is_zero_gamma(Initializer().bn(InitKind::zero_gamma)));
  CHECK(is_zero_gamma(ZeroGammaBn{KaimingNormal{}}));
  CHECK(!is_zero_gamma(StandardBn{ZeroGammaBn{KaimingNormal{}}}));
}

TEST_CASE("a table says what its policy says, zero gamma included") {
  const auto policy = Initializer().conv(InitKind::xavier_normal).fc(InitKind::constants, 0.5);
  check_is(InitTable(policy), policy);
  CHECK(!is_zero_gamma(InitTable(policy)));
  CHECK(is_zero_gamma(InitTable(Initializer(policy).bn(InitKind::zero_gamma))));
  static_assert(InitTable(Initializer()).config(Region::b_variance).scale == 1.0F);
}

TEST_CASE("a policy of one's own may start biases with anything that fills a tensor") {
  for (const InitConfig config : {InitConfig{0.5F, InitKind::constants, FanMode::fan_in},
                                  InitConfig{0.0F, InitKind::fixed_normal, FanMode::fan_out},
                                  InitConfig{-1.0F, InitKind::none, FanMode::fan_avg}}) {
    CHECK(InitTable(Same{config}).config(Region::w_fc_bias) == config);
  }
}

TEST_CASE("what cannot fill a tensor is rejected with its region") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float inf = std::numeric_limits<float>::infinity();
  const auto table = [](InitConfig config) { return InitTable(Same{config}); };
  CHECK_THROWS_WITH_AS(table({1.0F, InitKind::zero_gamma, FanMode::fan_in}),
                       "a policy starts w_conv_bias with zero_gamma, which is no way to fill a tensor; legal is none "
                       "to fixed_normal",
                       ValueError);
  CHECK_THROWS_AS(table({1.0F, InitKind::standard, FanMode::fan_in}), ValueError);
  CHECK_THROWS_WITH_AS(
      table({1.0F, static_cast<InitKind>(99), FanMode::fan_in}),
      "a policy starts w_conv_bias with InitKind 99, which is no way to fill a tensor; legal is none to fixed_normal",
      ValueError);
  CHECK_THROWS_WITH_AS(table({1.0F, InitKind::zeros, static_cast<FanMode>(3)}),
                       "a policy starts w_conv_bias with the fan 3, legal is fan_in, fan_out or fan_avg", ValueError);
  CHECK_THROWS_WITH_AS(table({nan, InitKind::xavier_normal, FanMode::fan_in}),
                       "a policy starts w_conv_bias with xavier_normal of scale nan, legal is 1.1754944e-38 to "
                       "1.0633824e+37",
                       ValueError);
  for (float bad : {0.0F, -1.0F, 1e-40F, 2e37F, inf, nan}) {
    CHECK_THROWS_AS(table({bad, InitKind::kaiming_normal, FanMode::fan_in}), ValueError);
    CHECK_THROWS_AS(table({bad, InitKind::kaiming_uniform, FanMode::fan_in}), ValueError);
    CHECK_THROWS_AS(table({bad, InitKind::trunc_normal, FanMode::fan_in}), ValueError);
  }
  for (float bad : {-1.0F, 1e-40F, 2e37F, inf, nan}) {
    CHECK_THROWS_AS(table({bad, InitKind::fixed_normal, FanMode::fan_in}), ValueError);
  }
  for (float bad : {1e-40F, -1e-40F, inf, -inf, nan}) {
    CHECK_THROWS_AS(table({bad, InitKind::constants, FanMode::fan_in}), ValueError);
  }
}

}  // namespace
}  // namespace tr
