#include "kernels/cpu/lars.h"

#include <doctest/doctest.h>

#include "kernels/cpu/sgd.h"
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

struct Reference {
  std::vector<double> weight, velocity;
};

Reference reference(const std::vector<float>& weight, const std::vector<float>& velocity,
                    const std::vector<std::vector<float>>& gradients, const LarsScalars& s, bool decay) {
  Reference result;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const auto w = static_cast<double>(weight[i]);
    double g = 0.0;
    for (const auto& one : gradients) g += static_cast<double>(one[i]);
    if (decay) g += s.weight_decay * w;
    const double v = s.momentum * static_cast<double>(velocity[i]) + s.lr * s.ratio * g;
    result.weight.push_back(w - v);
    result.velocity.push_back(s.momentum == 0.0 ? static_cast<double>(velocity[i]) : v);
  }
  return result;
}

}  // namespace

TEST_CASE("weights, velocity and working copy match a double reference for any setting, width and number of ranks") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (unsigned setting = 0; setting < 4; ++setting) {
      for (int count : widths) {
        for (unsigned ranks : {1U, 2U, 3U, 5U}) {
          const LarsScalars scalars{.lr = 0.3,
                                    .momentum = (setting & 1U) != 0 ? 0.9 : 0.0,
                                    .weight_decay = 0.05,
                                    .ratio = (setting & 2U) != 0 ? 0.07 : 1.0};
          const bool decay = count % 2 == 0;
          auto weight = random_values(count, 1);
          auto velocity = random_values(count, 2);
          std::vector<std::vector<float>> gradients;
          for (unsigned r = 0; r < ranks; ++r) gradients.push_back(random_values(count, 10 + r));
          const auto pointers = addresses(gradients);
          const Reference expected = reference(weight, velocity, gradients, scalars, decay);
          std::vector<Bf16> working(weight.size());
          CHECK(lars_update({.weight = weight.data(),
                             .moment1 = scalars.momentum != 0.0 ? velocity.data() : nullptr,
                             .working = working.data(),
                             .gradients = pointers,
                             .count = count,
                             .decay = decay},
                            scalars));
          CHECK(distance(weight, expected.weight, 1e-6) < 1.0);
          CHECK(distance(velocity, expected.velocity, 1e-6) < 1.0);
          CHECK(working == rounded(weight));
        }
      }
    }
  });
}

TEST_CASE("with a ratio of 1 and a constant rate it moves as SGD with momentum does") {
  constexpr std::size_t count = 100;
  auto lars = random_values(count, 1);
  auto sgd = lars;
  std::vector<float> velocity(count, 0.0F);
  std::vector<float> buffer(count, 0.0F);
  for (unsigned step = 0; step < 10; ++step) {
    const auto gradient = random_values(count, 10 + step);
    const float* const gradients[] = {gradient.data()};
    CHECK(lars_update({.weight = lars.data(), .moment1 = velocity.data(), .gradients = gradients, .count = count},
                      {.lr = 0.01, .momentum = 0.9}));
    CHECK(sgd_update({.weight = sgd.data(), .moment1 = buffer.data(), .gradients = gradients, .count = count},
                     {.lr = 0.01, .momentum = 0.9, .first_step = step == 0}));
  }
  CHECK(distance(lars, sgd, 1e-6) < 1.0);
}

TEST_CASE("the velocity holds the rate of its step") {
  float weight = 0.0F;
  float velocity = 0.0F;
  const float gradient = 1.0F;
  const float* const gradients[] = {&gradient};
  const UpdateShare share{.weight = &weight, .moment1 = &velocity, .gradients = gradients, .count = 1};
  lars_update(share, {.lr = 0.1, .momentum = 0.9});
  CHECK(weight == doctest::Approx(-0.1).epsilon(1e-6));
  lars_update(share, {.lr = 0.01, .momentum = 0.9});
  CHECK(weight == doctest::Approx(-0.2).epsilon(1e-6));
}

TEST_CASE("a gradient or weight that is not finite is reported from any lane and any rank") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    constexpr std::size_t count = 37;
    for (std::size_t lane = 0; lane < count; ++lane) {
      for (float special : {0.0F, nan, infinity, -infinity}) {
        for (int place = 0; place < 3; ++place) {
          std::vector<float> weight(count, 1.0F), velocity(count, 0.0F), first(count, 1.0F), second(count, 1.0F);
          (place == 0 ? weight : place == 1 ? first : second)[lane] = special;
          const float* const gradients[] = {first.data(), second.data()};
          const bool finite =
              lars_update({.weight = weight.data(), .moment1 = velocity.data(), .gradients = gradients, .count = count},
                          {.lr = 0.1, .momentum = 0.9});
          CHECK(finite == (special == 0.0F));
        }
      }
    }
  });
}

TEST_CASE("a rate that no float holds is reported") {
  float weight = 1.0F;
  const float gradient = 1.0F;
  const float* const gradients[] = {&gradient};
  CHECK_FALSE(lars_update({.weight = &weight, .gradients = gradients, .count = 1}, {.lr = 1.0, .ratio = 1e39}));
}

}  // namespace tr::cpu
