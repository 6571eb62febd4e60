#pragma once

#include <string>

#include "tools/plot_schedule/chart.h"

namespace tr::plot {

/// Where the picture has its axes, in its own units: x to the right, y down.
struct Frame {
  double left = 80.0;
  double top = 24.0;
  double width = 640.0;
  double height = 380.0;
};

/// The chart as an SVG file: one path a curve, stairs whose treads are as long as a rate holds. Curves differ in dashes
/// and carry their number, so colour is not needed.
std::string draw_svg(const Chart& chart, const Frame& frame = {});

}  // namespace tr::plot
