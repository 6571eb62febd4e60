#pragma once

#include <string>
#include <string_view>

#include "tr/data/dataset.h"

namespace tr {

/// The MNIST database of handwritten digits (LeCun, Cortes, Burges, 1998): 60,000 images to train and 10,000 to test,
/// 28×28 grey pixels each. Data sets of the same form, such as Fashion-MNIST, open as well.
struct Mnist {
  static constexpr std::string_view name = "mnist";
  static constexpr Shape sample{1, 28, 28, 1};
  static constexpr int classes = 10;
  /// Mean and standard deviation of all training pixels.
  static constexpr Normalization normalization{.mean = {0.13066F}, .std = {0.30811F, 1.0F, 1.0F, 1.0F}};

  /// Reads the four files train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
  /// t10k-labels-idx1-ubyte from `directory`; each may end in .gz or be spelt with a dot (train-images.idx3-ubyte).
  ///
  /// Throws DataError for a missing or damaged file, for images and labels that differ in number, for a label outside
  /// [0, 9], and for a split without samples.
  static DataSplits open(const std::string& directory);
};

static_assert(DatasetType<Mnist>);

}  // namespace tr
