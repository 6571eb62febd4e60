#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "tests/exec/cuda_rig.h"

namespace tr {

using Values = std::vector<float>;

/// Weights of these sizes and a bias of 4, all 0 at first, and their gradients.
inline Plan update_plan(const CudaRig::Config& config, const std::vector<int>& sizes) {
  Plan plan;
  plan.spec = with_update({.precision = config.precision}, CudaRig::rule_of(config));
  GraphBuilder graph(plan.tensors, plan.atlas.graphs[0].nodes, config.precision, 1);
  plan.fixed = detail::declare_results(graph);
  const auto declare = [&](Region region, int size) {
    graph.tensor(region, {1, 1, 1, size}, DType::fp32, -1);
    graph.tensor(image_of(region, Image::gradient), {1, 1, 1, size}, DType::fp32, -1);
  };
  for (const int size : sizes) {
    declare(Region::w_fc_weight, size);
    if (config.precision == Precision::fp32) continue;
    graph.tensor(Region::a_fc_weight, {1, 1, 1, size}, graph.feature_dtype(), -1);
  }
  declare(Region::w_fc_bias, 4);
  detail::declare_update(plan.tensors, plan.spec, plan.fixed);
  detail::append_update(graph, plan.fixed);
  derive_inits(plan, Initializer().fc(InitKind::constants, 0.0));
  plan.memory = place(plan.tensors, plan.transients, true);
  return plan;
}

inline std::vector<Plan> update_plans(const CudaRig::Config& config, const std::vector<int>& sizes) {
  std::vector<Plan> plans(static_cast<std::size_t>(config.ranks));
  for (Plan& plan : plans) plan = update_plan(config, sizes);
  return plans;
}

/// Parameters whose gradients are set by hand, on the ranks in equal parts.
class Update {
 public:
  explicit Update(const CudaRig::Config& config, const std::vector<int>& sizes = {5, 40000, 3})
      : ranks_(config.ranks), rig_(update_plans(config, sizes), config) {
    for (const PlanTensor& t : rig_.plan().tensors) {
      if (is_parameter(t.tensor.region)) ids_.push_back(t.tensor.id);
    }
  }

  int count() const { return static_cast<int>(ids_.size()); }
  Values weight(int p) const { return rig_.values(id(p)); }
  void set(int p, const Values& values) { rig_.set(id(p), values); }
  void set_gradient(int p, const Values& values) {
    Values part = values;
    for (float& v : part) v /= static_cast<float>(ranks_);
    rig_.set(id(p) + 1, part);
  }
  void set_gradients(float value) {
    for (int p = 0; p < count(); ++p) set_gradient(p, Values(weight(p).size(), value));
  }
  /// On one rank alone.
  void set_part(int p, const Values& values, int rank) {
    rig_.arenas(rank).upload(rig_.plan(rank).tensors[id(p) + 1].tensor, std::as_bytes(std::span(values)));
  }
  StepStatus step(float rate) { return rig_.step(rate).status; }
  CudaRig& rig() { return rig_; }

 private:
  int id(int p) const { return ids_[static_cast<std::size_t>(p)]; }

  int ranks_;
  CudaRig rig_;
  std::vector<int> ids_;
};

inline void check_near(const Values& values, double right, double tolerance) {
  double difference = 0.0;
  for (const float v : values) difference = std::max(difference, std::fabs(v - right));
  CHECK(difference <= tolerance);
}

}  // namespace tr
