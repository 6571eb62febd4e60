#pragma once

#include <string>

#include "tools/plot_schedule/chart.h"

namespace tr::plot {

/// The chart for a terminal of 80 columns: curves of braille dots, two a column and four a row, each with its number on
/// it where there are several; axes and their numbers in ASCII. UTF-8.
std::string draw_sketch(const Chart& chart);

}  // namespace tr::plot
