#include "tr/plan/static_plan.h"

#include <doctest/doctest.h>

#include <vector>

#include "tr/base/error.h"
#include "tr/plan/runtime.h"

namespace tr {
namespace {

struct Mlp {
  static constexpr auto blueprint = seq(flatten(), fc(1024), relu(), fc(512), relu(), fc(256), relu(), fc(10));
};
struct Digits {
  static constexpr std::string_view name = "digits";
  static constexpr Shape sample{1, 28, 28, 1};
  static constexpr int classes = 10;
};

using Compiled = StaticPlan<Mlp, Digits, 200, Precision::fp32>;
using CompiledBf16 = StaticPlan<Mlp, Digits, 200, Precision::bf16>;

// Facts of this model that anybody can compute: (784 + 1)·1024 + (1024 + 1)·512 + (512 + 1)·256 + (256 + 1)·10.
constexpr std::int64_t parameters() {
  std::int64_t sum = 0;
  for (const PlanTensor& t : Compiled::value.tensors) {
    if (is_parameter(t.tensor.region)) sum += t.tensor.shape.size();
  }
  return sum;
}
static_assert(parameters() == 1462538);
static_assert(Compiled::value.train.size() == 22);
static_assert(Compiled::value.evaluate.size() == 7);

ModelSpec spec() { return {Mlp::blueprint.layers, Digits::sample, Digits::classes}; }

}  // namespace

TEST_CASE("compiler and run time make the same plan from the same function") {
  for (const PlanView& view : {Compiled::view(), CompiledBf16::view()}) {
    const Plan plan = make_plan(spec(), view.spec);
    REQUIRE(plan.tensors.size() == static_cast<int>(view.tensors.size()));
    for (int id = 0; id < plan.tensors.size(); ++id) CHECK(plan.tensors[id] == view.tensors[id]);
    CHECK(plan.memory == *view.memory);
    CHECK(plan.fixed == *view.fixed);
    CHECK_NOTHROW(require_same_structure(view, plan));
  }
}

TEST_CASE("rows of a rank and an optimizer's moments keep the structure; another model does not") {
  const Plan rank = make_plan(spec(), {.train_rows = 67, .evaluate_rows = 66, .moments = 2});
  CHECK_NOTHROW(require_same_structure(Compiled::view(), rank));
  const Plan empty = make_plan(spec(), {.train_rows = 0, .evaluate_rows = 0, .moments = 1});
  CHECK_NOTHROW(require_same_structure(Compiled::view(), empty));
  const Plan other_precision = make_plan(spec(), {.precision = Precision::bf16, .train_rows = 200});
  CHECK_THROWS_AS(require_same_structure(Compiled::view(), other_precision), Error);
  const std::vector<LayerRecord> layers{flatten(), fc(1024), relu(), fc(511), relu(), fc(256), relu(), fc(10)};
  const Plan other_width = make_plan({layers, Digits::sample, 10}, {.train_rows = 200});
  CHECK_THROWS_AS(require_same_structure(Compiled::view(), other_width), Error);
}

TEST_CASE("a model that cannot be built is a ShapeError at run time") {
  const std::vector<LayerRecord> layers{flatten(), fc(0)};
  CHECK_THROWS_WITH_AS(make_plan({layers, Digits::sample, 10}, {}),
                       "the model cannot be built: layer 1, fc(out=0): a width of 0 is not positive", ShapeError);
}

}  // namespace tr
