#include "tools/plot_schedule/chart.h"

#include <algorithm>
#include <cmath>

namespace tr::plot {
namespace {

/// The lowest of 1, 2, 5, 10, 20, 50 … and of their tenths that is no lower than `least`.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= least) return digit * power;
  }
  return 10.0 * power;
}

}  // namespace

int Axis::ticks() const { return static_cast<int>(std::floor(end / step * (1.0 + 1e-6))); }

Axis rate_axis(const Chart& chart) {
  float highest = 0.0F;
  for (const Curve& curve : chart.curves) highest = std::max(highest, *std::ranges::max_element(curve.rates));
  if (highest == 0.0F) return {.end = 1.0, .step = 0.2};
  const double step = round_step(highest / 6.0);
  // A rate of 0.1 is a little above 0.1, as a float.
  return {.end = step * std::ceil(highest / step * (1.0 - 1e-6)), .step = step};
}

Axis epoch_axis(const Chart& chart) {
  return {.end = static_cast<double>(chart.epochs), .step = std::max(1.0, round_step(chart.epochs / 10.0))};
}

std::vector<Stretch> stretches(const Curve& curve, std::size_t places) {
  const std::size_t size = curve.rates.size();
  const std::size_t count = std::min(size, places);
  std::vector<Stretch> result;
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = curve.rates.begin() + static_cast<std::ptrdiff_t>(i * size / count);
    const auto last = curve.rates.begin() + static_cast<std::ptrdiff_t>((i + 1) * size / count);
    const auto [lowest, highest] = std::minmax_element(first, last);
    result.push_back(
        {.first = i * size / count, .begins = *first, .ends = *(last - 1), .lowest = *lowest, .highest = *highest});
  }
  return result;
}

char mark_of(std::size_t i) { return static_cast<char>('1' + i); }

std::vector<double> mark_places(std::size_t i, std::size_t curves) {
  constexpr int marks = 4;
  std::vector<double> places;
  places.reserve(marks);
  for (int mark = 0; mark < marks; ++mark) {
    places.push_back((mark + (static_cast<double>(i) + 0.5) / static_cast<double>(curves)) / marks);
  }
  return places;
}

}  // namespace tr::plot
