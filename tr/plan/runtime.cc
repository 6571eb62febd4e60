#include "tr/plan/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "tr/base/error.h"

namespace tr {
namespace {

[[noreturn]] void mismatch(const char* what, int position) {
  throw Error(
      fmt::format("internal error: the plan made at run time differs from the compiler's in {} {}", what, position));
}

void require_same_nodes(std::span<const Node> compiled, std::span<const Node> nodes, const char* what) {
  if (compiled.size() != nodes.size()) mismatch(what, static_cast<int>(nodes.size()));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (compiled[i] != nodes[i]) mismatch(what, static_cast<int>(i));
  }
}

/// The nodes in front of the update, whose form the optimizer decides.
std::span<const Node> before_update(std::span<const Node> train) {
  const auto first_meet = std::find_if(train.begin(), train.end(), [](const Node& node) { return node.is_fence(); });
  return train.first(static_cast<std::size_t>(first_meet - train.begin()));
}

std::span<const Node> nodes_of(const Plan& plan, GraphKind kind) {
  const FlatList<Node>& nodes = plan.atlas[kind].nodes;
  return {nodes.begin(), nodes.end()};
}

}  // namespace

Plan make_plan(const ModelSpec& model, const PlanSpec& spec) {
  Plan plan;
  TextBuilder error;
  build_plan(model, spec, plan, error);
  if (!error.empty()) throw ShapeError(fmt::format("the model cannot be built: {}", error.view()));
  complete_plan(plan);
  return plan;
}

void require_same_structure(const PlanView& compiled, const Plan& plan) {
  const std::span<const Node> train = nodes_of(plan, GraphKind::train);
  require_same_nodes(before_update(compiled.train), before_update(train), "train node");
  if (!plan.spec.norms) require_same_nodes(compiled.train, train, "train node");
  require_same_nodes(compiled.evaluate, nodes_of(plan, GraphKind::evaluate), "evaluate node");
  if (plan.tensors.size() < static_cast<int>(compiled.tensors.size()))
    mismatch("the number of tensors,", plan.tensors.size());
  for (int id = 0; id < static_cast<int>(compiled.tensors.size()); ++id) {
    const DTensor& a = compiled.tensors[id].tensor;
    const DTensor& b = plan.tensors[id].tensor;
    const bool same_type = a.dtype == b.dtype || (a.dtype == DType::bf16 && b.dtype == DType::fp16);
    const bool rows_aside = a.shape.with_rows(0) == b.shape.with_rows(0);
    if (a.id != b.id || a.region != b.region || !same_type || !rows_aside) mismatch("tensor", id);
    if (!is_batched(a.region) && a.shape != b.shape) mismatch("the rows of tensor", id);
    if (arena_of(a.region) == Arena::shared && a.offset != b.offset) mismatch("the offset of tensor", id);
  }
}

}  // namespace tr
