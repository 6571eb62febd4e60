#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/device_under_test.h"
#include "tr/task/simple_task.h"

namespace tr {

using Numbers = std::vector<double>;

/// Some weights and one bias, all 0 at first, under an update rule; their gradients are set by hand, on the ranks in
/// equal parts.
class Update {
 public:
  Update(const UpdateRule& rule, const std::vector<int>& weight_sizes, int bias_size, int ranks = 1,
         Precision precision = Precision::fp32)
      : ranks_(ranks), task_({.ranks = ranks, .precision = precision, .rule = rule, .device = device_under_test()}) {
    for (int size : weight_sizes) declare(Region::w_fc_weight, size, precision);
    declare(Region::w_fc_bias, bias_size, precision);
    task_.update();
    task_.compile();
    for (int p = 0; p < count(); ++p) set(p, Numbers(static_cast<std::size_t>(sizes_[at(p)]), 0.0));
  }

  int count() const { return static_cast<int>(ids_.size()); }
  void set(int parameter, const Numbers& values) { task_.set(ids_[at(parameter)], tensor(parameter, values)); }
  /// The whole gradient on one rank, or a ranks-th of it on every rank.
  void set_gradient(int parameter, const Numbers& values, int only_rank = -1) {
    for (int rank = 0; rank < ranks_; ++rank) {
      Numbers part = values;
      for (double& v : part) v = only_rank < 0 ? v / ranks_ : rank == only_rank ? v : 0.0;
      task_.set(gradients_[at(parameter)], tensor(parameter, part), rank);
    }
  }
  StepStatus step(double rate) {
    task_.set(Scalar::learning_rate, rate);
    return task_.run();
  }
  Numbers weight(int parameter) const { return fetch(ids_[at(parameter)]); }
  Numbers average(int parameter) const { return fetch(image_of(task_.plan(), ids_[at(parameter)], Image::average)); }
  SimpleTask& task() { return task_; }
  int id(int parameter) const { return ids_[at(parameter)]; }

 private:
  static std::size_t at(int parameter) { return static_cast<std::size_t>(parameter); }
  void declare(Region region, int size, Precision precision) {
    const Shape shape{1, 1, 1, size};
    ids_.push_back(task_.tensor(region, shape, DType::fp32));
    gradients_.push_back(task_.tensor(image_of(region, Image::gradient), shape, DType::fp32));
    if (precision == Precision::bf16 && is_weight(region)) task_.tensor(Region::a_fc_weight, shape, DType::bf16);
    sizes_.push_back(size);
  }
  Tensor tensor(int parameter, const Numbers& values) const {
    const std::vector<float> rounded(values.begin(), values.end());
    return Tensor::of<float>({1, 1, 1, sizes_[at(parameter)]}, rounded);
  }
  Numbers fetch(int id) const {
    const Tensor value = task_.fetch(id);
    return {value.values<float>().begin(), value.values<float>().end()};
  }

  int ranks_;
  SimpleTask task_;
  std::vector<int> ids_;
  std::vector<int> gradients_;
  std::vector<int> sizes_;
};

inline UpdateRule rule(const AnyOptimizer& optimizer, const GradientClipping& clipping = {}) {
  return {optimizer, clipping, {}};
}

inline Numbers wave(int size, double phase, double amplitude = 1.0) {
  Numbers values;
  for (int i = 0; i < size; ++i) {
    values.push_back(static_cast<double>(static_cast<float>(amplitude * std::sin(phase + 0.37 * i))));
  }
  return values;
}

inline double norm(const std::vector<Numbers>& tensors) {
  double sum = 0.0;
  for (const Numbers& tensor : tensors) {
    for (double v : tensor) sum += v * v;
  }
  return std::sqrt(sum);
}

inline void check_close(const Numbers& got, const Numbers& right, double tolerance = 1e-6) {
  REQUIRE(got.size() == right.size());
  double largest = 0.0;
  double difference = 0.0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    largest = std::max(largest, std::fabs(right[i]));
    difference = std::max(difference, std::fabs(right[i] - got[i]));
  }
  CHECK(difference <= tolerance * largest);
}

}  // namespace tr
