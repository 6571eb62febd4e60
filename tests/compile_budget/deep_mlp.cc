// The plans of a model with a thousand operations, which tools/budget compiles as an outside program would be: without
// a flag that raises the compiler's limits.

#include <string_view>

#include "tr/blueprint/blueprint.h"
#include "tr/plan/static_plan.h"

namespace {

struct DeepMlp {
  static constexpr auto blueprint = tr::seq(tr::flatten(), tr::repeat<249>(tr::fc(128), tr::relu()), tr::fc(10));
};

struct Digits {
  static constexpr std::string_view name = "digits";
  static constexpr tr::Shape sample{1, 28, 28, 1};
  static constexpr int classes = 10;
};

template <tr::Precision P>
using DeepPlan = tr::StaticPlan<DeepMlp, Digits, 200, P>;
static_assert(DeepPlan<tr::Precision::fp32>::value.train.size() >= 1000);
static_assert(DeepPlan<tr::Precision::bf16>::value.train.size() >= 1000);

}  // namespace

// What a program keeps of them.
tr::PlanView deep_mlp_fp32() { return DeepPlan<tr::Precision::fp32>::view(); }
tr::PlanView deep_mlp_bf16() { return DeepPlan<tr::Precision::bf16>::view(); }
