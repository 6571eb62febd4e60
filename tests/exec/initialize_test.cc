#include "tr/exec/initialize.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/exec/precisions.h"
#include "tr/algo/init_policy.h"
#include "tr/plan/runtime.h"

namespace tr {
namespace {

using Values = std::vector<float>;

/// The first values of each parameter of a model, in the order of the layers.
std::vector<Values> parameters_of(const ModelSpec& model, const PlanSpec& spec, std::uint64_t seed, int ranks = 1) {
  Plan plan = make_plan(model, spec);
  derive_inits(plan, XavierNormal{});
  const std::vector<MemoryPlan> layouts(static_cast<std::size_t>(ranks), plan.memory);
  const Arenas arenas(layouts);
  init_all(plan, arenas, seed);
  std::vector<Values> parameters;
  for (const PlanTensor& t : plan.tensors) {
    if (!is_parameter(t.tensor.region)) continue;
    const auto* values = arenas.at<float>(t.tensor, ranks - 1);
    parameters.emplace_back(values, values + t.tensor.shape.size());
  }
  return parameters;
}

const std::vector<LayerRecord> shallow{flatten(), fc(24), relu(), fc(10)};
const std::vector<LayerRecord> deep{flatten(), fc(24), relu(), fc(10), relu(), fc(10)};

ModelSpec model_of(std::span<const LayerRecord> layers) { return {layers, {1, 5, 5, 1}, 10}; }

// I9
TEST_CASE("a layer at the end changes no weight of the earlier ones") {
  const auto before = parameters_of(model_of(shallow), {}, 1);
  const auto after = parameters_of(model_of(deep), {}, 1);
  REQUIRE(before.size() == 4);
  REQUIRE(after.size() == 6);
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(after[i] == before[i]);
}

TEST_CASE("neither precision, rows, moments nor ranks change a first weight; the seed does") {
  const ModelSpec model = model_of(shallow);
  const auto right = parameters_of(model, {}, 1);
  for (Precision precision : precisions()) CHECK(parameters_of(model, {.precision = precision}, 1) == right);
  CHECK(parameters_of(model, {.train_rows = 64, .evaluate_rows = 100}, 1) == right);
  CHECK(parameters_of(model, {.moments = 2}, 1) == right);
  CHECK(parameters_of(model, {.fuse = false, .share_memory = false}, 1) == right);
  CHECK(parameters_of(model, {}, 1, 3) == right);
  CHECK(parameters_of(model, {}, 2) != right);
  CHECK(parameters_of(model, {}, 1 + (std::uint64_t{1} << 32)) != right);
}

// I9
TEST_CASE("two layers of one shape in one model start with weights that do not correlate") {
  const std::vector<LayerRecord> layers{fc(512), relu(), fc(512), relu(), fc(10)};
  const auto parameters = parameters_of({layers, {1, 1, 1, 512}, 10}, {}, 1);
  std::vector<Values> squares;
  for (const Values& values : parameters) {
    if (values.size() == 512 * 512) squares.push_back(values);
  }
  REQUIRE(squares.size() == 2);
  double products = 0.0;
  double first = 0.0;
  double second = 0.0;
  for (std::size_t i = 0; i < squares[0].size(); ++i) {
    const double a = squares[0][i];
    const double b = squares[1][i];
    products += a * b;
    first += a * a;
    second += b * b;
  }
  CHECK(first > 0.0);
  CHECK(std::abs(products) < 0.01 * std::sqrt(first * second));
}

/// The same for every region.
struct Fives {
  constexpr InitConfig config(Region) const { return {5.0F, InitKind::constants, FanMode::fan_in}; }
};

TEST_CASE("a policy of one's own sets parameters, biases too; the rest starts as the initializer has it") {
  Plan plan;
  for (int r = 0; r < region_count; ++r) {
    plan.tensors.push({.tensor = {.id = r, .shape = {1, 1, 1, 4}, .region = static_cast<Region>(r)}});
  }
  derive_inits(plan, Fives{});
  for (int r = 0; r < region_count; ++r) {
    const auto region = static_cast<Region>(r);
    CAPTURE(name_of(region));
    CHECK(plan.inits[r] == (is_parameter(region) ? Fives{}.config(region) : Initializer().config(region)));
  }
  CHECK(plan.inits[static_cast<int>(Region::b_variance)] == InitConfig{1.0F, InitKind::constants, FanMode::fan_in});
}

TEST_CASE("running variances and scales start with 1, moments and means with 0, whatever lay in the memory") {
  Plan plan;
  for (Region region : {Region::w_bn_weight, Region::w_eq_scale, Region::b_mean, Region::b_variance,
                        Region::m_bn_weight, Region::e_bn_weight}) {
    plan.tensors.push({.tensor = {.id = plan.tensors.size(), .shape = {1, 1, 1, 4}, .region = region}});
  }
  plan.memory = place(plan.tensors, plan.transients, true);
  derive_inits(plan, Initializer());
  const Arenas arenas(std::span(&plan.memory, 1));
  for (const PlanTensor& t : plan.tensors) std::ranges::fill_n(arenas.at<float>(t.tensor, 0), 4, -7.0F);
  init_all(plan, arenas, 1);
  const float right[] = {1.0F, 1.0F, 0.0F, 1.0F, 0.0F, -7.0F};
  for (const PlanTensor& t : plan.tensors) {
    const float* values = arenas.at<float>(t.tensor, 0);
    CAPTURE(name_of(t.tensor.region));
    CHECK(std::ranges::count(values, values + 4, right[t.tensor.id]) == 4);
  }
}

}  // namespace
}  // namespace tr
