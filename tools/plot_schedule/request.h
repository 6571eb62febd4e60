#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/plot_schedule/chart.h"

namespace tr::plot {

/// What the command line asks for; what it does not give keeps a schedule's own default.
struct Request {
  std::vector<std::string> names;
  int epochs = 90;
  int steps_per_epoch = 100;
  bool by_batch = false;
  std::optional<double> base_lr;
  std::optional<int> warmup;
  std::optional<double> warmup_start_lr;
  std::optional<double> warmup_start_factor;
  std::optional<int> step_size;
  std::optional<std::vector<int>> milestones;
  std::optional<double> gamma;
  std::optional<double> power;
  std::optional<double> end_lr;
  std::optional<double> eta_min;
  std::optional<int> t_0;
  std::optional<double> t_mult;
  std::optional<double> decay_start;
  /// The file to write, empty for none.
  std::string out;
};

/// Throws UsageError naming the option, its value and what is legal, also for an option that none of the named
/// schedules takes. The file is taken relative to BUILD_WORKING_DIRECTORY where that is set.
Request parse_request(int argc, const char* const* argv);

/// The rates of every named schedule, one for each epoch or, by batch, for each step. Throws ValueError as the
/// schedules do.
Chart make_chart(const Request& request);

}  // namespace tr::plot
