#include "kernels/cpu/sgd.h"

#include <doctest/doctest.h>

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

/// One weight with its momentum.
struct Single {
  float weight = 0.0F;
  float buffer = 0.0F;

  bool step(float gradient, const SgdScalars& scalars) {
    const float* const gradients[] = {&gradient};
    return sgd_update({.weight = &weight, .moment1 = &buffer, .gradients = gradients, .count = 1, .decay = true},
                      scalars);
  }
};

struct Reference {
  std::vector<double> weight, buffer;
};

Reference reference(const std::vector<float>& weight, const std::vector<float>& buffer,
                    const std::vector<std::vector<float>>& gradients, const SgdScalars& s, bool decay) {
  Reference result;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    double g = 0.0;
    for (const auto& one : gradients) g += static_cast<double>(one[i]);
    auto w = static_cast<double>(weight[i]);
    if (decay && s.decoupled) w *= 1.0 - s.lr * s.weight_decay;
    if (decay && !s.decoupled) g += s.weight_decay * w;
    double b = s.momentum * static_cast<double>(buffer[i]) + (1.0 - s.dampening) * g;
    if (s.first_step) b = g;
    if (s.momentum == 0.0) b = static_cast<double>(buffer[i]);
    const double change = s.momentum == 0.0 ? g : s.nesterov ? g + s.momentum * b : b;
    result.weight.push_back(w - s.lr * change);
    result.buffer.push_back(b);
  }
  return result;
}

}  // namespace

TEST_CASE("weights, momentum and working copy match a double reference in every setting and width") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (unsigned setting = 0; setting < 32; ++setting) {
      const SgdScalars scalars{.lr = 0.1,
                               .momentum = (setting & 1U) != 0 ? 0.9 : 0.0,
                               .dampening = (setting & 2U) != 0 ? 0.3 : 0.0,
                               .weight_decay = 0.05,
                               .nesterov = (setting & 4U) != 0,
                               .decoupled = (setting & 8U) != 0,
                               .first_step = (setting & 16U) != 0};
      for (int count : widths) {
        const unsigned ranks = 1 + setting % 4;
        const bool decay = count % 2 == 0;
        auto weight = random_values(count, 1);
        auto buffer = random_values(count, 2);
        std::vector<std::vector<float>> gradients;
        for (unsigned r = 0; r < ranks; ++r) gradients.push_back(random_values(count, 10 + r));
        const auto pointers = addresses(gradients);
        const Reference expected = reference(weight, buffer, gradients, scalars, decay);
        std::vector<Bf16> working(weight.size());
        CHECK(sgd_update({.weight = weight.data(),
                          .moment1 = scalars.momentum != 0.0 ? buffer.data() : nullptr,
                          .working = working.data(),
                          .gradients = pointers,
                          .count = count,
                          .decay = decay},
                         scalars));
        CHECK(distance(weight, expected.weight, 1e-6) < 1.0);
        CHECK(distance(buffer, expected.buffer, 2e-6) < 1.0);
        CHECK(working == rounded(weight));
      }
    }
  });
}

TEST_CASE("O4: the learning rate does not enter the momentum") {
  Single one;
  one.step(1.0F, {.lr = 0.1, .momentum = 0.9, .first_step = true});
  CHECK(one.weight == doctest::Approx(-0.1).epsilon(1e-6));
  one.step(1.0F, {.lr = 0.01, .momentum = 0.9});
  CHECK(one.weight == doctest::Approx(-0.119).epsilon(1e-6));
}

TEST_CASE("O6: Nesterov looks one step ahead") {
  Single one;
  one.step(1.0F, {.lr = 0.1, .momentum = 0.9, .nesterov = true, .first_step = true});
  CHECK(one.weight == doctest::Approx(-0.19).epsilon(1e-6));
  one.step(1.0F, {.lr = 0.1, .momentum = 0.9, .nesterov = true});
  CHECK(one.weight == doctest::Approx(-0.461).epsilon(1e-6));
}

TEST_CASE("gradients are summed in the order of the ranks") {
  const float large = 1e8F;
  const float one = 1.0F;
  const float minus_large = -1e8F;
  float weight = 0.0F;
  const float* const lost[] = {&large, &one, &minus_large};
  CHECK(sgd_update({.weight = &weight, .gradients = lost, .count = 1}, {.lr = 1.0}));
  CHECK(weight == 0.0F);
  const float* const kept[] = {&large, &minus_large, &one};
  CHECK(sgd_update({.weight = &weight, .gradients = kept, .count = 1}, {.lr = 1.0}));
  CHECK(weight == -1.0F);
}

TEST_CASE("a gradient or weight that is not finite is reported from any lane") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    constexpr std::size_t count = 37;
    for (std::size_t lane = 0; lane < count; ++lane) {
      for (float special : {0.0F, nan, infinity, -infinity}) {
        for (bool in_weight : {false, true}) {
          std::vector<float> weight(count, 1.0F), gradient(count, 1.0F);
          (in_weight ? weight : gradient)[lane] = special;
          const float* const gradients[] = {gradient.data()};
          const bool finite =
              sgd_update({.weight = weight.data(), .gradients = gradients, .count = count}, {.lr = 0.1});
          CHECK(finite == (special == 0.0F));
        }
      }
    }
  });
}

TEST_CASE("an empty share is finite and touches nothing") {
  const float* const gradients[] = {nullptr};
  CHECK(sgd_update({.gradients = gradients, .count = 0}, {.lr = 0.1}));
}

}  // namespace tr::cpu
