#include "tr/base/math.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "tests/base/near.h"
#include "tr/base/philox.h"

namespace tr {
namespace {

constexpr double inf = math::infinity;
constexpr double nan = math::nan;
constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double largest = std::numeric_limits<double>::max();

std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }

/// Equal as far as IEEE 754 tells them apart: any NaN is a NaN, zeros have signs.
bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || bits_of(a) == bits_of(b); }

bool close(double value, long double right, long double tolerance) {
  if (same(value, static_cast<double>(right))) return true;
  // Below the smallest normal number a result has fewer digits.
  const long double step = std::numeric_limits<double>::denorm_min();
  return std::abs(value - right) <= std::max(tolerance * std::abs(right), step);
}

constexpr RandomStream stream(11, Purpose::init, 0);
constexpr double uniform_in(std::uint64_t i, double low, double high) {
  return low + (high - low) * uniform(stream.bits(i));
}
/// Any finite double: sign, exponent and fraction are random.
double any_double(std::uint64_t i) {
  const auto words = stream.block(i);
  const double x = std::bit_cast<double>(std::uint64_t{words[0]} << 32 | words[1]);
  return std::isfinite(x) ? x : 1.0;
}

TEST_CASE("sqrt is correctly rounded everywhere") {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double x = std::abs(any_double(i));
    REQUIRE(same(math::sqrt(x), std::sqrt(x)));
    const double y = uniform_in(i, 0.0, 4.0);
    REQUIRE(same(math::sqrt(y), std::sqrt(y)));
  }
  for (double x : {0.0, -0.0, 1.0, 2.0, 4.0, smallest, largest, inf, -inf, nan, -1.0, 1.0 - 0x1p-53, 1.0 + 0x1p-52}) {
    CHECK(same(math::sqrt(x), std::sqrt(x)));
  }
}

TEST_CASE("exp is accurate and overflows where the standard one does") {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double x = uniform_in(i, -746.0, 711.0);
    REQUIRE(close(math::exp(x), std::exp(static_cast<long double>(x)), 1e-15L));
    const double small = std::ldexp(uniform_in(i, -1.0, 1.0), -static_cast<int>(i % 60));
    REQUIRE(close(math::exp(small), std::exp(static_cast<long double>(small)), 1e-15L));
  }
  for (double x : {0.0, -0.0, inf, -inf, nan, 1e300, -1e300, smallest, 709.782712893384, 709.782712893385, -745.2}) {
    CHECK(same(math::exp(x), std::exp(x)));
  }
  CHECK(math::exp(-745.1) == std::exp(-745.1));
}

TEST_CASE("log is accurate, beside 1 and for subnormal numbers too") {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double x = std::abs(any_double(i));
    if (x > 0.0) REQUIRE(close(math::log(x), std::log(static_cast<long double>(x)), 1e-15L));
    const double near = 1.0 + std::ldexp(uniform_in(i, -1.0, 1.0), -static_cast<int>(i % 53));
    REQUIRE(close(math::log(near), std::log(static_cast<long double>(near)), 1e-15L));
  }
  for (double x : {0.0, -0.0, 1.0, -1.0, inf, -inf, nan}) CHECK(same(math::log(x), std::log(x)));
  CHECK(close(math::log(smallest), std::log(static_cast<long double>(smallest)), 1e-15L));
  CHECK(close(math::log(largest), std::log(static_cast<long double>(largest)), 1e-15L));
}

TEST_CASE("pow is accurate also where the exponent magnifies every error of the logarithm") {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double x = std::exp(uniform_in(2 * i, -12.0, 12.0));
    const double y = uniform_in(2 * i + 1, -60.0, 60.0);
    REQUIRE(close(math::pow(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y)), 1e-14L));
    const double near = 1.0 + std::ldexp(uniform_in(2 * i, -1.0, 1.0), -static_cast<int>(i % 50));
    const double huge = y * std::ldexp(1.0, static_cast<int>(i % 50));
    REQUIRE(
        close(math::pow(near, huge), std::pow(static_cast<long double>(near), static_cast<long double>(huge)), 1e-14L));
  }
  CHECK(math::pow(2.0, 10.0) == 1024.0);
  CHECK(math::pow(10.0, -3.0) == 1e-3);
  CHECK(near(math::pow(0.1, 0.5), std::sqrt(0.1), 1e-15));
}

TEST_CASE("pow has the special cases of the standard one") {
  const double values[] = {0.0,    -0.0,     1.0,       -1.0,    2.0,      -2.0,   3.0,          -3.0,
                           0.5,    -0.5,     2.5,       -2.5,    inf,      -inf,   nan,          1e300,
                           -1e300, smallest, -smallest, largest, -largest, 1e-300, 0x1p53 - 1.0, 0x1p53};
  for (double x : values) {
    for (double y : values) {
      CAPTURE(x);
      CAPTURE(y);
      CHECK(close(math::pow(x, y), std::pow(x, y), 1e-15L));
    }
  }
}

TEST_CASE("cos_pi is accurate beside its zeros and exact at halves and whole numbers") {
  constexpr long double pi = 3.14159265358979323846264338327950288L;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double x = uniform_in(i, -1.0, 1.0);
    REQUIRE(std::abs(math::cos_pi(x) - std::cos(pi * x)) < 3e-16L);
    const double offset = std::ldexp(uniform_in(i, 0.5, 1.0), -2 - static_cast<int>(i % 40));
    const double near_zero = 0.5 + offset;
    REQUIRE(close(math::cos_pi(near_zero), -std::sin(pi * (near_zero - 0.5L)), 1e-15L));
    const double far = uniform_in(i, 0.0, 1e6);
    REQUIRE(math::cos_pi(far) == math::cos_pi(std::fmod(far, 2.0)));
  }
  CHECK(math::cos_pi(0.0) == 1.0);
  CHECK(math::cos_pi(1.0) == -1.0);
  CHECK(math::cos_pi(0.5) == 0.0);
  CHECK(math::cos_pi(-1.5) == 0.0);
  CHECK(math::cos_pi(1e300) == 1.0);
  CHECK(math::cos_pi(0x1p53 - 1.0) == -1.0);
  CHECK(near(math::cos_pi(1.0 / 3.0), 0.5, 1e-15));
  for (double x : {inf, -inf, nan}) CHECK(std::isnan(math::cos_pi(x)));
}

TEST_CASE("inverse_normal inverts the distribution function, deep in both tails") {
  constexpr double root_half = 0.70710678118654752440;
  double previous = -inf;
  for (int i = 1; i < 4000; ++i) {
    const double p = i / 4000.0;
    const double x = math::inverse_normal(p);
    REQUIRE(x > previous);
    previous = x;
    REQUIRE(near(0.5 * std::erfc(-x * root_half), p, 1e-14));
    REQUIRE(near(math::inverse_normal(1.0 - p), -x, 1e-12));
  }
  for (double p = 1e-3; p > 1e-300; p *= 0.1) {
    const double x = math::inverse_normal(p);
    REQUIRE(near(0.5 * std::erfc(-x * root_half), p, 1e-15 * (1.0 + x * x)));
  }
  CHECK(math::inverse_normal(0.5) == 0.0);
  CHECK(near(math::inverse_normal(0.975), 1.959963984540054, 1e-15));
  CHECK(math::inverse_normal(0.0) == -inf);
  CHECK(math::inverse_normal(1.0) == inf);
  for (double p : {-smallest, -1.0, 1.0 + 0x1p-52, inf, -inf, nan}) CHECK(std::isnan(math::inverse_normal(p)));
}

struct Values {
  double sqrt, exp, log, pow, cos_pi, inverse_normal;
};

constexpr Values values_at(double u) {
  return {math::sqrt(u),         math::exp(40.0 * u - 20.0),  math::log(u),
          math::pow(u, 3.0 - u), math::cos_pi(8.0 * u - 4.0), math::inverse_normal(u)};
}

TEST_CASE("a constant has the same bits as the value computed at run time") {
  constexpr std::size_t n = 200;
  constexpr auto constants = [] {
    std::array<Values, n> values{};
    for (std::size_t i = 0; i < n; ++i) values[i] = values_at(uniform(stream.bits(i)));
    return values;
  }();
  for (std::size_t i = 0; i < n; ++i) {
    volatile double hidden = uniform(stream.bits(i));
    const Values value = values_at(hidden);
    CHECK(bits_of(value.sqrt) == bits_of(constants[i].sqrt));
    CHECK(bits_of(value.exp) == bits_of(constants[i].exp));
    CHECK(bits_of(value.log) == bits_of(constants[i].log));
    CHECK(bits_of(value.pow) == bits_of(constants[i].pow));
    CHECK(bits_of(value.cos_pi) == bits_of(constants[i].cos_pi));
    CHECK(bits_of(value.inverse_normal) == bits_of(constants[i].inverse_normal));
  }
}

}  // namespace
}  // namespace tr
