#pragma once

#include <memory>

#include "tr/algo/update_rule.h"
#include "tr/exec/step_status.h"
#include "tr/io/options.h"
#include "tr/plan/plan.h"
#include "tr/tensor/tensor.h"

namespace tr {

struct SimpleTaskConfig {
  int ranks = 1;
  Precision precision = Precision::fp32;
  /// What `update()` appends.
  UpdateRule rule{.optimizer = SGD().momentum(0.0), .clipping = {}, .ema = {}};
  /// Whether transient tensors share memory; if so, only what the graph writes last can be fetched.
  bool share_memory = false;
  /// On GPUs a rank is one of them, and sums of a loss are those over all ranks.
  Device device = Device::cpu;
};

/// A graph built by hand and run any number of times, its tensors set and fetched between runs: for tests and small
/// benchmarks. Declare tensors and nodes, `compile()`, then `set`, `run` and `fetch`; a call in the wrong phase throws
/// StateError.
///
///     SimpleTask task;
///     const int x = task.tensor(Region::f_feature, {2, 1, 1, 3}, DType::fp32);
///     const int y = task.tensor(Region::f_feature, {2, 1, 1, 3}, DType::fp32);
///     task.node({.op = OpKind::relu_forward, .in = operands(x), .out = operands(y)});
///     task.compile();
///     task.set(x, Tensor::of<float>({2, 1, 1, 3}, {-1, 0, 1, 2, -3, 4}));
///     task.run();
///     const Tensor result = task.fetch(y);
class SimpleTask {
 public:
  explicit SimpleTask(const SimpleTaskConfig& config = {});
  ~SimpleTask();
  SimpleTask(const SimpleTask&) = delete;
  SimpleTask& operator=(const SimpleTask&) = delete;

  /// Declares a tensor and gives its id. Tensors of the shared arena exist once, others once a rank.
  int tensor(Region region, Shape shape, DType dtype);
  /// The id of a scalar, of the five sums of a loss, or of their accumulation; every graph has them.
  int scalar(Scalar which) const { return plan().fixed[which]; }
  int result() const { return plan().fixed.result[0]; }
  int accumulated() const { return plan().fixed.accumulated; }
  void node(const Node& node);
  /// Appends the end of a training step: every parameter declared so far is updated by its gradient, which needs to be
  /// declared as well. Once a task, behind the last parameter.
  void update();
  void compile();

  /// Sets a tensor on every rank, or on one; the working copies follow a weight. Throws ShapeError or ValueError when
  /// shape or type differ.
  void set(int id, const Tensor& value);
  void set(int id, const Tensor& value, int rank);
  void set(Scalar which, double value);
  Tensor fetch(int id, int rank = 0) const;

  /// Runs the graph on all ranks, one time after another, until the ranks' results are not ok. Throws ValueError when a
  /// label is not one of the classes, naming rank, sample and label.
  StepStatus run(int times = 1);

  const Plan& plan() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tr
