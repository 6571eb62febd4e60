#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tr::plot {

/// The rates of one schedule, each for as long as it holds: all of the same length, and together the whole run.
struct Curve {
  std::string name;
  std::vector<float> rates;
};

struct Chart {
  std::vector<Curve> curves;
  int epochs = 0;
};

/// What an axis shows: its numbers are multiples of `step`, from 0 to `end`.
struct Axis {
  double end = 0.0;
  double step = 0.0;

  /// How many numbers follow the 0.
  int ticks() const;
};

/// Ends with a number that is no lower than the highest rate; about six numbers.
Axis rate_axis(const Chart& chart);

/// Ends with the run, and all of its numbers are whole.
Axis epoch_axis(const Chart& chart);

/// A stretch of a curve that is drawn at one place, because the next place is too close to tell.
struct Stretch {
  std::size_t first;
  float begins;
  float ends;
  float lowest;
  float highest;
};

/// The curve in at most `places` stretches of about the same length; each is a single rate where that is enough.
std::vector<Stretch> stretches(const Curve& curve, std::size_t places);

/// The number by which curve i is known in a drawing, a character.
char mark_of(std::size_t i);

/// Where the curve with this index carries its mark, in parts of the run. No two curves carry theirs at the same place,
/// so that those that lie on each other can be told apart.
std::vector<double> mark_places(std::size_t i, std::size_t curves);

}  // namespace tr::plot
