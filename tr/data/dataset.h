#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tr/base/shape.h"

namespace tr {

/// Mean and standard deviation of each channel over a data set's training images, in units of pixel/255; a pixel
/// enters the network as (pixel/255 - mean)/std. Entries beyond the images' channels are not read.
struct Normalization {
  std::array<float, 4> mean{};
  std::array<float, 4> std{1.0F, 1.0F, 1.0F, 1.0F};
};

/// Labelled images in memory, as they were decoded.
struct Dataset {
  /// Where the samples came from, for messages.
  std::string source;
  /// Shape of one image, {1, height, width, channels}.
  Shape sample;
  int classes = 0;
  /// size() images one after another, each HWC, 0 to 255.
  std::vector<std::uint8_t> images;
  /// One class id a sample, in [0, classes).
  std::vector<std::int32_t> labels;

  int size() const { return static_cast<int>(labels.size()); }
};

/// What a run learns from and what it is judged by.
struct DataSplits {
  Dataset train;
  Dataset test;
};

/// What a run may name as its `data`: facts that the compiler checks the model against, and a way to get the samples.
///
/// `sample` is {1, height, width, channels}; `open` takes the directory the user gave and throws DataError.
template <class T>
concept DatasetType = requires(const std::string& directory) {
  requires std::same_as<std::remove_cvref_t<decltype(T::sample)>, Shape>;
  requires std::same_as<std::remove_cvref_t<decltype(T::normalization)>, Normalization>;
  { T::name } -> std::convertible_to<std::string_view>;
  // As template arguments, so that a member which is no constant does not satisfy the concept.
  requires std::bool_constant<(T::sample.size() > 0)>::value;
  requires std::bool_constant<(T::classes > 0)>::value;
  { T::open(directory) } -> std::same_as<DataSplits>;
};

/// Throws DataError naming `source`, the first sample whose label is not in [0, classes), and that label.
void check_labels(const std::string& source, std::span<const std::int32_t> labels, int classes);

/// Throws DataError unless the data set has samples, as many images as labels, and only labels it has classes for.
void check_dataset(const Dataset& dataset);

}  // namespace tr
