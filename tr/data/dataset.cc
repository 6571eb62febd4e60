#include "tr/data/dataset.h"

#include <fmt/format.h>

#include "tr/base/error.h"

namespace tr {

void check_labels(const std::string& source, std::span<const std::int32_t> labels, int classes) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes) {
      throw DataError(fmt::format("{}: the label of sample {} is {}, legal is [0, {}] for {} classes", source, i,
                                  labels[i], classes - 1, classes));
    }
  }
}

void check_dataset(const Dataset& dataset) {
  if (dataset.labels.empty()) throw DataError(fmt::format("0 samples in {}", dataset.source));
  const auto sample_size = static_cast<std::size_t>(dataset.sample.sample_size());
  if (dataset.images.size() != dataset.labels.size() * sample_size) {
    throw DataError(fmt::format("{}: {} labels need {} bytes of images of {} bytes each, there are {}", dataset.source,
                                dataset.labels.size(), dataset.labels.size() * sample_size, sample_size,
                                dataset.images.size()));
  }
  check_labels(dataset.source, dataset.labels, dataset.classes);
}

}  // namespace tr
