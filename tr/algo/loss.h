#pragma once

#include "tr/base/error.h"

namespace tr {

/// Softmax cross-entropy of logits against class labels, the mean over the batch.
class CrossEntropyLoss final {
 public:
  /// Trains towards (1 - ε)·onehot + ε/K over K classes instead of the label alone (Szegedy et al. 2016, section 7).
  /// Throws ValueError outside [0, 0.2]; the float 0.2 is inside.
  constexpr CrossEntropyLoss& label_smoothing(double epsilon) {
    if (!(epsilon >= 0.0 && epsilon <= static_cast<double>(0.2F))) {
      value_error("label_smoothing", epsilon, "0 to 0.2");
    }
    label_smoothing_ = epsilon;
    return *this;
  }
  constexpr double label_smoothing() const { return label_smoothing_; }

 private:
  double label_smoothing_ = 0.0;
};

}  // namespace tr
