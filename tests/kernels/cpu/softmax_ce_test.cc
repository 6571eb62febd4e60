#include "kernels/cpu/softmax_ce.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/list.h"
#include "tests/golden/softmax_ce.h"
#include "tests/kernels/cpu/testing.h"

namespace tr::cpu {

using testing::distance;
using testing::for_each_target;
using testing::infinity;
using testing::nan;
using testing::operand;
using testing::random_values;
using testing::rounded;
using testing::widened;
using testing::widths;

namespace {

struct Result {
  std::vector<float> gradient;
  std::vector<float> loss;
  std::vector<std::int32_t> rank;
};

/// Rows of equal length, one label each; the gradient replaces the logits.
Result run(std::vector<float> logits, const std::vector<std::int32_t>& labels, float smoothing = 0.0F,
           std::int64_t total_rows = 1) {
  Result result{.gradient = std::move(logits), .loss = {}, .rank = {}};
  result.loss.resize(labels.size(), -7.0F);
  result.rank.resize(labels.size(), -7);
  softmax_ce({.logits = result.gradient.data(),
              .labels = labels.data(),
              .rows = static_cast<std::int64_t>(labels.size()),
              .classes = static_cast<std::int64_t>(result.gradient.size() / std::max<std::size_t>(labels.size(), 1)),
              .smoothing = smoothing,
              .total_rows = total_rows,
              .d_logits = result.gradient.data(),
              .row_loss = result.loss.data(),
              .row_rank = result.rank.data()});
  return result;
}

struct Reference {
  double loss = 0.0;
  std::vector<double> gradient;
  std::int32_t rank = 0;
};

Reference reference(const float* z, int classes, int label, double smoothing, double total_rows) {
  Reference result;
  const auto top = static_cast<double>(*std::max_element(z, z + classes));
  double sum = 0.0;
  for (int j = 0; j < classes; ++j) sum += std::exp(static_cast<double>(z[j]) - top);
  for (int j = 0; j < classes; ++j) {
    const double target = smoothing / classes + (j == label ? 1.0 - smoothing : 0.0);
    const double log_softmax = static_cast<double>(z[j]) - top - std::log(sum);
    result.loss -= target * log_softmax;
    result.gradient.push_back((std::exp(log_softmax) - target) / total_rows);
    if (z[j] > z[label] || (z[j] == z[label] && j < label)) ++result.rank;
  }
  return result;
}

void check_near(const std::vector<float>& values, const std::vector<double>& expected) {
  CHECK(distance(values, expected, 1e-6) <= 1.0);
}

}  // namespace

TEST_CASE("loss, gradient and rank match a double reference at every width and instruction set") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (int classes : widths) {
      CAPTURE(classes);
      constexpr int rows = 3;
      auto logits = random_values(rows * classes, 5, 3.0F);
      const std::vector<std::int32_t> labels = {0, classes / 2, classes - 1};
      for (float smoothing : {0.0F, 0.1F}) {
        const Result result = run(logits, labels, smoothing, 5);
        std::vector<double> gradient;
        for (std::size_t r = 0; r < rows; ++r) {
          const Reference row = reference(logits.data() + r * static_cast<std::size_t>(classes), classes, labels[r],
                                          static_cast<double>(smoothing), 5.0);
          CHECK(static_cast<double>(result.loss[r]) == doctest::Approx(row.loss).epsilon(1e-6));
          CHECK(result.rank[r] == row.rank);
          gradient.insert(gradient.end(), row.gradient.begin(), row.gradient.end());
        }
        CHECK(distance(result.gradient, gradient, 2e-7) <= 1.0);
      }
    }
  });
}

TEST_CASE("loss and gradient agree with PyTorch to 1e-6") {
  for (const golden::SoftmaxCeGolden& g : golden::softmax_ce_goldens) {
    CAPTURE(g.classes);
    CAPTURE(g.smoothing);
    const std::vector<std::int32_t> labels(g.labels.begin(), g.labels.end());
    const Result result = run(g.logits, labels, g.smoothing, golden::softmax_ce_rows);
    const double loss = *std::max_element(g.losses.begin(), g.losses.end());
    CHECK(distance(result.loss, g.losses, 1e-6 * loss) <= 1.0);
    double largest = 0.0;
    for (double v : g.gradient) largest = std::max(largest, std::abs(v));
    CHECK(distance(result.gradient, g.gradient, 1e-6 * largest) <= 1.0);
  }
}

TEST_CASE("C3: smoothing is uniform over all classes, the label's included") {
  const Result smooth = run({1.0F, 2.0F, 3.0F}, {2}, 0.1F);
  check_near(smooth.loss, {0.507606});
  check_near(smooth.gradient, {0.0566972, 0.2113951, -0.2680924});
  check_near(run({1.0F, 2.0F, 3.0F}, {2}).loss, {0.407606});
}

TEST_CASE("C4: a class at minus infinity costs nothing and gets no gradient") {
  const Result certain = run({-infinity, 0.0F}, {1});
  CHECK(certain.loss[0] == 0.0F);
  CHECK(certain.gradient == std::vector<float>{0.0F, 0.0F});
  const Result shared = run({-infinity, 0.0F, 0.0F}, {1});
  check_near(shared.loss, {std::log(2.0)});
  check_near(shared.gradient, {0.0, -0.5, 0.5});
}

TEST_CASE("C6: huge logits neither overflow nor lose the answer") {
  check_near(run({1e8F, 1e8F}, {1}).loss, {0.693147});
  check_near(run({3e38F, 3e38F}, {0}).loss, {0.693147});
  const Result far = run({1e4F, 0.0F}, {1});
  CHECK(far.loss[0] == 1e4F);
  CHECK(far.gradient == std::vector<float>{1.0F, -1.0F});
}

TEST_CASE("C8: the maximum is taken in each row by itself") {
  check_near(run({0.0F, 0.0F, 1000.0F, 0.0F}, {0, 0}).loss, {0.693147, 0.0});
}

TEST_CASE("without smoothing the gradient of the other classes is the softmax, bit for bit, whatever the label") {
  const auto logits = random_values(21, 9);
  const Result first = run(logits, {3});
  const Result second = run(logits, {17});
  for (std::size_t j = 0; j < logits.size(); ++j) {
    if (j != 3 && j != 17) CHECK(first.gradient[j] == second.gradient[j]);
  }
  CHECK(first.gradient[3] == second.gradient[3] - 1.0F);
}

TEST_CASE("C12: ten thousand bf16 rows of a thousand equal logits have the loss ln 1000, as has each of them") {
  const std::vector<Bf16> logits(1000, to_bf16(0.0F));
  const std::int32_t label = 500;
  float loss = 0.0F;
  std::int32_t rank = 0;
  softmax_ce(
      {.logits = logits.data(), .labels = &label, .rows = 1, .classes = 1000, .row_loss = &loss, .row_rank = &rank});
  CHECK(loss == doctest::Approx(6.907755).epsilon(1e-6));
  CHECK(rank == 500);
}

TEST_CASE("C13: rows begin where they do beyond 2^31 and 2^32 elements") {
  CHECK(row_start(2'147'484, 1000) == 2'147'484'000);
  CHECK(row_start(4'294'968, 1000) == 4'294'968'000);
  constexpr int most = std::numeric_limits<int>::max();
  CHECK(row_start(most, most) == std::int64_t{most} * most);
  CHECK(Shape{most, 1, 1, most}.size() == std::int64_t{most} * most);
}

TEST_CASE("a NaN in any lane makes loss and gradient of its row NaN and its rank the worst, and no other row's") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    constexpr int classes = 37;
    for (std::size_t lane = 0; lane < classes; ++lane) {
      std::vector<float> logits(2 * classes, 0.0F);
      logits[lane] = nan;
      const Result result = run(logits, {5, 5});
      CHECK(std::isnan(result.loss[0]));
      CHECK(result.rank == std::vector<std::int32_t>{classes, 5});
      CHECK(result.loss[1] == doctest::Approx(std::log(37.0)).epsilon(1e-6));
      const std::vector<float> first(result.gradient.begin(), result.gradient.begin() + classes);
      CHECK(distance(first, std::vector<float>(classes, nan), 1.0) == 0.0);
      CHECK(std::isfinite(result.gradient[classes + lane]));
    }
  });
}

TEST_CASE("a row whose maximum is infinite has a NaN loss and gradient") {
  for (float maximum : {infinity, -infinity}) {
    const Result result = run({-infinity, maximum, -infinity}, {0});
    CHECK(std::isnan(result.loss[0]));
    CHECK(distance(result.gradient, std::vector<float>(3, nan), 1.0) == 0.0);
  }
}

TEST_CASE("the first of equal maxima wins") {
  CHECK(run({2.0F, 2.0F, 2.0F}, {0}).rank[0] == 0);
  CHECK(run({2.0F, 2.0F, 2.0F}, {2}).rank[0] == 2);
  CHECK(run({1.0F, 2.0F, 3.0F}, {0}).rank[0] == 2);
}

TEST_CASE("an illegal label gives a NaN loss, no gradient and rank -1") {
  for (std::int32_t label : {-1, 3, 2147483647, -2147483647 - 1}) {
    const Result result = run({1.0F, nan, 3.0F, 0.0F, 0.0F, 0.0F}, {label, 1});
    CHECK(std::isnan(result.loss[0]));
    CHECK(result.rank == std::vector<std::int32_t>{illegal_label_rank, 1});
    CHECK(std::vector<float>(result.gradient.begin(), result.gradient.begin() + 3) == std::vector<float>(3, 0.0F));
  }
}

TEST_CASE("as nodes, bf16 and fp32 mix, the smoothing is read at each call, and evaluation agrees with training") {
  const auto values = random_values(4 * 10, 3);
  auto logits = rounded(values);
  std::vector<std::int32_t> labels = {1, 9, 0, 4};
  std::vector<float> smoothing = {0.0F};
  std::vector<Bf16> gradient(40);
  std::vector<float> loss(4);
  std::vector<std::int32_t> rank(4);
  const Shape rows{4, 1, 1, 1};
  Operation operation{.kind = OpKind::softmax_ce,
                      .attributes = {.total_rows = 8},
                      .in = {operand(logits, {4, 1, 1, 10}), operand(labels, rows), operand(smoothing, {})},
                      .out = {operand(gradient, {4, 1, 1, 10}), operand(loss, rows), operand(rank, rows)}};
  Scratch scratch;
  const Kernel train = make_kernel(operation, scratch);
  for (float epsilon : {0.0F, 0.2F}) {
    smoothing[0] = epsilon;
    train();
    const Result expected = run(values, labels, epsilon, 8);
    CHECK(loss == expected.loss);
    CHECK(rank == expected.rank);
    CHECK(gradient == rounded(expected.gradient));
    operation.kind = OpKind::softmax_ce_evaluate;
    operation.out[0] = {};
    loss.assign(4, nan);
    make_kernel(operation, scratch)();
    CHECK(loss == expected.loss);
  }
  // No total means the operand's own rows.
  operation.kind = OpKind::softmax_ce;
  operation.attributes.total_rows = 0;
  operation.out[0] = operand(gradient, {4, 1, 1, 10});
  make_kernel(operation, scratch)();
  CHECK(gradient == rounded(run(values, labels, 0.2F, 4).gradient));
}

TEST_CASE("no rows are no work") {
  const Result result = run({}, {});
  CHECK(result.loss.empty());
}

}  // namespace tr::cpu
