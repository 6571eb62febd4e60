#pragma once

#include <random>
#include <vector>

#include "tr/plan/spec.h"

namespace tr {

/// A model of random layers and sizes that can be built; `spec()` stays valid as long as the model lives.
struct RandomModel {
  std::vector<LayerRecord> layers;
  Shape sample;
  int classes = 0;

  ModelSpec spec() const { return {layers, sample, classes}; }
};

inline RandomModel random_model(std::mt19937& random) {
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  RandomModel model;
  model.sample = {1, draw(1, 9), draw(1, 9), draw(1, 4)};
  model.layers.push_back(flatten());
  for (int i = draw(0, 12); i > 0; --i) {
    switch (draw(0, 5)) {
      case 0: model.layers.push_back(flatten()); break;
      case 1:
      case 2: model.layers.push_back(relu()); break;
      default: model.layers.push_back(fc(draw(1, 300)).bias(draw(0, 3) > 0)); break;
    }
  }
  model.classes = draw(1, 20);
  model.layers.push_back(fc(model.classes));
  if (draw(0, 3) == 0) model.layers.push_back(relu());
  return model;
}

inline PlanSpec random_spec(std::mt19937& random) {
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  return {.precision = draw(0, 1) == 0 ? Precision::fp32 : Precision::bf16,
          .train_rows = draw(0, 70),
          .evaluate_rows = draw(0, 70),
          .moments = draw(0, 2),
          .fuse = draw(0, 1) == 0,
          .share_memory = draw(0, 3) != 0};
}

}  // namespace tr
