#include "kernels/cpu/adam.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/kernels/cpu/testing.h"

namespace tr::cpu {

using testing::addresses;
using testing::distance;
using testing::for_each_target;
using testing::infinity;
using testing::nan;
using testing::random_values;
using testing::rounded;
using testing::widths;

namespace {

AdamScalars scalars_at(int step, double lr, double weight_decay, bool decoupled) {
  return {.lr = lr,
          .weight_decay = weight_decay,
          .bias_correction1 = 1.0 - std::pow(0.9, step),
          .bias_correction2 = 1.0 - std::pow(0.999, step),
          .decoupled = decoupled};
}

/// One weight and its moments.
struct Single {
  float weight = 0.0F;
  float m = 0.0F;
  float v = 0.0F;

  bool step(float gradient, const AdamScalars& scalars, bool decay = true) {
    const float* const gradients[] = {&gradient};
    return adam_update(
        {.weight = &weight, .moment1 = &m, .moment2 = &v, .gradients = gradients, .count = 1, .decay = decay}, scalars);
  }
};

struct Reference {
  std::vector<double> weight, m, v;
};

Reference reference(const std::vector<float>& weight, const std::vector<float>& m, const std::vector<float>& v,
                    const std::vector<std::vector<float>>& gradients, const AdamScalars& s, bool decay) {
  Reference result;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    double g = 0.0;
    for (const auto& one : gradients) g += static_cast<double>(one[i]);
    const double old_w = static_cast<double>(weight[i]);
    if (decay && !s.decoupled) g += s.weight_decay * old_w;
    const double new_m = s.beta1 * static_cast<double>(m[i]) + (1.0 - s.beta1) * g;
    const double new_v = s.beta2 * static_cast<double>(v[i]) + (1.0 - s.beta2) * g * g;
    const double w = old_w * (decay && s.decoupled ? 1.0 - s.lr * s.weight_decay : 1.0);
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
        for (unsigned r = 0; r < ranks; ++r) gradients.push_back(random_values(count, 10 + r));
        const auto pointers = addresses(gradients);
        const AdamScalars scalars = scalars_at(3, 1e-2, 0.1, count % 2 == 0);
        const Reference expected = reference(weight, m, v, gradients, scalars, decay);
        std::vector<Bf16> working(weight.size());
        CHECK(adam_update({.weight = weight.data(),
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

TEST_CASE("O1: decay enters the moments of Adam and passes by those of AdamW") {
  Single adam{.weight = 1.0F};
  CHECK(adam.step(0.1F, scalars_at(1, 0.01, 0.1, false)));
  CHECK(adam.weight == doctest::Approx(0.99).epsilon(1e-6));
  CHECK(adam.m == doctest::Approx(0.02).epsilon(1e-6));
  CHECK(adam.v == doctest::Approx(4e-5).epsilon(1e-6));
  Single adamw{.weight = 1.0F};
  CHECK(adamw.step(0.1F, scalars_at(1, 0.01, 0.1, true)));
  CHECK(adamw.weight == doctest::Approx(0.989).epsilon(1e-6));
  CHECK(adamw.m == doctest::Approx(0.01).epsilon(1e-6));
  CHECK(adamw.v == doctest::Approx(1e-5).epsilon(1e-6));
}

TEST_CASE("O1: what does not decay takes the same step in Adam and AdamW") {
  for (const bool decoupled : {false, true}) {
    Single undecayed{.weight = 1.0F};
    CHECK(undecayed.step(0.1F, scalars_at(1, 0.01, 0.1, decoupled), false));
    CHECK(undecayed.weight == doctest::Approx(0.99).epsilon(1e-6));
    CHECK(undecayed.m == doctest::Approx(0.01).epsilon(1e-6));
  }
}

TEST_CASE("O2: epsilon stands outside the root and after the bias correction") {
  for (const bool decoupled : {false, true}) {
    for (const int step : {1, 2, 50}) {
      // Moments as they are after a run of the same gradient: corrected they are g and g².
      const AdamScalars scalars = scalars_at(step, 0.01, 0.0, decoupled);
      Single one{.m = static_cast<float>(1e-8 * (1.0 - std::pow(0.9, step - 1))),
                 .v = static_cast<float>(1e-16 * (1.0 - std::pow(0.999, step - 1)))};
      one.step(1e-8F, scalars);
      CHECK(one.weight == doctest::Approx(-0.005).epsilon(1e-5));
    }
  }
}

TEST_CASE("a weight without gradient and decay stays where it is") {
  for (const bool decoupled : {false, true}) {
    Single one{.weight = 0.75F};
    for (int step = 1; step <= 5; ++step) CHECK(one.step(0.0F, scalars_at(step, 0.1, 0.0, decoupled)));
    CHECK(one.weight == 0.75F);
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
          const bool finite = adam_update({.weight = weight.data(),
                                           .moment1 = m.data(),
                                           .moment2 = v.data(),
                                           .gradients = gradients,
                                           .count = count},
                                          scalars_at(1, 0.1, 0.0, true));
          CHECK(finite == (special == 0.0F));
        }
      }
    }
  });
}

}  // namespace tr::cpu
