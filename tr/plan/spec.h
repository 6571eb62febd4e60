#pragma once

#include <span>

#include "tr/op/list.h"

namespace tr {

/// A model and the data it is for: what a plan is made of.
struct ModelSpec {
  std::span<const LayerRecord> layers;
  /// Shape of one sample, n = 1.
  Shape sample;
  int classes = 0;
};

/// How a plan is made. A run fills in the rows of a rank and what its optimizer needs; neither may change an earlier
/// tensor's id, a node's place before the update, or a parameter's offset.
struct PlanSpec {
  Precision precision = Precision::fp32;
  /// Rows of a training and of an evaluation batch on this rank.
  int train_rows = 1;
  int evaluate_rows = 1;
  /// Images of the weights kept by the optimizer: 0, 1 (momentum) or 2 (Adam).
  int moments = 0;
  /// Whether the update needs norms of the gradients: one more pass over them and one more meeting point.
  bool norms = false;
  /// Whether a running average of the weights is kept.
  bool average = false;
  /// Whether an activation is merged into the layer before it.
  bool fuse = true;
  /// Whether transient tensors share memory where their lifetimes allow it.
  bool share_memory = true;
};

}  // namespace tr
