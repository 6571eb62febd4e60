#include "tools/plot_schedule/request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <string_view>
#include <system_error>

#include "tools/plot_schedule/kinds.h"
#include "tr/io/options.h"

namespace tr::plot {
namespace {

constexpr int max_epochs = 1'000'000;
constexpr int max_steps_per_epoch = 1'000'000;
constexpr std::int64_t max_rates = 10'000'000;

[[noreturn]] void usage_error(const std::string& text) { throw UsageError(text, 2); }

[[noreturn]] void usage_error(std::string_view option, std::string_view value, std::string_view legal) {
  if (value.empty()) usage_error(fmt::format("{} has no value, legal is {}", option, legal));
  usage_error(fmt::format("{} is '{}', legal is {}", option, value, legal));
}

/// Nothing where the text is more than the number, or none. CLI11 would take "0x10" and read "010" as eight.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

int parse_integer(std::string_view option, const std::string& text, int low, int high) {
  const auto value = number_in<int>(text);
  if (!value || *value < low || *value > high) {
    usage_error(option, text, fmt::format("a whole number from {} to {}", low, high));
  }
  return *value;
}

std::vector<int> parse_milestones(const std::string& text) {
  std::vector<int> milestones;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const auto epoch = number_in<int>(std::string_view(text).substr(start, comma - start));
    if (!epoch) usage_error("--milestones", text, "epochs with commas between them, such as 30,60,80");
    milestones.push_back(*epoch);
    start = comma + 1;
  }
  return milestones;
}

std::string parse_path(const std::string& text) {
  if (text.empty()) usage_error("--out", text, "the name of a file");
  const char* base = std::getenv("BUILD_WORKING_DIRECTORY");  // NOLINT(concurrency-mt-unsafe): there is one thread
  return base == nullptr ? text : (std::filesystem::path(base) / text).string();
}

/// A missing value reaches `parse` as an empty text and so gets the same message as a wrong one.
void add(CLI::App& app, const char* name, const char* type, const std::string& help,
         const std::function<void(const std::string&)>& parse) {
  app.add_option_function<std::string>(name, parse, help)
      ->type_name(type)
      ->expected(0, 1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void add_integer(CLI::App& app, const char* name, const std::string& help, std::optional<int>& value) {
  add(app, name, "N", help, [=, &value](const std::string& text) {
    value = parse_integer(name, text, std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
  });
}

void add_number(CLI::App& app, const char* name, const std::string& help, std::optional<double>& value) {
  add(app, name, "X", help, [=, &value](const std::string& text) {
    value = number_in<double>(text);
    if (!value) usage_error(name, text, "a number");
  });
}

void add_common(CLI::App& app, Request& request) {
  add(app, "--epochs", "N", fmt::format("length of the run (default {})", request.epochs),
      [&](const std::string& text) { request.epochs = parse_integer("--epochs", text, 1, max_epochs); });
  add(app, "--steps-per-epoch", "N", fmt::format("batches of an epoch (default {})", request.steps_per_epoch),
      [&](const std::string& text) {
        request.steps_per_epoch = parse_integer("--steps-per-epoch", text, 1, max_steps_per_epoch);
      });
  app.add_flag("--by-batch", request.by_batch, "a rate for every batch, not only for every epoch")
      ->disable_flag_override();
  add_number(app, "--base-lr", "highest rate", request.base_lr);
  add_integer(app, "--warmup", "epochs of linear warm-up", request.warmup);
  add_number(app, "--warmup-start-lr", "rate of step 0", request.warmup_start_lr);
  add_number(app, "--warmup-start-factor", "rate of step 0 as a part of the highest", request.warmup_start_factor);
  add(app, "--out", "FILE", "write an SVG picture to this file; without it, a sketch goes to the terminal",
      [&](const std::string& text) { request.out = parse_path(text); });
}

/// The options that only some schedules take.
void add_specific(CLI::App& app, Request& request) {
  const auto help = [](const char* option, std::string_view text) {
    return fmt::format("{} ({})", text, takers_of(option));
  };
  add_integer(app, "--step-size", help("--step-size", "epochs of a stair"), request.step_size);
  add(app, "--milestones", "N,N,...", help("--milestones", "epochs at which the rate falls"),
      [&](const std::string& text) { request.milestones = parse_milestones(text); });
  add_number(app, "--gamma", help("--gamma", "factor of every fall"), request.gamma);
  add_number(app, "--power", help("--power", "exponent"), request.power);
  add_number(app, "--end-lr", help("--end-lr", "rate at the end"), request.end_lr);
  add_number(app, "--eta-min", help("--eta-min", "lowest rate"), request.eta_min);
  add_integer(app, "--t-0", help("--t-0", "epochs of the first cycle"), request.t_0);
  add_number(app, "--t-mult", help("--t-mult", "by what every cycle is longer than the last"), request.t_mult);
  add_number(app, "--decay-start", help("--decay-start", "part of the run that is stable"), request.decay_start);
}

void check_names(const Request& request) {
  if (request.names.empty()) usage_error(fmt::format("name at least one schedule of {}", names_of_kinds()));
  for (const std::string& name : request.names) {
    if (find_kind(name) == nullptr) usage_error("a schedule", name, names_of_kinds());
    if (std::ranges::count(request.names, name) > 1) usage_error(fmt::format("{} is named twice", name));
  }
  if (std::ranges::count(request.names, "multi-step") > 0 && !request.milestones) {
    usage_error("multi-step needs --milestones, such as 30,60,80");
  }
}

/// An option without effect is more likely a mistake than meant.
void check_effect(const CLI::App& app, const Request& request) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || takers_of(name).empty()) continue;
    if (std::ranges::none_of(request.names, [&](const std::string& kind) { return takes(*find_kind(kind), name); })) {
      usage_error(
          fmt::format("{} has no effect on {}; it is for {}", name, fmt::join(request.names, ", "), takers_of(name)));
    }
  }
}

void check_size(const Request& request) {
  const std::int64_t rates = std::int64_t{request.epochs} * request.steps_per_epoch;
  if (request.by_batch && rates > max_rates) {
    usage_error(fmt::format("--epochs times --steps-per-epoch is {}, legal by batch is at most {}", rates, max_rates));
  }
}

}  // namespace

Request parse_request(int argc, const char* const* argv) {
  Request request;
  CLI::App app("Draws learning rates over a run.", "plot_schedule");
  app.add_option("schedule", request.names, fmt::format("one or several of {}", names_of_kinds()));
  app.allow_extras();
  add_common(app, request);
  add_specific(app, request);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw UsageError(app.help(), 0);
  } catch (const CLI::ArgumentMismatch&) {
    // All other options leave the number of their values to us.
    usage_error("--by-batch takes no value");
  }
  if (!app.remaining().empty()) usage_error(fmt::format("unexpected argument '{}'", app.remaining().front()));
  check_names(request);
  check_effect(app, request);
  check_size(request);
  return request;
}

Chart make_chart(const Request& request) {
  Chart chart{.curves = {}, .epochs = request.epochs};
  for (const std::string& name : request.names) {
    const AnyScheduler schedule = prepare(find_kind(name)->make(request), request.epochs, request.steps_per_epoch);
    Curve curve{.name = name, .rates = {}};
    const int batches = request.by_batch ? request.steps_per_epoch : 1;
    curve.rates.reserve(static_cast<std::size_t>(request.epochs) * static_cast<std::size_t>(batches));
    for (int epoch = 0; epoch < request.epochs; ++epoch) {
      for (int batch = 0; batch < batches; ++batch) curve.rates.push_back(lr(schedule, epoch, batch));
    }
    chart.curves.push_back(std::move(curve));
  }
  return chart;
}

}  // namespace tr::plot
