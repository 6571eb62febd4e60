#include "tr/plan/runtime.h"

#include <fmt/format.h>

#include <string>

#include "tr/base/error.h"

namespace tr {
namespace {

[[noreturn]] void mismatch(const char* what, int position) {
  throw Error(
      fmt::format("internal error: the plan made at run time differs from the compiler's in {} {}", what, position));
}

void require_same_nodes(std::span<const Node> compiled, const FlatList<Node>& nodes, const char* what) {
  if (static_cast<int>(compiled.size()) != nodes.size()) mismatch(what, nodes.size());
  for (int i = 0; i < nodes.size(); ++i) {
    if (compiled[i] != nodes[i]) mismatch(what, i);
  }
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
  require_same_nodes(compiled.train, plan.atlas[GraphKind::train].nodes, "train node");
  require_same_nodes(compiled.evaluate, plan.atlas[GraphKind::evaluate].nodes, "evaluate node");
  if (plan.tensors.size() < static_cast<int>(compiled.tensors.size()))
    mismatch("the number of tensors,", plan.tensors.size());
  for (int id = 0; id < static_cast<int>(compiled.tensors.size()); ++id) {
    const DTensor& a = compiled.tensors[id].tensor;
    const DTensor& b = plan.tensors[id].tensor;
    const bool rows_aside = a.shape.with_rows(0) == b.shape.with_rows(0);
    if (a.id != b.id || a.region != b.region || a.dtype != b.dtype || !rows_aside) mismatch("tensor", id);
    if (!is_batched(a.region) && a.shape != b.shape) mismatch("the rows of tensor", id);
    if (arena_of(a.region) == Arena::shared && a.offset != b.offset) mismatch("the offset of tensor", id);
  }
}

}  // namespace tr
