#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "tr/base/dtype.h"
#include "tr/data/dataset.h"

namespace tr {

/// Where one sample goes.
struct Row {
  bool training = true;
  int epoch = 0;
  /// Index in the training or in the test set.
  std::int64_t sample = 0;
  std::byte* image = nullptr;
  std::int32_t* label = nullptr;
};

/// Samples by index, ready for the network.
struct SampleSource {
  int train_size = 0;
  int eval_size = 0;
  /// Bytes of one image as it is written.
  std::size_t row_bytes = 0;
  /// Called by several threads at once, each with rows of its own. What it writes may depend on the row's numbers only.
  std::function<void(const Row&)> write;
};

/// The samples of `data`, which must outlive the source, normalised (see FusedNormalization) to `type`, HWC. Throws
/// ValueError when training and test images differ in shape, and as FusedNormalization does.
SampleSource normalized_source(const DataSplits& data, const Normalization& normalization, DType type);

}  // namespace tr
