#include "tr/io/options.h"

#include <fmt/format.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>

namespace tr {
namespace {

constexpr int max_epochs = 1'000'000;
constexpr int max_threads = 1024;
constexpr int max_gpus = 64;
constexpr std::uint64_t max_seed = std::numeric_limits<std::uint64_t>::max();

[[noreturn]] void usage_error(std::string_view option, std::string_view value, std::string_view legal) {
  if (value.empty()) throw UsageError(fmt::format("{} has no value, legal is {}", option, legal), 2);
  throw UsageError(fmt::format("{} is '{}', legal is {}", option, value, legal), 2);
}

/// CLI11 would take "0x10", read "010" as eight and wrap a negative seed.
template <class Integer>
Integer parse_integer(std::string_view option, const std::string& text, Integer low, Integer high) {
  Integer value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < low || value > high) {
    usage_error(option, text, fmt::format("a whole number from {} to {}", low, high));
  }
  return value;
}

Precision parse_precision(const std::string& text) {
  for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::fp16}) {
    if (text == name_of(precision)) return precision;
  }
  usage_error("--precision", text, "fp32, bf16 or, on a GPU, fp16");
}

Device parse_device(const std::string& text) {
  for (const Device device : {Device::cpu, Device::cuda}) {
    if (text == name_of(device)) return device;
  }
  usage_error("--device", text, "cpu or cuda");
}

std::string parse_path(std::string_view option, const std::string& text, std::string_view legal) {
  if (text.empty()) usage_error(option, text, legal);
  const char* base = std::getenv("BUILD_WORKING_DIRECTORY");  // NOLINT(concurrency-mt-unsafe): nobody sets it.
  return base == nullptr ? text : (std::filesystem::path(base) / text).string();
}

/// A missing value reaches `parse` as an empty text and so gets the same message as a wrong one.
template <class Parse>
void add(CLI::App& app, const char* name, const char* type, const std::string& help, Parse parse) {
  app.add_option_function<std::string>(name, parse, help)
      ->type_name(type)
      ->expected(0, 1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void add_numbers(CLI::App& app, Options& options) {
  add(app, "--epochs", "N", fmt::format("passes over the training data (default {})", options.epochs),
      [&](const std::string& text) { options.epochs = parse_integer("--epochs", text, 1, max_epochs); });
  add(app, "--threads", "N",
      fmt::format("ranks, one thread each; results depend on their number (default {})", options.threads),
      [&](const std::string& text) { options.threads = parse_integer("--threads", text, 1, max_threads); });
  add(app, "--workers", "N",
      fmt::format("threads that prepare batches; results do not depend on them (default {})", options.workers),
      [&](const std::string& text) { options.workers = parse_integer("--workers", text, 0, max_threads); });
  add(app, "--seed", "N", fmt::format("start of all random numbers (default {})", options.seed),
      [&](const std::string& text) { options.seed = parse_integer("--seed", text, std::uint64_t{0}, max_seed); });
}

void add_texts(CLI::App& app, Options& options) {
  add(app, "--precision", "fp32|bf16|fp16",
      fmt::format("what the step computes in; fp16 needs a GPU (default {})", name_of(options.precision)),
      [&](const std::string& text) { options.precision = parse_precision(text); });
  add(app, "--data", "DIR", "directory of the data set",
      [&](const std::string& text) { options.data = parse_path("--data", text, "the name of a directory"); });
  add(app, "--json", "FILE", "write the result to this file too",
      [&](const std::string& text) { options.json = parse_path("--json", text, "the name of a file"); });
  app.add_flag("--quiet", options.quiet, "print the result alone");
}

void add_devices(CLI::App& app, Options& options) {
  add(app, "--device", "cpu|cuda", fmt::format("what to compute on (default {})", name_of(options.device)),
      [&](const std::string& text) { options.device = parse_device(text); });
  add(app, "--gpus", "N", fmt::format("ranks with --device cuda, one GPU each (default {})", options.gpus),
      [&](const std::string& text) { options.gpus = parse_integer("--gpus", text, 1, max_gpus); });
  app.add_flag_callback(
      "--no-graph", [&] { options.graph = false; },
      "with --device cuda: give a GPU the operations of a step one by one, instead of a graph of them");
}

/// CLI11 would take --quiet=true, and --quiet=false for the contrary.
void reject_values_of_flags(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    for (const std::string_view flag : {"--quiet", "--no-graph"}) {
      const std::string_view given = argv[i];
      if (!given.starts_with(flag) || given.size() == flag.size() || given[flag.size()] != '=') continue;
      throw UsageError(fmt::format("{} takes no value", flag), 2);
    }
  }
}

}  // namespace

int available_cpus() {
  // The kernel refuses a mask that is too small for the machine, so it is asked with larger and larger ones.
  for (int cpus = CPU_SETSIZE; cpus <= (1 << 20); cpus *= 2) {
    struct Free {
      void operator()(cpu_set_t* set) const { CPU_FREE(set); }
    };
    const std::unique_ptr<cpu_set_t, Free> set(CPU_ALLOC(static_cast<std::size_t>(cpus)));
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(cpus));
    if (set != nullptr && sched_getaffinity(0, bytes, set.get()) == 0) {
      return std::clamp(CPU_COUNT_S(bytes, set.get()), 1, max_threads);
    }
  }
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, max_threads);
}

Options parse_options(int argc, const char* const* argv, Options defaults) {
  Options options = std::move(defaults);
  CLI::App app;
  app.allow_extras();
  add_numbers(app, options);
  add_texts(app, options);
  add_devices(app, options);
  reject_values_of_flags(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw UsageError(app.help(), 0);
  }
  if (!app.remaining().empty()) {
    throw UsageError(fmt::format("unexpected argument '{}'", app.remaining().front()), 2);
  }
  return options;
}

}  // namespace tr
