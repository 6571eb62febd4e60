#pragma once

#include <array>
#include <concepts>
#include <string_view>

#include "tr/blueprint/blueprint.h"
#include "tr/plan/plan.h"

namespace tr {

/// A model is a type with one member.
template <class M>
concept Model = requires {
  { M::blueprint.size() } -> std::convertible_to<int>;
  M::blueprint.layers;
};

/// What a plan has to know of a data set.
template <class D>
concept DataShape = requires {
  { D::name } -> std::convertible_to<std::string_view>;
  { D::sample } -> std::convertible_to<Shape>;
  { D::classes } -> std::convertible_to<int>;
};

/// Cannot be instantiated with a reason: the compiler prints the reason in its first line.
template <FixedText Reason>
struct model_error {
  static_assert(Reason.empty(), "the model cannot be built; the layer and the reason stand in quotes above");
  static constexpr bool none = true;
};

/// The part of a plan that outlives the compiler, in arrays of exactly the right size.
template <int Tensors, int TrainNodes, int EvaluateNodes>
struct FrozenPlan {
  PlanSpec spec;
  std::array<PlanTensor, Tensors> tensors{};
  std::array<Node, TrainNodes> train{};
  std::array<Node, EvaluateNodes> evaluate{};
  FixedTensors fixed;
  MemoryPlan memory;
};

/// A frozen plan without its sizes in the type.
struct PlanView {
  PlanSpec spec;
  std::span<const PlanTensor> tensors;
  std::span<const Node> train;
  std::span<const Node> evaluate;
  const FixedTensors* fixed = nullptr;
  const MemoryPlan* memory = nullptr;
};

namespace detail {

template <class M, class D>
constexpr ModelSpec model_spec() {
  return {.layers = {M::blueprint.layers.data(), static_cast<std::size_t>(M::blueprint.size())},
          .sample = D::sample,
          .classes = D::classes};
}

template <class M, class D>
consteval TextBuilder diagnose(const PlanSpec& spec) {
  TextBuilder error;
  ArchPlan arch;
  build_arch(model_spec<M, D>(), spec, arch, error);
  return error;
}

/// Storage that is surely large enough, and how much of it is used; frozen to its size in a second step, so that the
/// plan is made only once.
template <int Layers>
struct WidePlan {
  static constexpr int capacity = 16 * Layers + 64;
  std::array<PlanTensor, capacity> tensors{};
  std::array<Node, capacity> train{};
  std::array<Node, capacity> evaluate{};
  FixedTensors fixed;
  MemoryPlan memory;
  int tensor_count = 0;
  int train_count = 0;
  int evaluate_count = 0;
};

template <class From, class To>
constexpr void copy_into(const From& from, int count, To& to) {
  for (int i = 0; i < count; ++i) to[i] = from[i];
}

template <class M, class D>
consteval auto make_wide(const PlanSpec& spec) {
  TextBuilder error;
  Plan plan;
  build_plan(model_spec<M, D>(), spec, plan, error);
  WidePlan<M::blueprint.size()> wide;
  wide.tensor_count = plan.tensors.size();
  wide.train_count = plan.atlas.graphs[0].nodes.size();
  wide.evaluate_count = plan.atlas.graphs[1].nodes.size();
  copy_into(plan.tensors, wide.tensor_count, wide.tensors);
  copy_into(plan.atlas.graphs[0].nodes, wide.train_count, wide.train);
  copy_into(plan.atlas.graphs[1].nodes, wide.evaluate_count, wide.evaluate);
  wide.fixed = plan.fixed;
  wide.memory = plan.memory;
  return wide;
}

}  // namespace detail

/// The plan the compiler makes of a model: full batch, one rank. Instantiating it is what rejects a wrong model.
template <Model M, DataShape D, int Batch, Precision P>
class StaticPlan {
  static constexpr PlanSpec spec{.precision = P, .train_rows = Batch, .evaluate_rows = Batch};
  static constexpr TextBuilder reason = detail::diagnose<M, D>(spec);
  static_assert(model_error<reason.template fixed<reason.size() + 1>()>::none);
  static constexpr auto wide = detail::make_wide<M, D>(spec);

  static constexpr auto freeze() {
    FrozenPlan<wide.tensor_count, wide.train_count, wide.evaluate_count> frozen;
    frozen.spec = spec;
    detail::copy_into(wide.tensors, wide.tensor_count, frozen.tensors);
    detail::copy_into(wide.train, wide.train_count, frozen.train);
    detail::copy_into(wide.evaluate, wide.evaluate_count, frozen.evaluate);
    frozen.fixed = wide.fixed;
    frozen.memory = wide.memory;
    return frozen;
  }

 public:
  static constexpr auto value = freeze();
  static constexpr PlanView view() {
    return {value.spec, value.tensors, value.train, value.evaluate, &value.fixed, &value.memory};
  }
};

}  // namespace tr
