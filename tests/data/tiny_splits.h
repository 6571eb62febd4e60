#pragma once

#include <cstdint>

#include "tr/data/dataset.h"

namespace tr {

/// Random-looking images of 3×2×`channels` whose bytes, like the labels 0 to 6, follow from split and index.
inline DataSplits tiny_splits(int train_size, int test_size, int channels = 1) {
  const auto make = [channels](int size, std::uint32_t salt) {
    Dataset set{.source = "tiny", .sample = {1, 3, 2, channels}, .classes = 7, .images = {}, .labels = {}};
    std::uint32_t state = salt;
    for (int i = 0; i < size; ++i) {
      for (std::int64_t k = 0; k < set.sample.sample_size(); ++k) {
        state = state * 1664525U + 1013904223U;
        set.images.push_back(static_cast<std::uint8_t>(state >> 24));
      }
      set.labels.push_back(static_cast<std::int32_t>((static_cast<std::uint32_t>(i) + salt) % 7));
    }
    return set;
  };
  return {make(train_size, 1), make(test_size, 2)};
}

}  // namespace tr
