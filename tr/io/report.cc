#include "tr/io/report.h"

#include <fmt/format.h>

#include <cerrno>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "tr/io/atomic_file.h"
#include "tr/io/options.h"
#include "tr/io/print.h"

namespace tr {
namespace {

using Json = nlohmann::ordered_json;

// 128 + SIGINT, what a shell gives for a program that Ctrl-C ended.
constexpr int exit_interrupted = 130;

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Prints the last words. What was lost before them, the plan or the progress, is told here too. Gives `code`, or 1
/// where that would be a success.
int close_with(const std::string& text, int code, std::FILE* out, std::FILE* err) {
  const bool printed = print(out, text);
  const std::string reason = printed ? "" : ": " + std::generic_category().message(errno);
  if (printed && std::ferror(out) == 0) return code;
  print(err, fmt::format("error: some of the output is lost{}\n", reason));
  return code == 0 ? 1 : code;
}

/// What the standard library says of memory is the name of a type.
std::string reason_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) == nullptr) return error.what();
  return "out of memory; use a smaller batch, model or data set, or fewer --threads or --workers";
}

Json epoch_json(const EpochResult& epoch) {
  return {{"epoch", epoch.epoch},
          {"lr", epoch.lr},
          {"train_loss", epoch.train_loss},
          {"test_loss", epoch.evaluated ? Json(epoch.test_loss) : Json()},
          {"top1", epoch.evaluated ? Json(epoch.top1) : Json()},
          {"seconds", epoch.seconds},
          {"images_per_second", epoch.images_per_second}};
}

}  // namespace

int report(const TrainingResult& result, std::FILE* out, std::FILE* err) {
  const std::string conditions =
      fmt::format("on {}, {}, seed {}{}{}", counted(static_cast<std::size_t>(result.threads), "rank"), result.precision,
                  result.seed, result.instructions.empty() ? "" : ", ", result.instructions);
  if (result.dry) {
    return close_with(fmt::format("planned {}; nothing was trained\n", conditions), 0, out, err);
  }
  std::string text;
  if (result.interrupted) text += "interrupted; this is what there is so far\n";
  text += result.best_epoch > 0
              ? fmt::format("best top-1 {:.2f} % in epoch {}", 100.0 * result.best_top1, result.best_epoch)
              : std::string("no epoch was evaluated");
  text += fmt::format(", {} in {:.2f} s\n", counted(result.epochs.size(), "epoch"), result.total_seconds);
  text += fmt::format("weights {} {}\n", hash_text(result.weights_hash), conditions);
  return close_with(text, result.interrupted ? exit_interrupted : 0, out, err);
}

int report(const std::exception& error, std::FILE* out, std::FILE* err) {
  const auto* usage = dynamic_cast<const UsageError*>(&error);
  if (usage != nullptr && usage->exit_code() == 0) return close_with(usage->what(), 0, out, err);
  print(err, fmt::format("error: {}\n", reason_of(error)));
  if (usage == nullptr) return 1;
  print(err, "--help lists the options\n");
  return usage->exit_code();
}

void write_json(const TrainingResult& result, const std::string& path) {
  Json plan = Json::object();
  for (const RegionBytes& region : result.plan) plan[region.region] = region.bytes;
  Json epochs = Json::array();
  for (const EpochResult& epoch : result.epochs) epochs.push_back(epoch_json(epoch));
  const Json object{{"model", result.model},
                    {"threads", result.threads},
                    {"precision", result.precision},
                    {"seed", result.seed},
                    {"instructions", result.instructions},
                    {"best_top1", result.best_top1},
                    {"best_epoch", result.best_epoch},
                    {"total_seconds", result.total_seconds},
                    {"weights_hash", hash_text(result.weights_hash)},
                    {"plan", plan},
                    {"epochs", epochs},
                    {"interrupted", result.interrupted}};
  // A name that is not UTF-8 must not cost the result of the run.
  write_file(path, object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace tr
