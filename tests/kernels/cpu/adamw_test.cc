#include "kernels/cpu/adamw.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/golden/optimizers.h"
#include "tests/kernels/cpu/testing.h"

namespace tr::cpu {

using testing::distance;
using testing::for_each_target;
using testing::infinity;
using testing::nan;
using testing::random_values;
using testing::rounded;
using testing::widths;

namespace {

AdamWScalars scalars_at(int step, double lr, double weight_decay, double beta1 = 0.9, double beta2 = 0.999,
                        double eps = 1e-8) {
  return {.lr = lr,
          .beta1 = beta1,
          .beta2 = beta2,
          .eps = eps,
          .weight_decay = weight_decay,
          .bias_correction1 = 1.0 - std::pow(beta1, step),
          .bias_correction2 = 1.0 - std::pow(beta2, step)};
}

/// One weight and its moments.
struct Single {
  float weight = 0.0F;
  float m = 0.0F;
  float v = 0.0F;

  bool step(float gradient, const AdamWScalars& scalars, bool decay = true) {
    const float* const gradients[] = {&gradient};
    return adamw_update(
        {.weight = &weight, .moment1 = &m, .moment2 = &v, .gradients = gradients, .count = 1, .decay = decay}, scalars);
  }
};

struct Reference {
  std::vector<double> weight, m, v;
};

Reference reference(const std::vector<float>& weight, const std::vector<float>& m, const std::vector<float>& v,
                    const std::vector<std::vector<float>>& gradients, const AdamWScalars& s, bool decay) {
  Reference result;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    double g = 0.0;
    for (const auto& one : gradients) g += static_cast<double>(one[i]);
    const double new_m = s.beta1 * static_cast<double>(m[i]) + (1.0 - s.beta1) * g;
    const double new_v = s.beta2 * static_cast<double>(v[i]) + (1.0 - s.beta2) * g * g;
    const double w = static_cast<double>(weight[i]) * (decay ? 1.0 - s.lr * s.weight_decay : 1.0);
    result.m.push_back(new_m);
    result.v.push_back(new_v);
    result.weight.push_back(w - s.lr * (new_m / s.bias_correction1) / (std::sqrt(new_v / s.bias_correction2) + s.eps));
  }
  return result;
}

}  // namespace

TEST_CASE("weights, moments and working copy match a double reference for any width and number of ranks") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (int count : widths) {
      for (unsigned ranks : {1U, 2U, 3U, 5U}) {
        const bool decay = ranks % 2 == 1;
        auto weight = random_values(count, 1);
        auto m = random_values(count, 2, 0.1F);
        auto v = random_values(count, 3, 0.1F);
        for (float& x : v) x = x * x;
        std::vector<std::vector<float>> gradients;
        std::vector<const float*> pointers;
        for (unsigned r = 0; r < ranks; ++r) gradients.push_back(random_values(count, 10 + r));
        for (const auto& g : gradients) pointers.push_back(g.data());
        const AdamWScalars scalars = scalars_at(3, 1e-2, 0.1);
        const Reference expected = reference(weight, m, v, gradients, scalars, decay);
        std::vector<Bf16> working(weight.size());
        CHECK(adamw_update({.weight = weight.data(),
                            .moment1 = m.data(),
                            .moment2 = v.data(),
                            .working = working.data(),
                            .gradients = pointers,
                            .count = count,
                            .decay = decay},
                           scalars));
        CHECK(distance(weight, expected.weight, 1e-6) < 1.0);
        CHECK(distance(m, expected.m, 1e-6) < 1.0);
        CHECK(distance(v, expected.v, 1e-6) < 1.0);
        CHECK(working == rounded(weight));
      }
    }
  });
}

TEST_CASE("O1: decay is decoupled from the moments") {
  Single one{.weight = 1.0F};
  CHECK(one.step(0.1F, scalars_at(1, 0.01, 0.1)));
  CHECK(one.weight == doctest::Approx(0.989).epsilon(1e-6));
  CHECK(one.m == doctest::Approx(0.01).epsilon(1e-6));
  CHECK(one.v == doctest::Approx(1e-5).epsilon(1e-6));
  Single undecayed{.weight = 1.0F};
  CHECK(undecayed.step(0.1F, scalars_at(1, 0.01, 0.1), false));
  CHECK(undecayed.weight == doctest::Approx(0.99).epsilon(1e-6));
}

TEST_CASE("O2: epsilon stands outside the root and after the bias correction") {
  Single one;
  one.step(1e-8F, scalars_at(1, 0.01, 0.0));
  CHECK(one.weight == doctest::Approx(-0.005).epsilon(1e-6));
}

TEST_CASE("twenty steps agree with PyTorch") {
  constexpr std::size_t count = golden::optimizer_values;
  for (const golden::AdamwGolden& g : golden::adamw_goldens) {
    CAPTURE(g.name);
    std::vector<float> weight(golden::optimizer_weights, golden::optimizer_weights + count);
    std::vector<float> m(count, 0.0F);
    std::vector<float> v(count, 0.0F);
    for (int step = 0; step < golden::optimizer_steps; ++step) {
      const float* const gradients[] = {golden::optimizer_gradients[step]};
      CHECK(adamw_update({.weight = weight.data(),
                          .moment1 = m.data(),
                          .moment2 = v.data(),
                          .gradients = gradients,
                          .count = count,
                          .decay = true},
                         scalars_at(step + 1, static_cast<double>(golden::optimizer_rates[step]), g.weight_decay,
                                    g.beta1, g.beta2, g.epsilon)));
      if (step == 0) CHECK(distance(weight, std::vector<double>(g.after_first, g.after_first + count), 1e-7) < 1.0);
    }
    CHECK(distance(weight, std::vector<double>(g.after_last, g.after_last + count), 5e-7) < 1.0);
  }
}

TEST_CASE("a gradient or weight that is not finite is reported from any lane and any rank") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    constexpr std::size_t count = 37;
    for (std::size_t lane = 0; lane < count; ++lane) {
      for (float special : {0.0F, nan, infinity, -infinity}) {
        for (int place = 0; place < 3; ++place) {
          std::vector<float> weight(count, 1.0F), m(count, 0.0F), v(count, 0.0F), first(count, 1.0F),
              second(count, 1.0F);
          (place == 0 ? weight : place == 1 ? first : second)[lane] = special;
          const float* const gradients[] = {first.data(), second.data()};
          const bool finite = adamw_update({.weight = weight.data(),
                                            .moment1 = m.data(),
                                            .moment2 = v.data(),
                                            .gradients = gradients,
                                            .count = count},
                                           scalars_at(1, 0.1, 0.0));
          CHECK(finite == (special == 0.0F));
        }
      }
    }
  });
}

}  // namespace tr::cpu
