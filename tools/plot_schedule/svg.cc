#include "tools/plot_schedule/svg.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace tr::plot {
namespace {

constexpr double legend_width = 170.0;
constexpr double axis_height = 56.0;

struct Style {
  std::string_view colour;
  std::string_view dashes;
};

// The colours of Okabe and Ito, which colour-blind readers can tell apart, but for the yellow, too pale on white.
constexpr std::array<Style, 8> styles{{{"#0072b2", "none"},
                                       {"#d55e00", "9 4"},
                                       {"#009e73", "2 3"},
                                       {"#cc79a7", "12 3 2 3"},
                                       {"#000000", "5 5"},
                                       {"#b07000", "16 4"},
                                       {"#56b4e9", "7 3 2 3 2 3"},
                                       {"#777777", "1 5"}}};

/// Chart units to picture units.
class Scale {
 public:
  Scale(const Chart& chart, const Frame& frame) : frame_(frame), rates_(rate_axis(chart)), epochs_(epoch_axis(chart)) {}

  double x(double epoch) const { return frame_.left + frame_.width * epoch / epochs_.end; }
  double y(double rate) const { return frame_.top + frame_.height * (1.0 - rate / rates_.end); }
  const Axis& rates() const { return rates_; }
  const Axis& epochs() const { return epochs_; }
  const Frame& frame() const { return frame_; }

 private:
  Frame frame_;
  Axis rates_;
  Axis epochs_;
};

std::string text(double x, double y, std::string_view anchor, std::string_view words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, words);
}

std::string line(double x1, double y1, double x2, double y2, std::string_view more) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2, more);
}

std::string draw_axes(const Scale& scale) {
  const Frame& frame = scale.frame();
  const double right = frame.left + frame.width;
  const double bottom = frame.top + frame.height;
  constexpr std::string_view grid = "stroke=\"#e0e0e0\"";
  constexpr std::string_view axis = "stroke=\"#333333\"";
  std::string svg;
  for (int i = 0; i <= scale.rates().ticks(); ++i) {
    const double rate = i * scale.rates().step;
    if (i > 0) svg += line(frame.left, scale.y(rate), right, scale.y(rate), grid);
    svg += line(frame.left - 5.0, scale.y(rate), frame.left, scale.y(rate), axis);
    svg += text(frame.left - 9.0, scale.y(rate) + 4.0, "end", fmt::format("{:g}", rate));
  }
  for (int i = 0; i <= scale.epochs().ticks(); ++i) {
    const double epoch = i * scale.epochs().step;
    svg += line(scale.x(epoch), bottom, scale.x(epoch), bottom + 5.0, axis);
    svg += text(scale.x(epoch), bottom + 20.0, "middle", fmt::format("{:g}", epoch));
  }
  svg += line(frame.left, frame.top, frame.left, bottom, axis);
  svg += line(frame.left, bottom, right, bottom, axis);
  svg += text(frame.left + frame.width / 2.0, bottom + 44.0, "middle", "epoch");
  svg +=
      fmt::format("<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">learning rate</text>\n",
                  frame.top + frame.height / 2.0);
  return svg;
}

std::string draw_curve(const Curve& curve, const Style& style, const Chart& chart, const Scale& scale) {
  // More than two places a unit could not be told apart.
  const auto places = static_cast<std::size_t>(2.0 * scale.frame().width);
  const double rates_an_epoch = static_cast<double>(curve.rates.size()) / chart.epochs;
  std::string path;
  for (const Stretch& stretch : stretches(curve, places)) {
    const double x = scale.x(static_cast<double>(stretch.first) / rates_an_epoch);
    path += stretch.first == 0 ? fmt::format("M{:.2f} {:.2f}", x, scale.y(stretch.begins))
                               : fmt::format("H{:.2f}V{:.2f}", x, scale.y(stretch.begins));
    if (stretch.lowest == stretch.highest) continue;
    // The extreme near the end comes last: going over the same line again would fill the gaps of its dashes.
    const bool falls = stretch.ends - stretch.lowest < stretch.highest - stretch.ends;
    path += fmt::format("V{:.2f}V{:.2f}V{:.2f}", scale.y(falls ? stretch.highest : stretch.lowest),
                        scale.y(falls ? stretch.lowest : stretch.highest), scale.y(stretch.ends));
  }
  path += fmt::format("H{:.2f}", scale.x(chart.epochs));
  return fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\">"
      "<title>{}</title></path>\n",
      path, style.colour, style.dashes, curve.name);
}

/// The curve's number in a disc.
std::string draw_mark(double x, double y, std::size_t i) {
  return fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"8\" fill=\"#ffffff\" stroke=\"{}\"/>\n"
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"11\">{}</text>\n",
      x, y, styles[i % styles.size()].colour, x, y + 4.0, mark_of(i));
}

std::string draw_marks(const Chart& chart, std::size_t i, const Scale& scale) {
  const std::vector<float>& rates = chart.curves[i].rates;
  std::string svg;
  for (const double place : mark_places(i, chart.curves.size())) {
    const auto at = static_cast<std::size_t>(place * static_cast<double>(rates.size()));
    svg += draw_mark(scale.x(place * chart.epochs), scale.y(rates[at]), i);
  }
  return svg;
}

std::string draw_legend(const Chart& chart, const Scale& scale) {
  const double x = scale.frame().left + scale.frame().width + 20.0;
  std::string svg;
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const Style& style = styles[i % styles.size()];
    const double y = scale.frame().top + 12.0 + 24.0 * static_cast<double>(i);
    svg += line(x, y, x + 44.0, y,
                fmt::format("stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"", style.colour, style.dashes));
    if (chart.curves.size() > 1) svg += draw_mark(x + 22.0, y, i);
    svg += text(x + 52.0, y + 4.0, "start", chart.curves[i].name);
  }
  return svg;
}

}  // namespace

std::string draw_svg(const Chart& chart, const Frame& frame) {
  const Scale scale(chart, frame);
  const double width = frame.left + frame.width + legend_width;
  const double height = frame.top + frame.height + axis_height;
  std::string svg = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" "
      "font-family=\"sans-serif\" font-size=\"13\" role=\"img\">\n"
      "<title>learning rates</title>\n<rect width=\"{0:g}\" height=\"{1:g}\" fill=\"#ffffff\"/>\n",
      width, height);
  svg += draw_axes(scale);
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    svg += draw_curve(chart.curves[i], styles[i % styles.size()], chart, scale);
  }
  for (std::size_t i = 0; chart.curves.size() > 1 && i < chart.curves.size(); ++i) {
    svg += draw_marks(chart, i, scale);
  }
  return svg + draw_legend(chart, scale) + "</svg>\n";
}

}  // namespace tr::plot
