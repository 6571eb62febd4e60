#include "tr/data/mnist.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "tr/base/error.h"
#include "tr/data/idx.h"

namespace tr {
namespace {

constexpr std::string_view remedy = "give the directory that holds the four MNIST files with --data DIR";

/// The path of the file `stem` + separator + `suffix` under one of its usual names.
std::string find_file(const std::string& directory, std::string_view stem, std::string_view suffix) {
  std::vector<std::string> names;
  for (const char* separator : {"-", "."}) {
    for (const char* ending : {"", ".gz"}) names.push_back(fmt::format("{}{}{}{}", stem, separator, suffix, ending));
  }
  std::string found;
  for (const auto& name : names) {
    const std::string path = (std::filesystem::path(directory) / name).string();
    std::error_code ignored;  // What cannot be inspected is tried, and the reader says why it fails.
    const auto status = std::filesystem::status(path, ignored);
    if (std::filesystem::is_regular_file(status)) return path;
    // Some archives unpack each file into a directory of its own name, beside the file under the other spelling.
    if (status.type() != std::filesystem::file_type::not_found && found.empty()) found = path;
  }
  if (!found.empty()) return found;
  throw DataError(
      fmt::format("no {}-{} in directory {} (tried {}); {}", stem, suffix, directory, fmt::join(names, ", "), remedy));
}

Dataset open_split(const std::string& directory, std::string_view split) {
  const auto image_path = find_file(directory, fmt::format("{}-images", split), "idx3-ubyte");
  const auto label_path = find_file(directory, fmt::format("{}-labels", split), "idx1-ubyte");
  const auto labels = read_idx_labels(label_path);
  auto images = read_idx_images(image_path, Mnist::sample.h, Mnist::sample.w);
  if (static_cast<std::size_t>(images.count) != labels.size()) {
    throw DataError(fmt::format("{} images in {} but {} labels in {}: the files do not belong together", images.count,
                                image_path, labels.size(), label_path));
  }
  Dataset dataset{.source = image_path,
                  .sample = Mnist::sample,
                  .classes = Mnist::classes,
                  .images = std::move(images.pixels),
                  .labels = {labels.begin(), labels.end()}};
  check_labels(label_path, dataset.labels, dataset.classes);
  check_dataset(dataset);
  return dataset;
}

}  // namespace

DataSplits Mnist::open(const std::string& directory) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(directory, ignored)) {
    throw DataError(fmt::format("no directory \"{}\"; {}", directory, remedy));
  }
  return {open_split(directory, "train"), open_split(directory, "t10k")};
}

}  // namespace tr
