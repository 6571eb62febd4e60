#include "tr/io/options.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

namespace tr {
namespace {

Options parse(std::vector<const char*> arguments, const Options& defaults = {}) {
  arguments.insert(arguments.begin(), "program");
  return parse_options(static_cast<int>(arguments.size()), arguments.data(), defaults);
}

/// Message and exit code of a command line that is refused.
std::string refusal(std::vector<const char*> arguments) {
  try {
    parse(std::move(arguments));
  } catch (const UsageError& error) {
    return std::to_string(error.exit_code()) + ": " + error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("what is not given keeps its default") {
  const Options plain = parse({});
  CHECK(plain.epochs == 10);
  CHECK(plain.threads == available_cpus());
  CHECK(plain.workers == 1);
  CHECK(plain.precision == Precision::fp32);
  CHECK(plain.seed == 1);
  CHECK(plain.data.empty());
  CHECK(plain.json.empty());
  CHECK(!plain.quiet);
  CHECK(plain.device == Device::cpu);
  CHECK(plain.gpus == 1);
  CHECK(plain.graph);

  Options defaults;
  defaults.epochs = 3;
  defaults.data = "examples/data/mnist";
  const Options changed = parse({"--seed", "7"}, defaults);
  CHECK(changed.epochs == 3);
  CHECK(changed.data == "examples/data/mnist");
  CHECK(changed.seed == 7);
}

TEST_CASE("all options are read, in both spellings, and the last of two counts") {
  unsetenv("BUILD_WORKING_DIRECTORY");  // NOLINT(concurrency-mt-unsafe): there is one thread.
  const Options options =
      parse({"--epochs=1", "--threads", "1024", "--workers", "0", "--precision", "bf16", "--seed",
             "18446744073709551615", "--data", "a b", "--json=out.json", "--quiet", "--epochs", "010"});
  CHECK(options.epochs == 10);
  CHECK(options.threads == 1024);
  CHECK(options.workers == 0);
  CHECK(options.precision == Precision::bf16);
  CHECK(options.seed == 18446744073709551615U);
  CHECK(options.data == "a b");
  CHECK(options.json == "out.json");
  CHECK(options.quiet);
}

TEST_CASE("a run on GPUs has options of its own") {
  const Options options = parse({"--device", "cuda", "--gpus=2", "--no-graph", "--precision", "fp16"});
  CHECK(options.device == Device::cuda);
  CHECK(options.gpus == 2);
  CHECK(!options.graph);
  CHECK(options.precision == Precision::fp16);
  CHECK(refusal({"--device", "gpu"}) == "2: --device is 'gpu', legal is cpu or cuda");
  CHECK(refusal({"--gpus", "0"}) == "2: --gpus is '0', legal is a whole number from 1 to 64");
  CHECK(refusal({"--no-graph=1"}) == "2: --no-graph takes no value");
}

TEST_CASE("paths are relative to where the user stands under bazel run, and absolute ones and defaults stay") {
  setenv("BUILD_WORKING_DIRECTORY", "/home/user", 1);  // NOLINT(concurrency-mt-unsafe): there is one thread.
  Options defaults;
  defaults.data = "examples/data/mnist";
  CHECK(parse({}, defaults).data == "examples/data/mnist");
  CHECK(parse({"--data", "mnist"}, defaults).data == "/home/user/mnist");
  CHECK(parse({"--data", "/data/mnist"}).data == "/data/mnist");
  CHECK(parse({"--json", "out.json"}).json == "/home/user/out.json");
  unsetenv("BUILD_WORKING_DIRECTORY");  // NOLINT(concurrency-mt-unsafe): there is one thread.
}

TEST_CASE("a bad value is a usage error that names option, value and legal range") {
  for (const char* bad :
       {"0", "-1", "1000001", "99999999999999999999", "3x", "0x10", "1e3", "2.5", "+3", "ten", "3 4"}) {
    CHECK(refusal({"--epochs", bad}) ==
          "2: --epochs is '" + std::string(bad) + "', legal is a whole number from 1 to 1000000");
  }
  CHECK(refusal({"--threads", "0"}) == "2: --threads is '0', legal is a whole number from 1 to 1024");
  CHECK(refusal({"--threads", "1025"}) == "2: --threads is '1025', legal is a whole number from 1 to 1024");
  CHECK(refusal({"--workers=-1"}) == "2: --workers is '-1', legal is a whole number from 0 to 1024");
  CHECK(refusal({"--seed", "-1"}) == "2: --seed is '-1', legal is a whole number from 0 to 18446744073709551615");
  CHECK(refusal({"--seed", "18446744073709551616"}) ==
        "2: --seed is '18446744073709551616', legal is a whole number from 0 to 18446744073709551615");
  CHECK(refusal({"--precision", "fp8"}) == "2: --precision is 'fp8', legal is fp32, bf16 or, on a GPU, fp16");
  CHECK(refusal({"--precision", "FP32"}) == "2: --precision is 'FP32', legal is fp32, bf16 or, on a GPU, fp16");
  for (const char* bad : {"--quiet=3", "--quiet=true", "--quiet=false", "--quiet=1", "--quiet=0", "--quiet="}) {
    CHECK(refusal({bad}) == "2: --quiet takes no value");
  }
}

TEST_CASE("a missing value is a usage error, and the next option is not taken for one") {
  CHECK(refusal({"--epochs"}) == "2: --epochs has no value, legal is a whole number from 1 to 1000000");
  CHECK(refusal({"--seed="}) == "2: --seed has no value, legal is a whole number from 0 to 18446744073709551615");
  CHECK(refusal({"--precision"}) == "2: --precision has no value, legal is fp32, bf16 or, on a GPU, fp16");
  CHECK(refusal({"--data", "--quiet"}) == "2: --data has no value, legal is the name of a directory");
  CHECK(refusal({"--json="}) == "2: --json has no value, legal is the name of a file");
}

TEST_CASE("an argument that is no option is a usage error") {
  CHECK(refusal({"--epoch", "3"}) == "2: unexpected argument '--epoch'");
  CHECK(refusal({"--epochs", "3", "4"}) == "2: unexpected argument '4'");
  CHECK(refusal({"-e", "3"}) == "2: unexpected argument '-e'");
  CHECK(refusal({"mnist"}) == "2: unexpected argument 'mnist'");
}

TEST_CASE("help is no error and lists every option") {
  const std::string help = refusal({"--help"});
  CHECK(help.substr(0, 2) == "0:");
  for (const char* option : {"--epochs", "--threads", "--workers", "--precision", "--seed", "--data", "--json",
                             "--quiet", "--device", "--gpus", "--no-graph", "--help"}) {
    CAPTURE(option);
    CHECK(help.find(option) != std::string::npos);
  }
  CHECK(refusal({"--help", "--seed", "2"}).substr(0, 2) == "0:");
}

TEST_CASE("the default number of ranks is that of the CPUs the process may use") {
  cpu_set_t all;
  REQUIRE(sched_getaffinity(0, sizeof(all), &all) == 0);
  CHECK(available_cpus() == CPU_COUNT(&all));
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  CHECK(available_cpus() == 1);
  CHECK(Options().threads == 1);
  REQUIRE(sched_setaffinity(0, sizeof(all), &all) == 0);
}

}  // namespace tr
