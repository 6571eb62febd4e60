#include "tr/io/summary.h"

#include <doctest/doctest.h>

#include <random>
#include <sstream>

#include "tests/plan/random_model.h"
#include "tr/blueprint/blueprint.h"
#include "tr/dist/slice.h"
#include "tr/plan/runtime.h"

namespace tr {
namespace {

constexpr auto mlp = seq(flatten(), fc(1024), relu(), fc(512), relu(), fc(256), relu(), fc(10));
const ModelSpec mlp_spec{mlp.layers, {1, 28, 28, 1}, 10};

/// The plans of all ranks for a batch of `rows`.
std::vector<Plan> plans_of(const ModelSpec& model, PlanSpec spec, int rows, int ranks) {
  std::vector<Plan> plans;
  for (int rank = 0; rank < ranks; ++rank) {
    spec.train_rows = spec.evaluate_rows = static_cast<int>(slice_of(rows, rank, ranks).count);
    plans.push_back(make_plan(model, spec));
  }
  return plans;
}

std::int64_t arena_bytes(std::span<const Plan> plans) {
  std::int64_t bytes = plans.front().memory.shared_bytes;
  for (const Plan& plan : plans) bytes += plan.memory.local_bytes;
  return bytes;
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

}  // namespace

// 1,462,538 parameters are (784 + 1)·1024 + (1024 + 1)·512 + (512 + 1)·256 + (256 + 1)·10, and 2,921,472 operations are
// 2·(784·1024 + 1024·512 + 512·256 + 256·10).
TEST_CASE("the summary of the MNIST MLP") {
  const std::vector<Plan> plans = plans_of(mlp_spec, {.moments = 2}, 200, 1);
  const std::vector<std::int64_t> annex{40960};
  CHECK(summary({"Mlp", "mnist", mlp_spec, plans, annex}) ==
        "Mlp on mnist, batch 200, fp32, 1 rank\n"
        "\n"
        "#  layer                 output  parameters      FLOPs\n"
        "   input                28x28x1\n"
        "0  flatten()                784           0          0\n"
        "1  fc(out=1024) + relu     1024     803,840  1,605,632\n"
        "3  fc(out=512) + relu       512     524,800  1,048,576\n"
        "5  fc(out=256) + relu       256     131,328    262,144\n"
        "7  fc(out=10)                10       2,570      5,120\n"
        "   total                          1,462,538  2,921,472\n"
        "\n"
        "memory                  tensors       bytes\n"
        "shared arena                 42  17,555,712   16.7 MiB\n"
        "  w_fc_bias                   4       7,424    7.2 KiB\n"
        "  w_fc_weight                 4   5,842,944    5.6 MiB\n"
        "  s_scalar_fp32              15       3,840    3.8 KiB\n"
        "  s_scalar_int32              3         768      768 B\n"
        "  m_fc_bias                   4       7,424    7.2 KiB\n"
        "  m_fc_weight                 4   5,842,944    5.6 MiB\n"
        "  v_fc_bias                   4       7,424    7.2 KiB\n"
        "  v_fc_weight                 4   5,842,944    5.6 MiB\n"
        "local arenas, 1 rank         32   9,156,096    8.7 MiB\n"
        "  g_fc_bias                   4       7,424    7.2 KiB\n"
        "  g_fc_weight                 4   5,842,944    5.6 MiB\n"
        "  r_result                    4       1,024    1.0 KiB\n"
        "  r_accumulated               1         256      256 B\n"
        "  i_a_label                   1       1,024    1.0 KiB\n"
        "  i_a_data                    1     627,200  612.5 KiB\n"
        "  i_b_label                   1       1,024    1.0 KiB\n"
        "  i_b_data                    1     627,200  612.5 KiB\n"
        "  transient                  15   2,048,000    2.0 MiB\n"
        "annex of the libraries               40,960   40.0 KiB\n"
        "total                            26,752,768   25.5 MiB\n"
        "sharing by lifetime saves 829,440 of 2,877,440 transient bytes (28.8 %)\n");
}

TEST_CASE("the summary of several ranks adds their local arenas and annexes and counts the shared arena once") {
  const std::vector<Plan> plans = plans_of(mlp_spec, {.precision = Precision::bf16, .moments = 1}, 200, 3);
  const std::vector<std::int64_t> annex{100, 200, 700};
  const std::string text = summary({"Mlp", "mnist", mlp_spec, plans, annex});
  CHECK(has_line(text, "Mlp on mnist, batch 200, bf16, 3 ranks"));
  CHECK(has_line(text, "shared arena                 38  14,626,816   13.9 MiB"));
  CHECK(has_line(text, "  w_fc_bias                   4       7,424    7.2 KiB"));
  CHECK(has_line(text, "local arenas, 3 ranks        42  19,824,640   18.9 MiB"));
  CHECK(has_line(text, "  g_fc_bias                   4      22,272   21.8 KiB"));
  CHECK(has_line(text, "annex of the libraries                1,000     1000 B"));
  CHECK(has_line(text, "total                            34,452,456   32.9 MiB"));
  CHECK(has_line(text, "a local arena has 6,600,704 to 6,611,968 bytes"));
  const std::vector<Plan> equal = plans_of(mlp_spec, {.moments = 2}, 200, 2);
  CHECK(has_line(summary({"Mlp", "mnist", mlp_spec, equal, {}}), "a local arena has 7,503,872 bytes"));
}

TEST_CASE("layers that are not fused have a row of their own, and a rank without rows is no obstacle") {
  const std::vector<LayerRecord> layers{flatten(), fc(2).bias(false), relu(), relu(), fc(3)};
  const ModelSpec model{layers, {1, 2, 2, 1}, 3};
  const std::string text = summary({"Tiny", "dots", model, plans_of(model, {.fuse = false}, 1, 2), {}});
  CHECK(has_line(text, "1  fc(out=2, bias=false)       2           8     16"));
  CHECK(has_line(text, "2  relu()                      2           0      2"));
  CHECK(has_line(text, "4  fc(out=3)                   3           9     12"));
  const std::string fused = summary({"Tiny", "dots", model, plans_of(model, {}, 0, 1), {}});
  CHECK(has_line(fused, "1  fc(out=2, bias=false) + relu       2           8     16"));
  CHECK(has_line(fused, "3  relu()                             2           0      2"));
  CHECK(has_line(fused, "sharing by lifetime saves 0 of 0 transient bytes (0.0 %)"));
}

TEST_CASE("the regions of any model and number of ranks are, together, exactly the bytes of all arenas") {
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    const RandomModel model = random_model(random);
    const std::vector<Plan> plans = plans_of(model.spec(), random_spec(random), 1 + i % 50, 1 + i % 4);
    std::int64_t sum = 0;
    int tensors = 0;
    bool all_have_bytes = true;
    for (const RegionBytes& region : region_bytes(plans)) {
      sum += region.bytes;
      tensors += region.tensors;
      all_have_bytes &= region.bytes > 0 && region.tensors > 0;
    }
    CHECK(sum == arena_bytes(plans));
    CHECK(tensors == plans.front().tensors.size());
    CHECK(all_have_bytes);
    CHECK(region_bytes(plans).back().region == "transient");
    CHECK(widest_line(summary({"Random", "noise", model.spec(), plans, {}})) <= 100);
  }
}

TEST_CASE("the largest layers and long names still fit into 100 columns") {
  const std::vector<LayerRecord> layers{fc(INT32_MAX).bias(false), relu(), fc(500).bias(false), relu()};
  const ModelSpec model{layers, {1, 1, 1, 500}, 500};
  const std::vector<Plan> plans = plans_of(model, {.precision = Precision::bf16, .moments = 2}, 32000, 64);
  const std::string text = summary({std::string(200, 'm'), std::string(200, 'd'), model, plans, {}});
  CHECK(has_line(text, "   total                                              2,147,483,647,000  4,294,967,294,000"));
  CHECK(widest_line(text) <= 100);
}

}  // namespace tr
