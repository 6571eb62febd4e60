#pragma once

#include <string>
#include <string_view>

#include "tools/plot_schedule/request.h"
#include "tr/algo/any_scheduler.h"

namespace tr::plot {

/// A schedule as the command line knows it.
struct Kind {
  std::string_view name;
  /// The options that only some schedules take, a space behind each.
  std::string_view options;
  /// With all that the request says of it; throws ValueError as its setters do.
  AnyScheduler (*make)(const Request& request);
};

/// Null for a name that no schedule has.
const Kind* find_kind(std::string_view name);

bool takes(const Kind& kind, const std::string& option);

/// All names, as a sentence lists them.
std::string names_of_kinds();

/// The names of the schedules that take an option, with commas between them; empty where all take it.
std::string takers_of(const std::string& option);

}  // namespace tr::plot
