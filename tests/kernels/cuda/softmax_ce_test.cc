#include "kernels/cuda/softmax_ce.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "kernels/cpu/metrics.h"
#include "kernels/cpu/softmax_ce.h"
#include "kernels/cuda/metrics.h"
#include "tests/kernels/cuda/testing.h"

namespace {

using namespace tr;
using namespace tr::cuda::testing;
using cuda::FloatType;

struct Case {
  std::int64_t rows;
  std::int64_t classes;
  FloatType type;
  float smoothing;
  bool special;
};

/// What the CPU's kernel makes of the same rows.
struct Expected {
  std::vector<float> gradient;
  std::vector<float> loss;
  std::vector<std::int32_t> rank;
};

std::vector<float> logits_of(const Case& c) {
  std::vector<float> logits = random_floats(static_cast<std::size_t>(c.rows * c.classes), 1, 3.0F, c.special);
  // Ties.
  for (std::size_t i = 0; i < logits.size(); i += 3) logits[i] = std::nearbyint(logits[i]);
  return rounded(logits, c.type);
}

std::vector<std::int32_t> labels_of(const Case& c) {
  std::mt19937 generator(2);
  std::vector<std::int32_t> labels;
  for (std::int64_t r = 0; r < c.rows; ++r) {
    labels.push_back(static_cast<std::int32_t>(generator() % static_cast<unsigned>(c.classes)));
    if (c.special && r % 5 == 1) labels.back() = r % 2 == 0 ? -1 : static_cast<std::int32_t>(c.classes);
  }
  return labels;
}

Expected expected_of(const Case& c, std::int64_t total_rows) {
  const std::vector<float> logits = logits_of(c);
  const std::vector<std::int32_t> labels = labels_of(c);
  Expected e{std::vector<float>(logits.size()), std::vector<float>(labels.size()),
             std::vector<std::int32_t>(labels.size())};
  cpu::softmax_ce({logits.data(), labels.data(), c.rows, c.classes, c.smoothing, total_rows, e.gradient.data(),
                   e.loss.data(), e.rank.data()});
  return e;
}

void check_case(const Case& c, float loss_scale) {
  CAPTURE(c.classes);
  const Simulated simulated;
  const std::int64_t total_rows = 2 * c.rows;
  const Expected expected = expected_of(c, total_rows);
  const Floats logits(simulated, c.type, logits_of(c));
  const OnDevice<std::int32_t> labels(simulated, labels_of(c));
  const OnDevice<float> smoothing(simulated, c.smoothing);
  const OnDevice<float> scale(simulated, loss_scale);
  const OnDevice<float> loss(simulated, std::vector<float>(expected.loss.size()));
  const OnDevice<std::int32_t> rank(simulated, std::vector<std::int32_t>(expected.loss.size()));
  cuda::SoftmaxCe batch{logits.values(), labels.data(), c.rows, c.classes,   smoothing.data(),
                        total_rows,      scale.data(),  {},     loss.data(), rank.data()};
  cuda::softmax_ce(batch, simulated.stream());
  CHECK(all_near(loss.get(), expected.loss, 2e-6, 1e-6));
  CHECK(rank.get() == expected.rank);
  batch.d_logits = logits.values();
  cuda::softmax_ce(batch, simulated.stream());
  CHECK(all_near(loss.get(), expected.loss, 2e-6, 1e-6));
  std::vector<float> gradient = expected.gradient;
  for (float& v : gradient) v *= loss_scale;
  CHECK(all_near(logits.get(), gradient, c.type == FloatType::fp32 ? 1e-5 : 1e-2, 1e-7));
}

TEST_CASE("loss, rank and gradient agree with the CPU, for few classes and for many") {
  for (const std::int64_t classes : {1, 2, 10, 32, 33, 256, 257, 1000, 1030}) {
    for (const FloatType type : {FloatType::fp32, FloatType::bf16}) {
      for (const float smoothing : {0.0F, 0.1F}) {
        for (const bool special : {false, true}) check_case({11, classes, type, smoothing, special}, 8.0F);
      }
    }
  }
}

TEST_CASE("a loss scale lets fp16 hold gradients that it could not without") {
  const Simulated simulated;
  const std::vector<float> logits{0.0F, 20.0F};
  const OnDevice<float> input(simulated, logits);
  const OnDevice<std::int32_t> labels(simulated, 1);
  const OnDevice<float> smoothing(simulated, 0.0F);
  const OnDevice<float> scale(simulated, 65536.0F);
  const OnDevice<float> loss(simulated, 0.0F);
  const OnDevice<std::int32_t> rank(simulated, 0);
  const Floats gradient(simulated, FloatType::fp16, std::vector<float>(2));
  cuda::SoftmaxCe batch{{input.data()}, labels.data(),     1,           2,          smoothing.data(), 200,
                        nullptr,        gradient.values(), loss.data(), rank.data()};
  cuda::softmax_ce(batch, simulated.stream());
  CHECK(gradient.get()[0] == 0.0F);
  batch.loss_scale = scale.data();
  cuda::softmax_ce(batch, simulated.stream());
  CHECK(near(gradient.get()[0], 2.0612e-9 / 200 * 65536, 0.1, 0.0));
}

TEST_CASE("metrics agree with the CPU, and a NaN counts as no hit") {
  for (const std::int64_t rows : {0, 1, 7, 200, 1000}) {
    const Simulated simulated;
    const auto count = static_cast<std::size_t>(rows);
    const std::vector<float> losses = random_floats(count, 3, 1.0F, rows > 200);
    std::vector<std::int32_t> ranks;
    for (std::size_t i = 0; i < count; ++i) ranks.push_back(static_cast<std::int32_t>(i % 8) - 1);
    std::vector<double> result(5);
    std::vector<double> accumulated{1, 2, 3, 4, 5};
    const OnDevice<float> loss(simulated, losses);
    const OnDevice<std::int32_t> rank(simulated, ranks);
    const OnDevice<double> sums(simulated, result);
    const OnDevice<double> total(simulated, accumulated);
    cuda::accumulate_metrics({loss.data(), rank.data(), rows, sums.data(), total.data()}, simulated.stream());
    cpu::accumulate_metrics(losses.data(), ranks.data(), rows, result.data(), accumulated.data());
    for (std::size_t i = 0; i < result.size(); ++i) {
      CHECK(near(sums.get()[i], result[i], 1e-14, 0.0));
      CHECK(near(total.get()[i], accumulated[i], 1e-14, 0.0));
    }
  }
}

}  // namespace
