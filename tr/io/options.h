#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tr/base/dtype.h"
#include "tr/base/error.h"

namespace tr {

/// How many CPUs this process may run on: those of its affinity mask, not all of the machine.
int available_cpus();

/// What a run computes on.
enum class Device : std::uint8_t { cpu, cuda };

constexpr std::string_view name_of(Device device) { return device == Device::cpu ? "cpu" : "cuda"; }

/// What a training program takes from its command line.
struct Options {
  int epochs = 10;
  /// Ranks on CPUs, one thread each.
  int threads = available_cpus();
  /// Threads that prepare batches; 0 leaves that to the ranks. Results do not depend on it.
  int workers = 1;
  Precision precision = Precision::fp32;
  std::uint64_t seed = 1;
  /// Directory of the data set.
  std::string data{};
  /// File that the result is written to; empty means none.
  std::string json{};
  /// Whether to print the result alone.
  bool quiet = false;
  Device device = Device::cpu;
  /// Ranks where the device is cuda, one GPU each: the first ones.
  int gpus = 1;
  /// Whether GPUs replay a step captured once, which is faster, or are told its operations one by one.
  bool graph = true;
};

/// A command line that cannot be followed or only asks for help; the text is what there is to print.
class UsageError : public Error {
 public:
  UsageError(const std::string& text, int exit_code) : Error(text), exit_code_(exit_code) {}

  /// 0 where help was asked for, else 2.
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// Reads --epochs, --threads, --workers, --precision, --seed, --data, --json, --quiet, --device, --gpus and --no-graph;
/// what is not given keeps its value in `defaults`. Given paths are taken relative to BUILD_WORKING_DIRECTORY where
/// that is set, since `bazel run` starts a program in a directory of its own. Throws UsageError naming the option, its
/// value and the legal range.
Options parse_options(int argc, const char* const* argv, Options defaults = {});

}  // namespace tr
