#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

/// Elementary functions that give the same bits at compile time and at run time, with every compiler and C library.
/// The standard ones are not constexpr before C++26 and differ between libraries in the last place. All take and return
/// binary64 and follow IEEE 754 in their special cases (NaN, infinities, signed zeros, subnormal numbers). They assume
/// that the compiler does not fuse a multiplication with an addition, so a target that could (-march=native, AArch64)
/// needs -ffp-contract=off. On a thread that flushes subnormal numbers to zero, as the ranks do, only those differ.
///
/// Relative error, tested: sqrt correctly rounded, exp, log, pow and cos_pi below 1e-14, inverse_normal below 1e-13.
namespace tr::math {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double pi = 0x1.921fb54442d18p+1;

constexpr bool is_nan(double x) { return x != x; }
constexpr double abs(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~(std::uint64_t{1} << 63));
}
constexpr bool is_finite(double x) { return abs(x) < infinity; }

namespace detail {

/// ln 2 in two parts; the first has 21 trailing zeros, so that its product with any binary exponent is exact.
inline constexpr double ln2_high = 0x1.62e42fee00000p-1;
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33;

/// c[0]·x^(N-1) + … + c[N-1].
template <std::size_t N>
constexpr double polynomial(double x, const double (&c)[N]) {
  double sum = c[0];
  for (std::size_t i = 1; i < N; ++i) sum = sum * x + c[i];
  return sum;
}

/// 2^n for n in [-1022, 1023].
constexpr double power_of_two(int n) { return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52); }

/// x·2^n, rounded at most once.
constexpr double scale_by_power_of_two(double x, int n) {
  if (n < -1022) return x * power_of_two(n + 200) * power_of_two(-200);
  if (n > 1023) return x * power_of_two(n - 1) * 2.0;
  return x * power_of_two(n);
}

/// A positive finite x as mantissa·2^exponent with the mantissa in [1, 2).
struct Split {
  double mantissa;
  int exponent;
};

constexpr Split split(double x) {
  constexpr double smallest_normal = std::numeric_limits<double>::min();
  const bool subnormal = x < smallest_normal;
  const auto bits = std::bit_cast<std::uint64_t>(subnormal ? x * power_of_two(54) : x);
  const auto fraction = bits & ((std::uint64_t{1} << 52) - 1);
  return {std::bit_cast<double>(fraction | (std::uint64_t{1023} << 52)),
          static_cast<int>(bits >> 52) - 1023 - (subnormal ? 54 : 0)};
}

/// An unevaluated sum: about 106 bits where the second part is the rounding error of the first.
struct Pair {
  double high;
  double low;
};

/// a + b exactly (Knuth, The Art of Computer Programming 2, 4.2.2).
constexpr Pair add_exactly(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

/// a·b exactly (Dekker 1971), for operands below 2^995.
constexpr Pair multiply_exactly(double a, double b) {
  constexpr double splitter = 0x1p27 + 1.0;
  const double as = splitter * a;
  const double ah = as - (as - a);
  const double al = a - ah;
  const double bs = splitter * b;
  const double bh = bs - (bs - b);
  const double bl = b - bh;
  const double product = a * b;
  return {product, ((ah * bh - product) + ah * bl + al * bh) + al * bl};
}

/// ln x for a positive finite x, to about 2^-65 relative: pow multiplies its error by up to 745.
/// With x = 2^k·m and s = (m-1)/(m+1): ln x = k·ln 2 + 2·artanh s, where artanh s = s + s³/3 + s⁵/5 + …
constexpr Pair log_pair(double x) {
  Split parts = split(x);
  if (parts.mantissa > 0x1.6a09e667f3bcdp+0) {
    parts.mantissa *= 0.5;
    ++parts.exponent;
  }
  const double f = parts.mantissa - 1.0;
  const Pair denominator = add_exactly(2.0, f);
  const double s = f / denominator.high;
  const Pair back = multiply_exactly(s, denominator.high);
  const double s_error = (((f - back.high) - back.low) - s * denominator.low) / denominator.high;
  const double z = s * s;
  constexpr double odd[] = {1.0 / 25, 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15,
                            1.0 / 13, 1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
  const double tail = s * z * polynomial(z, odd);
  const double k = parts.exponent;
  const Pair leading = add_exactly(k * ln2_high, 2.0 * s);
  return add_exactly(leading.high, leading.low + (2.0 * (tail + s_error) + k * ln2_low));
}

/// e^(x + error) with a finite x and an error far smaller than 1.
constexpr double exp_sum(double x, double error) {
  if (x > 709.79) return infinity;
  if (x < -745.14) return 0.0;
  constexpr double inverse_ln2 = 0x1.71547652b82fep+0;
  const int k = static_cast<int>(x * inverse_ln2 + (x < 0.0 ? -0.5 : 0.5));
  const double r = ((x - k * ln2_high) - k * ln2_low) + error;
  // 1/n! from 14 down to 2: |r| is at most 0.35, so the rest is below 2^-60.
  constexpr double factorial[] = {1.0 / 87178291200.0,
                                  1.0 / 6227020800.0,
                                  1.0 / 479001600.0,
                                  1.0 / 39916800.0,
                                  1.0 / 3628800.0,
                                  1.0 / 362880.0,
                                  1.0 / 40320.0,
                                  1.0 / 5040.0,
                                  1.0 / 720.0,
                                  1.0 / 120.0,
                                  1.0 / 24.0,
                                  1.0 / 6.0,
                                  0.5};
  return scale_by_power_of_two(1.0 + (r + r * r * polynomial(r, factorial)), k);
}

enum class Parity : std::uint8_t { fraction, even, odd };

/// Of a finite number.
constexpr Parity parity_of(double x) {
  const double a = abs(x);
  if (a >= 0x1p53) return Parity::even;
  const auto whole = static_cast<std::int64_t>(a);
  if (static_cast<double>(whole) != a) return Parity::fraction;
  return whole % 2 == 0 ? Parity::even : Parity::odd;
}

/// |x|^y where one of them is 0 or infinite and neither is NaN, y not 0 and |x| not 1.
constexpr double pow_limit(double a, double y) {
  const bool grows = (a > 1.0) == (y > 0.0);
  return grows ? infinity : 0.0;
}

/// The outer branches of AS 241, with r = √(-ln p) for a p below 0.075.
constexpr double inverse_normal_tail(double r) {
  if (r <= 5.0) {
    constexpr double c[] = {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
                            1.27045825245236838258e0,  3.64784832476320460504e0,  5.76949722146069140550e0,
                            4.63033784615654529590e0,  1.42343711074968357734e0};
    constexpr double d[] = {
        1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
        6.89767334985100004550e-1, 1.67638483018380384940e0,  2.05319162663775882187e0,  1.0};
    return polynomial(r - 1.6, c) / polynomial(r - 1.6, d);
  }
  constexpr double e[] = {2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
                          2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
                          5.46378491116411436990e0,  6.65790464350110377720e0};
  constexpr double f[] = {
      2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
      1.48753612908506148525e-2,  1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0};
  return polynomial(r - 5.0, e) / polynomial(r - 5.0, f);
}

}  // namespace detail

/// √x, correctly rounded; NaN below zero. One bit of the root a round, in integers.
constexpr double sqrt(double x) {
  if (is_nan(x) || x == 0.0 || x == infinity) return x;
  if (x < 0.0) return nan;
  const detail::Split parts = detail::split(x);
  const bool is_odd = parts.exponent % 2 != 0;
  const auto bits = std::bit_cast<std::uint64_t>(parts.mantissa) & ((std::uint64_t{1} << 52) - 1);
  // In [2^52, 2^54), the value of x but for an even power of two.
  const std::uint64_t value = ((std::uint64_t{1} << 52) | bits) << (is_odd ? 1 : 0);
  std::uint64_t rest = 0;
  std::uint64_t root = 0;
  for (int place = 52; place >= -54; place -= 2) {
    rest = rest << 2 | (place >= 0 ? value >> place & 3U : 0U);
    const std::uint64_t trial = root << 2 | 1U;
    root <<= 1;
    if (rest >= trial) {
      rest -= trial;
      root |= 1U;
    }
  }
  // 54 bits of the root; a tie cannot be, the square of 54 significant bits has more places than x.
  const auto rounded = static_cast<double>((root + 1) >> 1);
  return detail::scale_by_power_of_two(rounded, (parts.exponent - (is_odd ? 1 : 0)) / 2 - 52);
}

constexpr double exp(double x) {
  if (is_nan(x)) return x;
  if (!is_finite(x)) return x > 0.0 ? infinity : 0.0;
  return detail::exp_sum(x, 0.0);
}

/// The natural logarithm: -infinity at 0, NaN below.
constexpr double log(double x) {
  if (is_nan(x) || x == infinity) return x;
  if (x < 0.0) return nan;
  if (x == 0.0) return -infinity;
  return detail::log_pair(x).high;
}

/// x^y with the special cases of C's pow (ISO C17, F.10.4.4).
constexpr double pow(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (is_nan(x) || is_nan(y)) return nan;
  const double a = abs(x);
  const detail::Parity parity = is_finite(y) ? detail::parity_of(y) : detail::Parity::even;
  const bool is_negative = std::bit_cast<std::uint64_t>(x) >> 63 != 0;
  const double sign = is_negative && parity == detail::Parity::odd ? -1.0 : 1.0;
  if (a == 1.0 && !is_finite(y)) return 1.0;
  if (a == 0.0 || a == infinity || !is_finite(y)) return sign * detail::pow_limit(a, y);
  if (is_negative && parity == detail::Parity::fraction) return nan;
  if (a == 1.0) return sign;
  const detail::Pair log_a = detail::log_pair(a);
  const double estimate = y * log_a.high;
  // Also keeps the exact product below away from operands that it could not split.
  if (abs(estimate) > 800.0) return sign * (estimate > 0.0 ? infinity : 0.0);
  const detail::Pair product = detail::multiply_exactly(y, log_a.high);
  return sign * detail::exp_sum(product.high, product.low + y * log_a.low);
}

/// cos(π·x), the form in which every schedule needs the cosine: x is reduced exactly, so the error stays relative even
/// beside the zeros, halves give 0 and whole numbers 1 or -1; NaN for infinities.
constexpr double cos_pi(double x) {
  if (!is_finite(x)) return nan;
  const double a = abs(x);
  if (a >= 0x1p53) return 1.0;  // All of these are even.
  const auto whole = static_cast<std::int64_t>(a);
  double sign = whole % 2 == 0 ? 1.0 : -1.0;
  double fraction = a - static_cast<double>(whole);
  if (fraction > 0.5) {
    fraction = 1.0 - fraction;
    sign = -sign;
  }
  // The Taylor series of cosine and sine, on [0, π/4].
  if (fraction <= 0.25) {
    constexpr double c[] = {1.0 / 20922789888000.0, -1.0 / 87178291200.0, 1.0 / 479001600.0, -1.0 / 3628800.0,
                            1.0 / 40320.0,          -1.0 / 720.0,         1.0 / 24.0,        -0.5};
    const double z = pi * fraction * (pi * fraction);
    return sign * (1.0 + z * detail::polynomial(z, c));
  }
  constexpr double s[] = {1.0 / 355687428096000.0, -1.0 / 1307674368000.0, 1.0 / 6227020800.0, -1.0 / 39916800.0,
                          1.0 / 362880.0,          -1.0 / 5040.0,          1.0 / 120.0,        -1.0 / 6.0};
  const double angle = pi * (0.5 - fraction);
  const double z = angle * angle;
  return sign * (angle + angle * z * detail::polynomial(z, s));
}

/// Φ⁻¹(p), the p-quantile of the standard normal distribution: algorithm AS 241, PPND16 (Wichura, Applied Statistics
/// 37, 1988). -infinity at 0, infinity at 1, NaN outside.
constexpr double inverse_normal(double p) {
  if (!(p >= 0.0 && p <= 1.0)) return nan;
  if (p == 0.0) return -infinity;
  if (p == 1.0) return infinity;
  const double q = p - 0.5;
  if (abs(q) <= 0.425) {
    constexpr double a[] = {2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
                            4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
                            1.3314166789178437745e2, 3.3871328727963666080e0};
    constexpr double b[] = {
        5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
        5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0};
    const double r = 0.180625 - q * q;
    return q * detail::polynomial(r, a) / detail::polynomial(r, b);
  }
  const double value = detail::inverse_normal_tail(sqrt(-log(q < 0.0 ? p : 1.0 - p)));
  return q < 0.0 ? -value : value;
}

}  // namespace tr::math
