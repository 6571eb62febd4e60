#include "tr/algo/initializer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <type_traits>

#include "tests/base/near.h"
#include "tests/golden/initializers.h"
#include "tr/algo/fill.h"

namespace tr {
namespace {

constexpr InitConfig zeros{0.0F, InitKind::zeros, FanMode::fan_in};
constexpr InitConfig ones{1.0F, InitKind::constants, FanMode::fan_in};
constexpr InitConfig untouched{1.0F, InitKind::none, FanMode::fan_in};

/// Usable as a template argument, as a plan made by the compiler needs it.
template <InitConfig config>
struct Structural {};
static_assert(sizeof(Structural<InitConfig{}>) == 1);
static_assert(sizeof(InitConfig) == 8 && std::is_trivially_copyable_v<InitConfig>);

/// Whether the compiler can evaluate the settings that `make` makes: a rejected one is no constant expression.
template <class Make>
constexpr bool is_constant(Make) {
  return requires { typename std::integral_constant<int, (Make{}(), 0)>; };
}

InitConfig conv_of(const Initializer& policy) { return policy.derive(Region::w_deep_conv); }
InitConfig fc_of(const Initializer& policy) { return policy.derive(Region::w_fc_weight); }

struct Start {
  Region region;
  InitConfig config;
};

constexpr InitConfig conv_default{1.0F, InitKind::trunc_normal, FanMode::fan_in};
constexpr InitConfig fc_default{static_cast<float>(1.4142135623730951), InitKind::kaiming_uniform, FanMode::fan_in};

constexpr Start starts[] = {
    {Region::w_conv_bias, zeros},
    {Region::w_bn_bias, zeros},
    {Region::w_bn_weight, ones},
    {Region::w_fc_bias, zeros},
    {Region::w_fc_weight, fc_default},
    {Region::w_first_conv, conv_default},
    {Region::w_deep_conv, conv_default},
    {Region::w_eq_bias, zeros},
    {Region::w_eq_scale, ones},
    {Region::a_fc_weight, untouched},
    {Region::a_first_conv, untouched},
    {Region::a_deep_conv, untouched},
    {Region::b_mean, zeros},
    {Region::b_variance, ones},
    {Region::s_scalar_fp32, untouched},
    {Region::s_scalar_int32, untouched},
    {Region::n_square_sum, untouched},
    {Region::m_conv_bias, zeros},
    {Region::m_bn_bias, zeros},
    {Region::m_bn_weight, zeros},
    {Region::m_fc_bias, zeros},
    {Region::m_fc_weight, zeros},
    {Region::m_first_conv, zeros},
    {Region::m_deep_conv, zeros},
    {Region::v_conv_bias, zeros},
    {Region::v_bn_bias, zeros},
    {Region::v_bn_weight, zeros},
    {Region::v_fc_bias, zeros},
    {Region::v_fc_weight, zeros},
    {Region::v_first_conv, zeros},
    {Region::v_deep_conv, zeros},
    {Region::e_conv_bias, untouched},
    {Region::e_bn_bias, untouched},
    {Region::e_bn_weight, untouched},
    {Region::e_fc_bias, untouched},
    {Region::e_fc_weight, untouched},
    {Region::e_first_conv, untouched},
    {Region::e_deep_conv, untouched},
    {Region::g_conv_bias, untouched},
    {Region::g_bn_bias, untouched},
    {Region::g_bn_weight, untouched},
    {Region::g_fc_bias, untouched},
    {Region::g_fc_weight, untouched},
    {Region::g_first_conv, untouched},
    {Region::g_deep_conv, untouched},
    {Region::r_result, untouched},
    {Region::r_accumulated, untouched},
    {Region::i_a_label, untouched},
    {Region::i_a_data, untouched},
    {Region::i_b_label, untouched},
    {Region::i_b_data, untouched},
    {Region::f_feature, untouched},
    {Region::f_gradient, untouched},
    {Region::t_temp, untouched},
};

constexpr bool each_region_stands_in_its_place() {
  for (int i = 0; i < region_count; ++i) {
    if (starts[i].region != static_cast<Region>(i)) return false;
  }
  return sizeof(starts) / sizeof(starts[0]) == region_count;
}
static_assert(each_region_stands_in_its_place());
static_assert(Initializer().derive(Region::b_variance) == ones);
static_assert(Initializer().fc(InitKind::zeros).derive(Region::w_fc_weight).kind == InitKind::zeros);

TEST_CASE("every region starts as the table says") {
  for (const Start& start : starts) {
    CAPTURE(name_of(start.region));
    CHECK(Initializer().derive(start.region) == start.config);
    CHECK(Initializer().config(start.region) == start.config);
  }
}

TEST_CASE("every region but the weights starts the same, whatever the settings") {
  const auto policy = Initializer()
                          .conv(InitKind::fixed_normal, 7.0)
                          .fc(InitKind::constants, 5.0)
                          .bn(InitKind::zero_gamma)
                          .fan(FanMode::fan_out)
                          .scale(3.0)
                          .kaiming_a(2.0);
  for (const Start& start : starts) {
    CAPTURE(name_of(start.region));
    CHECK((policy.derive(start.region) == start.config) == !is_weight(start.region));
  }
}

TEST_CASE("convolutions and fully connected layers are set apart; the first convolution is like the others") {
  const auto policy = Initializer().conv(InitKind::xavier_normal).fc(InitKind::fixed_normal, 0.5);
  CHECK(policy.derive(Region::w_first_conv) == InitConfig{1.0F, InitKind::xavier_normal, FanMode::fan_in});
  CHECK(policy.derive(Region::w_deep_conv) == policy.derive(Region::w_first_conv));
  CHECK(fc_of(policy) == InitConfig{0.5F, InitKind::fixed_normal, FanMode::fan_in});
  const auto other = Initializer().conv(InitKind::constants, -2.0);
  CHECK(conv_of(other) == InitConfig{-2.0F, InitKind::constants, FanMode::fan_in});
  CHECK(fc_of(other) == fc_default);
}

TEST_CASE("weights take kind, fan and gain; Kaiming kinds include the gain of the rectifier") {
  for (InitKind kind : {InitKind::kaiming_normal, InitKind::kaiming_uniform}) {
    const Initializer policy = Initializer().conv(kind).fc(kind);
    CHECK(fc_of(policy) == InitConfig{std::sqrt(2.0F), kind, FanMode::fan_in});
    CHECK(near(fc_of(Initializer(policy).scale(3.0)).scale, 3.0 * std::sqrt(2.0), 1e-7));
    CHECK(near(conv_of(Initializer(policy).kaiming_a(std::sqrt(5.0))).scale, std::sqrt(1.0 / 3.0), 1e-7));
    CHECK(near(conv_of(Initializer(policy).kaiming_a(3.0).scale(2.0)).scale, 2.0 * std::sqrt(0.2), 1e-7));
  }
  for (InitKind kind : {InitKind::xavier_normal, InitKind::xavier_uniform, InitKind::trunc_normal}) {
    const auto policy = Initializer().conv(kind).fc(kind).kaiming_a(7.0).scale(2.0).fan(FanMode::fan_avg);
    CHECK(fc_of(policy) == InitConfig{2.0F, kind, FanMode::fan_avg});
    CHECK(conv_of(policy) == fc_of(policy));
  }
  const auto fixed = Initializer().conv(InitKind::fixed_normal, 0.01).fc(InitKind::constants, -2.0).scale(2.0);
  CHECK(conv_of(fixed).scale == 0.01F);
  CHECK(fc_of(fixed).scale == -2.0F);
}

TEST_CASE("standard deviations and bounds are those of PyTorch") {
  for (const auto& right : golden::initializers) {
    InitKind kind = InitKind::none;
    for (int i = 0; i < init_kind_count; ++i) {
      if (name_of(static_cast<InitKind>(i)) == right.kind) kind = static_cast<InitKind>(i);
    }
    const std::string_view fan = right.fan;
    const auto policy = Initializer()
                            .conv(kind)
                            .fc(kind)
                            .fan(fan == "fan_in"    ? FanMode::fan_in
                                 : fan == "fan_out" ? FanMode::fan_out
                                                    : FanMode::fan_avg)
                            .kaiming_a(right.kaiming_a)
                            .scale(right.scale);
    const Shape krsc{right.krsc[0], right.krsc[1], right.krsc[2], right.krsc[3]};
    CAPTURE(right.kind);
    CAPTURE(right.fan);
    CHECK(near(spread_of(fc_of(policy), krsc), right.spread, 1e-7));
    CHECK(near(spread_of(conv_of(policy), krsc), right.spread, 1e-7));
  }
}

TEST_CASE("zero_gamma is a mark: γ itself starts with 1, since a region does not say where a branch ends") {
  CHECK(!Initializer().is_zero_gamma());
  CHECK(!Initializer().bn(InitKind::standard).is_zero_gamma());
  CHECK(Initializer().bn(InitKind::zero_gamma).is_zero_gamma());
  CHECK(!Initializer().bn(InitKind::zero_gamma).bn(InitKind::standard).is_zero_gamma());
  CHECK(Initializer().bn(InitKind::zero_gamma).derive(Region::w_bn_weight) == ones);
}

TEST_CASE("a kind that needs a value gets one, and no other does") {
  CHECK_THROWS_WITH_AS(Initializer().fc(InitKind::fixed_normal),
                       "fc(fixed_normal) needs a value, as in fc(InitKind::fixed_normal, 0.01)", ValueError);
  CHECK_THROWS_WITH_AS(Initializer().conv(InitKind::constants),
                       "conv(constants) needs a value, as in conv(InitKind::constants, 0.01)", ValueError);
  CHECK_THROWS_WITH_AS(
      Initializer().fc(InitKind::kaiming_normal, 0.5),
      "fc(kaiming_normal) is given the value 0.5, which only constants and fixed_normal take; leave it "
      "out, or use scale()",
      ValueError);
  CHECK_THROWS_AS(Initializer().conv(InitKind::zeros, 0.0), ValueError);
}

TEST_CASE("the kinds of batch normalisation are for bn, and all others are not") {
  for (int i = 0; i < init_kind_count; ++i) {
    const auto kind = static_cast<InitKind>(i);
    const bool is_bn = kind == InitKind::standard || kind == InitKind::zero_gamma;
    CAPTURE(name_of(kind));
    if (is_bn) {
      CHECK_NOTHROW(Initializer().bn(kind));
      CHECK_THROWS_AS(Initializer().conv(kind), ValueError);
      CHECK_THROWS_AS(Initializer().conv(kind, 1.0), ValueError);
      CHECK_THROWS_AS(Initializer().fc(kind), ValueError);
      CHECK_THROWS_AS(Initializer().fc(kind, 1.0), ValueError);
    } else {
      CHECK_THROWS_AS(Initializer().bn(kind), ValueError);
    }
  }
  CHECK_THROWS_WITH(Initializer().conv(InitKind::standard),
                    "conv is standard, legal is any kind but standard and zero_gamma, which are for bn");
  CHECK_THROWS_WITH(Initializer().bn(InitKind::zeros), "bn is zeros, legal is standard or zero_gamma");
}

TEST_CASE("numbers that are no enumerator are rejected by their number") {
  CHECK_THROWS_WITH_AS(Initializer().fc(static_cast<InitKind>(77)),
                       "fc is InitKind 77, legal is any kind but standard and zero_gamma, which are for bn",
                       ValueError);
  CHECK_THROWS_WITH_AS(Initializer().bn(static_cast<InitKind>(init_kind_count)),
                       "bn is InitKind 11, legal is standard or zero_gamma", ValueError);
  CHECK_THROWS_AS(Initializer().conv(static_cast<InitKind>(255), 1.0), ValueError);
  CHECK_THROWS_WITH_AS(Initializer().fan(static_cast<FanMode>(3)), "fan is 3, legal is fan_in, fan_out or fan_avg",
                       ValueError);
}

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double smallest = 0x1p-126;  // The smallest normal float.
constexpr double largest = 0x1.fffffep+127;

TEST_CASE("settings outside their range are rejected by name") {
  for (double bad : {inf, -inf, nan, 1e39, -1e39}) {
    CHECK_THROWS_AS(Initializer().scale(bad), ValueError);
    CHECK_THROWS_AS(Initializer().kaiming_a(bad), ValueError);
    CHECK_THROWS_AS(Initializer().conv(InitKind::constants, bad), ValueError);
    CHECK_THROWS_AS(Initializer().fc(InitKind::constants, bad), ValueError);
    CHECK_THROWS_AS(Initializer().conv(InitKind::fixed_normal, bad), ValueError);
    CHECK_THROWS_AS(Initializer().fc(InitKind::fixed_normal, bad), ValueError);
  }
  CHECK_THROWS_WITH(Initializer().scale(0.0), "scale is 0, legal is 1.1754944e-38 to 1.0633824e+37");
  CHECK_THROWS_WITH(Initializer().kaiming_a(-0.1), "kaiming_a is -0.1, legal is 0 to 3.4028235e+38");
  CHECK_THROWS_WITH(Initializer().conv(InitKind::fixed_normal, -0.01),
                    "the standard deviation of conv is -0.01, legal is 0, or 1.1754944e-38 to 1.0633824e+37");
  CHECK_THROWS_WITH(Initializer().fc(InitKind::constants, 1e39),
                    "the value of fc is 1e+39, legal is 0, or 1.1754944e-38 to 3.4028235e+38 with either sign");
}

TEST_CASE("what no normal float holds is rejected, and what one just holds is exact") {
  const double below = std::nextafter(smallest, 0.0);
  for (double bad : {below, 1e-50, 5e-324}) {
    CHECK_THROWS_AS(Initializer().scale(bad), ValueError);
    CHECK_THROWS_AS(Initializer().conv(InitKind::fixed_normal, bad), ValueError);
    CHECK_THROWS_AS(Initializer().fc(InitKind::constants, bad), ValueError);
    CHECK_THROWS_AS(Initializer().fc(InitKind::constants, -bad), ValueError);
  }
  CHECK_THROWS_AS(Initializer().scale(std::nextafter(0x1p123, inf)), ValueError);
  CHECK_THROWS_AS(Initializer().fc(InitKind::fixed_normal, std::nextafter(0x1p123, inf)), ValueError);
  CHECK_THROWS_AS(Initializer().conv(InitKind::constants, std::nextafter(largest, inf)), ValueError);
  CHECK_THROWS_AS(Initializer().kaiming_a(std::nextafter(largest, inf)), ValueError);

  for (double good : {smallest, 0x1p123}) {
    CHECK(static_cast<double>(conv_of(Initializer().scale(good)).scale) == good);
    CHECK(static_cast<double>(fc_of(Initializer().fc(InitKind::fixed_normal, good)).scale) == good);
    CHECK(static_cast<double>(conv_of(Initializer().conv(InitKind::constants, -good)).scale) == -good);
  }
  CHECK(fc_of(Initializer().fc(InitKind::fixed_normal, 0.0)).scale == 0.0F);
  CHECK(fc_of(Initializer().fc(InitKind::constants, 0.0)).scale == 0.0F);
  CHECK(static_cast<double>(fc_of(Initializer().fc(InitKind::constants, -largest)).scale) == -largest);
  CHECK_NOTHROW(Initializer().kaiming_a(largest));
}

TEST_CASE("a scale and a slope that make no normal gain together are rejected when a weight asks for it") {
  const Initializer tiny = Initializer().scale(1e-20).kaiming_a(1e20);
  CHECK_THROWS_WITH_AS(tiny.derive(Region::w_fc_weight),
                       "the gain of fc, scale * sqrt(2 / (1 + kaiming_a^2)), is 1.414213562373095e-40, legal is "
                       "1.1754944e-38 to 1.0633824e+37",
                       ValueError);
  CHECK_THROWS_AS(Initializer(tiny).conv(InitKind::kaiming_normal).derive(Region::w_first_conv), ValueError);
  CHECK_THROWS_AS(Initializer().scale(0x1p123).derive(Region::w_fc_weight), ValueError);
  CHECK_NOTHROW(tiny.derive(Region::w_deep_conv));
  CHECK_NOTHROW(tiny.derive(Region::w_fc_bias));
}

TEST_CASE("the compiler accepts what a run accepts, and rejects what it rejects") {
  static_assert(is_constant([] { return Initializer().conv(InitKind::zeros).fc(InitKind::none); }));
  static_assert(!is_constant([] { return Initializer().conv(InitKind::standard); }));
  static_assert(!is_constant([] { return Initializer().fc(InitKind::zero_gamma); }));
  static_assert(is_constant([] { return Initializer().bn(InitKind::zero_gamma); }));
  static_assert(!is_constant([] { return Initializer().bn(InitKind::zeros); }));
  static_assert(is_constant([] { return Initializer().conv(InitKind::fixed_normal, 0.01); }));
  static_assert(!is_constant([] { return Initializer().conv(InitKind::fixed_normal, -0.01); }));
  static_assert(!is_constant([] { return Initializer().conv(InitKind::fixed_normal); }));
  static_assert(!is_constant([] { return Initializer().conv(InitKind::kaiming_normal, 0.01); }));
  static_assert(is_constant([] { return Initializer().fc(InitKind::constants, -largest); }));
  static_assert(!is_constant([] { return Initializer().fc(InitKind::constants, nan); }));
  static_assert(!is_constant([] { return Initializer().fc(InitKind::constants, 1e-39); }));
  static_assert(is_constant([] { return Initializer().fan(FanMode::fan_avg); }));
  static_assert(!is_constant([] { return Initializer().fan(static_cast<FanMode>(3)); }));
  static_assert(is_constant([] { return Initializer().scale(smallest); }));
  static_assert(!is_constant([] { return Initializer().scale(smallest / 2.0); }));
  static_assert(!is_constant([] { return Initializer().scale(inf); }));
  static_assert(is_constant([] { return Initializer().kaiming_a(0.0); }));
  static_assert(!is_constant([] { return Initializer().kaiming_a(-1e-9); }));
  static_assert(is_constant([] { return Initializer().kaiming_a(2.0).derive(Region::w_fc_weight); }));
  static_assert(!is_constant([] { return Initializer().scale(0x1p123).derive(Region::w_fc_weight); }));
}

TEST_CASE("every kind is called as it is written") {
  const std::string_view names[] = {
      "none",           "zeros",        "constants",    "kaiming_normal", "kaiming_uniform", "xavier_normal",
      "xavier_uniform", "trunc_normal", "fixed_normal", "standard",       "zero_gamma"};
  static_assert(sizeof(names) / sizeof(names[0]) == init_kind_count);
  for (int i = 0; i < init_kind_count; ++i) CHECK(name_of(static_cast<InitKind>(i)) == names[i]);
  CHECK(name_of(static_cast<InitKind>(init_kind_count)) == "?");
}

}  // namespace
}  // namespace tr
