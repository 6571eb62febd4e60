#include "tr/plan/memory.h"

#include <doctest/doctest.h>

#include <random>

#include "tests/plan/random_model.h"
#include "tr/plan/runtime.h"

namespace tr {
namespace {

bool meet_in_time(const PlanTensor& a, const PlanTensor& b) { return a.first <= b.last && b.first <= a.last; }
bool meet_in_space(const DTensor& a, const DTensor& b) {
  return a.offset < b.offset + b.bytes() && b.offset < a.offset + a.bytes();
}

bool no_two_live_tensors_overlap(const Plan& plan) {
  for (int i = 0; i < plan.tensors.size(); ++i) {
    for (int j = 0; j < i; ++j) {
      const PlanTensor& a = plan.tensors[i];
      const PlanTensor& b = plan.tensors[j];
      if (a.tensor.arena() != b.tensor.arena() || !meet_in_space(a.tensor, b.tensor)) continue;
      const bool both_transient = is_transient(a.tensor.region) && is_transient(b.tensor.region);
      const bool same_graph = (i >= plan.transients[1].first) == (j >= plan.transients[1].first);
      if (!both_transient || (same_graph && meet_in_time(a, b))) return false;
    }
  }
  return true;
}

/// Tensors of a region lie inside it in the order of their ids, and regions follow each other without a gap.
bool regions_are_contiguous(const Plan& plan) {
  std::int64_t end[2] = {0, 0};
  for (int r = 0; r < region_count; ++r) {
    const Region region = static_cast<Region>(r);
    if (is_transient(region)) continue;
    std::int64_t& at = end[static_cast<int>(arena_of(region))];
    if (plan.memory.region_offset[r] != at) return false;
    for (const PlanTensor& t : plan.tensors) {
      if (t.tensor.region != region) continue;
      if (t.tensor.offset != at) return false;
      at += slot_bytes(t.tensor);
    }
    if (plan.memory.region_offset[r] + plan.memory.region_bytes[r] != at) return false;
  }
  return end[0] == plan.memory.shared_bytes && end[1] == plan.memory.transient_offset;
}

bool inside_its_arena(const Plan& plan, const DTensor& tensor) {
  const std::int64_t bytes = tensor.arena() == Arena::shared ? plan.memory.shared_bytes : plan.memory.local_bytes;
  return tensor.offset >= 0 && tensor.offset % static_cast<std::int64_t>(alignment) == 0 &&
         tensor.offset + tensor.bytes() <= bytes;
}

}  // namespace

TEST_CASE("the memory plan of 1000 random models keeps its promises") {
  std::mt19937 random(20261201);
  for (int i = 0; i < 1000; ++i) {
    CAPTURE(i);
    const RandomModel model = random_model(random);
    const PlanSpec spec = random_spec(random);
    const Plan plan = make_plan(model.spec(), spec);
    bool all_inside = true;
    for (const PlanTensor& t : plan.tensors) all_inside &= inside_its_arena(plan, t.tensor);
    CHECK(all_inside);
    CHECK(no_two_live_tensors_overlap(plan));
    CHECK(regions_are_contiguous(plan));
    CHECK(plan.memory.transient_bytes <= plan.memory.transient_bytes_unshared);

    PlanSpec other = spec;
    other.train_rows = spec.train_rows + 13;
    other.evaluate_rows = 1;
    other.moments = 2;
    const Plan larger = make_plan(model.spec(), other);
    bool same_offsets = true;
    for (int id = 0; id < larger.tensors.size() && id < plan.tensors.size(); ++id) {
      const DTensor& a = plan.tensors[id].tensor;
      const DTensor& b = larger.tensors[id].tensor;
      if (a.arena() == Arena::shared && a.id == b.id) same_offsets &= a.offset == b.offset && a.region == b.region;
    }
    CHECK(same_offsets);
  }
}

TEST_CASE("working copies and moments are images of the weights: half the offset, and the same offset") {
  std::mt19937 random(7);
  for (int i = 0; i < 100; ++i) {
    const RandomModel model = random_model(random);
    const Plan plan = make_plan(model.spec(), {.precision = Precision::bf16, .train_rows = 4, .moments = 2});
    const auto inner = [&](int id) {
      const DTensor& t = plan.tensors[id].tensor;
      return t.offset - plan.memory.region_offset[static_cast<int>(t.region)];
    };
    for (const ArchLayer& layer : plan.arch) {
      if (layer.tensors.weight < 0) continue;
      CHECK(2 * inner(layer.tensors.working_weight) == inner(layer.tensors.weight));
      CHECK(inner(layer.tensors.weight_gradient) == inner(layer.tensors.weight));
      for (const PlanTensor& t : plan.tensors) {
        const bool image = t.tensor.region == Region::m_fc_weight || t.tensor.region == Region::v_fc_weight;
        if (image && t.layer == layer.site.layer) CHECK(inner(t.tensor.id) == inner(layer.tensors.weight));
      }
    }
  }
}

TEST_CASE("sharing saves memory where lifetimes allow it") {
  const std::vector<LayerRecord> layers{flatten(), fc(64), relu(), fc(64), relu(), fc(64), relu(), fc(10)};
  const ModelSpec model{layers, {1, 8, 8, 1}, 10};
  const Plan shared = make_plan(model, {.train_rows = 32, .evaluate_rows = 32});
  const Plan apart = make_plan(model, {.train_rows = 32, .evaluate_rows = 32, .share_memory = false});
  CHECK(shared.memory.transient_bytes < apart.memory.transient_bytes);
  CHECK(apart.memory.transient_bytes == apart.memory.transient_bytes_unshared);
}

TEST_CASE("a tensor that no node touches has a place inside the pool") {
  FlatList<PlanTensor> tensors;
  FlatList<Node> nodes;
  GraphBuilder graph(tensors, nodes, Precision::fp32, 4);
  const int used = graph.tensor(Region::f_feature, {1, 1, 1, 100}, DType::fp32, 0);
  const int unused = graph.tensor(Region::f_feature, {1, 1, 1, 300}, DType::fp32, 0);
  graph.node(OpKind::relu_forward, 0, operands(used), operands(used));
  detail::mark_lifetimes(nodes, tensors);
  const std::array spans{TensorSpan{0, tensors.size()}};
  const MemoryPlan memory = place(tensors, spans, true);
  CHECK(tensors[unused].tensor.offset >= memory.transient_offset);
  CHECK(tensors[unused].tensor.offset + tensors[unused].tensor.bytes() <= memory.local_bytes);
}

}  // namespace tr
