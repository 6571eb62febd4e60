#include "tools/plot_schedule/sketch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace tr::plot {
namespace {

constexpr int columns = 58;
constexpr int rows = 16;
constexpr int dots_across = 2 * columns;
constexpr int dots_down = 4 * rows;
constexpr int label_width = 10;

class Canvas {
 public:
  void set_dot(int x, int y) {
    // Unicode numbers the dots of a cell down the left column, then down the right one, then the bottom row.
    constexpr unsigned bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    cell(x / 2, y / 4) |= bits[y % 4][x % 2];
  }
  void set_mark(int column, int row, char mark) { marks_[index(column, row)] = mark; }

  /// A row in UTF-8, without blanks at its end.
  std::string row(int row) const {
    std::string text;
    for (int column = 0; column < columns; ++column) {
      const unsigned dots = cells_[index(column, row)];
      if (const char mark = marks_[index(column, row)]; mark != 0) {
        text += mark;
      } else if (dots == 0) {
        text += ' ';
      } else {
        // U+2800 and up.
        text += {static_cast<char>(0xe2), static_cast<char>(0xa0 | dots >> 6), static_cast<char>(0x80 | (dots & 0x3f))};
      }
    }
    return text.substr(0, text.find_last_not_of(' ') + 1);
  }

 private:
  static std::size_t index(int column, int row) {
    return static_cast<std::size_t>(row) * columns + static_cast<std::size_t>(column);
  }
  unsigned& cell(int column, int row) { return cells_[index(column, row)]; }

  std::array<unsigned, columns * rows> cells_{};
  std::array<char, columns * rows> marks_{};
};

int dot_of(double rate, const Axis& axis) {
  return std::clamp(static_cast<int>(std::lround((1.0 - rate / axis.end) * (dots_down - 1))), 0, dots_down - 1);
}

void draw_curve(Canvas& canvas, const Curve& curve, const Axis& axis) {
  const auto parts = stretches(curve, dots_across);
  for (int x = 0; x < dots_across; ++x) {
    const auto at = static_cast<std::size_t>(x) * parts.size() / dots_across;
    const bool is_new = x > 0 && static_cast<std::size_t>(x - 1) * parts.size() / dots_across != at;
    // From where the last one ended, so that a jump is a line.
    const float from = is_new ? parts[at - 1].ends : parts[at].begins;
    const int highest = dot_of(std::max(parts[at].highest, from), axis);
    const int lowest = dot_of(std::min(parts[at].lowest, from), axis);
    for (int y = highest; y <= lowest; ++y) canvas.set_dot(x, y);
  }
}

void draw_marks(Canvas& canvas, const Chart& chart, std::size_t i, const Axis& axis) {
  const std::vector<float>& rates = chart.curves[i].rates;
  for (const double place : mark_places(i, chart.curves.size())) {
    const auto at = static_cast<std::size_t>(place * static_cast<double>(rates.size()));
    canvas.set_mark(static_cast<int>(place * columns), dot_of(rates[at], axis) / 4, mark_of(i));
  }
}

/// The row that each number of the rate axis stands beside.
std::array<std::string, rows> rate_labels(const Axis& axis) {
  std::array<std::string, rows> labels;
  for (int i = 0; i <= axis.ticks(); ++i) {
    labels[static_cast<std::size_t>(dot_of(i * axis.step, axis) / 4)] = fmt::format("{:g}", i * axis.step);
  }
  return labels;
}

std::string epoch_labels(const Axis& axis) {
  std::string ticks(columns + 1, '-');
  std::string numbers(columns + label_width, ' ');
  for (int i = 0; i <= axis.ticks(); ++i) {
    const double epoch = i * axis.step;
    const auto column = static_cast<std::size_t>(std::lround(epoch / axis.end * columns));
    ticks[column] = '+';
    const std::string number = fmt::format("{:g}", epoch);
    numbers.replace(column - std::min(column, number.size() / 2), number.size(), number);
  }
  numbers.resize(numbers.find_last_not_of(' ') + 1);
  return fmt::format("{:>{}} {}\n{:>{}} {}  epoch\n", "", label_width, ticks, "", label_width, numbers);
}

}  // namespace

std::string draw_sketch(const Chart& chart) {
  const Axis axis = rate_axis(chart);
  Canvas canvas;
  for (const Curve& curve : chart.curves) draw_curve(canvas, curve, axis);
  for (std::size_t i = 0; chart.curves.size() > 1 && i < chart.curves.size(); ++i) draw_marks(canvas, chart, i, axis);

  const auto labels = rate_labels(axis);
  std::string text;
  for (int row = 0; row < rows; ++row) {
    const std::string& label = labels[static_cast<std::size_t>(row)];
    text += fmt::format("{:>{}} {}{}\n", label, label_width, label.empty() ? '|' : '+', canvas.row(row));
  }
  text += epoch_labels(epoch_axis(chart));
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    text += chart.curves.size() > 1 ? fmt::format("{:>{}} {}\n", mark_of(i), label_width, chart.curves[i].name)
                                    : fmt::format("{:>{}} {}\n", "", label_width, chart.curves[i].name);
  }
  return text;
}

}  // namespace tr::plot
