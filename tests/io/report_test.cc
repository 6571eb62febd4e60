#include "tr/io/report.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <limits>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/io/files.h"
#include "tr/base/error.h"
#include "tr/io/options.h"
#include "tr/io/print.h"

namespace tr {
namespace {

TrainingResult example() {
  return {.model = "Mlp",
          .threads = 2,
          .precision = "fp32",
          .seed = 18446744073709551615U,
          .instructions = "AVX-512 BF16",
          .epochs = {{.epoch = 1, .lr = 1e-3, .train_loss = 0.75, .seconds = 1.5, .images_per_second = 40000.0},
                     {.epoch = 2,
                      .lr = 1.0 / 3.0,
                      .train_loss = 0.1,
                      .evaluated = true,
                      .test_loss = 0.2,
                      .top1 = 0.9812,
                      .top5 = 0.999,
                      .seconds = 1.25,
                      .images_per_second = 48000.0}},
          .best_top1 = 0.9812,
          .best_epoch = 2,
          .total_seconds = 2.75,
          .weights_hash = 0x0123456789abcdefU,
          .plan = {{"w_fc_bias", 4, 7424}, {"transient", 15, 2048000}}};
}

std::string printed(const TrainingResult& result, int code) {
  const CapturedStream out;
  CHECK(report(result, out.file()) == code);
  return out.text();
}

nlohmann::json written(const TrainingResult& result) {
  const TemporaryDirectory directory;
  write_json(result, directory / "out.json");
  return nlohmann::json::parse(contents_of(directory / "out.json"));
}

std::set<std::string> names(const nlohmann::json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
}

}  // namespace

TEST_CASE("the report gives the best top-1, and the hash beside what its bits depend on") {
  CHECK(printed(example(), 0) ==
        "best top-1 98.12 % in epoch 2, 2 epochs in 2.75 s\n"
        "weights 0123456789abcdef on 2 ranks, fp32, seed 18446744073709551615, AVX-512 BF16\n");
  TrainingResult one = example();
  one.threads = 1;
  one.epochs.resize(1);
  one.best_top1 = 0.0;
  one.best_epoch = 0;
  one.seed = 1;
  one.instructions = "AVX2";
  one.weights_hash = 10;
  CHECK(printed(one, 0) ==
        "no epoch was evaluated, 1 epoch in 2.75 s\n"
        "weights 000000000000000a on 1 rank, fp32, seed 1, AVX2\n");
}

TEST_CASE("a run ended by SIGINT reports what there is and exits with 130; a dry run has no results") {
  TrainingResult result = example();
  result.interrupted = true;
  CHECK(printed(result, 130) ==
        "interrupted; this is what there is so far\n"
        "best top-1 98.12 % in epoch 2, 2 epochs in 2.75 s\n"
        "weights 0123456789abcdef on 2 ranks, fp32, seed 18446744073709551615, AVX-512 BF16\n");
  TrainingResult dry = example();
  dry.dry = true;
  dry.seed = 3;
  CHECK(printed(dry, 0) == "planned on 2 ranks, fp32, seed 3, AVX-512 BF16; nothing was trained\n");
}

TEST_CASE("lost output is an error, whether the last words are lost or earlier ones") {
  TrainingResult interrupted = example();
  interrupted.interrupted = true;
  TrainingResult dry = example();
  dry.dry = true;
  const auto lost = [](auto&& report_to, std::FILE* out, int code, const std::string& reason) {
    const CapturedStream err;
    CHECK(report_to(out, err.file()) == code);
    CHECK(err.text() == "error: some of the output is lost" + reason + "\n");
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> full(std::fopen("/dev/full", "w"), std::fclose);
  const auto result = [&](std::FILE* out, std::FILE* err) { return report(example(), out, err); };
  lost(result, full.get(), 1, ": No space left on device");
  lost([&](auto* out, auto* err) { return report(dry, out, err); }, full.get(), 1, ": No space left on device");
  lost([&](auto* out, auto* err) { return report(interrupted, out, err); }, full.get(), 130,
       ": No space left on device");
  lost([&](auto* out, auto* err) { return report(UsageError("help", 0), out, err); }, full.get(), 1,
       ": No space left on device");

  const TemporaryDirectory directory;
  const std::string path = directory / "out";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> once(std::fopen(path.c_str(), "w"), std::fclose);
  const int file = dup(fileno(once.get()));
  dup2(fileno(full.get()), fileno(once.get()));
  CHECK_FALSE(print(once.get(), "lost"));
  dup2(file, fileno(once.get()));
  close(file);
  lost(result, once.get(), 1, "");
  CHECK(contents_of(path).substr(0, 10) == "best top-1");
}

TEST_CASE("an error goes to stderr with code 1, wrong usage with code 2, and help to stdout with code 0") {
  const auto check = [](const std::exception& error, int code, const std::string& to_out, const std::string& to_err) {
    const CapturedStream out;
    const CapturedStream err;
    CHECK(report(error, out.file(), err.file()) == code);
    CHECK(out.text() == to_out);
    CHECK(err.text() == to_err);
  };
  check(DataError("train-images: 3 bytes are missing"), 1, "", "error: train-images: 3 bytes are missing\n");
  check(std::runtime_error("{}"), 1, "", "error: {}\n");
  check(std::bad_alloc(), 1, "",
        "error: out of memory; use a smaller batch, model or data set, or fewer --threads or --workers\n");
  check(UsageError("--epochs is '0', legal is 1", 2), 2, "",
        "error: --epochs is '0', legal is 1\n--help lists the options\n");
  check(UsageError("Usage: program\n", 0), 0, "Usage: program\n", "");
}

TEST_CASE("the JSON object has exactly its fields, and every number comes back as it was") {
  const nlohmann::json object = written(example());
  CHECK(names(object) == std::set<std::string>{"model", "threads", "precision", "seed", "instructions", "best_top1",
                                               "best_epoch", "total_seconds", "weights_hash", "plan", "epochs",
                                               "interrupted"});
  CHECK(object["instructions"] == "AVX-512 BF16");
  CHECK(object["interrupted"] == false);
  TrainingResult ended = example();
  ended.interrupted = true;
  CHECK(written(ended)["interrupted"] == true);
  CHECK(object["model"] == "Mlp");
  CHECK(object["threads"] == 2);
  CHECK(object["precision"] == "fp32");
  CHECK(object["seed"] == 18446744073709551615U);
  CHECK(object["best_top1"] == 0.9812);
  CHECK(object["best_epoch"] == 2);
  CHECK(object["total_seconds"] == 2.75);
  CHECK(object["weights_hash"] == "0123456789abcdef");
  CHECK(object["plan"] == nlohmann::json{{"w_fc_bias", 7424}, {"transient", 2048000}});
  REQUIRE(object["epochs"].size() == 2);
  const nlohmann::json& epoch = object["epochs"][1];
  CHECK(names(epoch) ==
        std::set<std::string>{"epoch", "lr", "train_loss", "test_loss", "top1", "seconds", "images_per_second"});
  CHECK(epoch["epoch"] == 2);
  CHECK(epoch["lr"] == 1.0 / 3.0);
  CHECK(epoch["train_loss"] == 0.1);
  CHECK(epoch["test_loss"] == 0.2);
  CHECK(epoch["top1"] == 0.9812);
  CHECK(epoch["seconds"] == 1.25);
  CHECK(epoch["images_per_second"] == 48000.0);
}

TEST_CASE("what was not evaluated and what is not finite is null, and a run without epochs has empty lists") {
  TrainingResult result = example();
  result.epochs[0].train_loss = std::numeric_limits<double>::quiet_NaN();
  result.total_seconds = std::numeric_limits<double>::infinity();
  const nlohmann::json object = written(result);
  CHECK(object["epochs"][0]["test_loss"].is_null());
  CHECK(object["epochs"][0]["top1"].is_null());
  CHECK(object["epochs"][0]["train_loss"].is_null());
  CHECK(object["total_seconds"].is_null());
  result.epochs.clear();
  result.plan.clear();
  CHECK(written(result)["epochs"] == nlohmann::json::array());
  CHECK(written(result)["plan"] == nlohmann::json::object());
}

TEST_CASE("any model name gives valid JSON") {
  TrainingResult result = example();
  result.model = "a\"b\\c\n\xff";
  CHECK(written(result)["model"] == "a\"b\\c\n\xef\xbf\xbd");
}

TEST_CASE("a result that cannot be written names the path") {
  CHECK_THROWS_WITH_AS(write_json(example(), "/none/out.json"), "cannot write '/none/out.json': no directory '/none'",
                       Error);
}

}  // namespace tr
