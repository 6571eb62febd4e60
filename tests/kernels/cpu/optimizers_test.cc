// Twenty steps of each optimizer at changing rates. Everywhere the error is a part of the largest parameter.
#include "tests/golden/optimizers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "kernels/cpu/adam.h"
#include "kernels/cpu/lars.h"
#include "kernels/cpu/reduce_gradients.h"
#include "kernels/cpu/sgd.h"
#include "tests/kernels/cpu/testing.h"
#include "tr/algo/clipping.h"
#include "tr/algo/lars.h"

namespace tr::cpu {

using testing::for_each_target;

namespace {

constexpr int count = golden::optimizer_values;

/// The gradients of up to three ranks whose sum is exactly the golden one.
class RankGradients {
 public:
  RankGradients(int step, unsigned ranks) {
    const float parts[3][3] = {{1.0F}, {0.5F, 0.5F}, {0.5F, 0.25F, 0.25F}};
    for (unsigned r = 0; r < ranks; ++r) {
      for (float g : golden::optimizer_gradients[step]) values_[r].push_back(g * parts[ranks - 1][r]);
      pointers_.push_back(values_[r].data());
    }
  }
  std::span<const float* const> all() const { return pointers_; }
  float* first() { return values_[0].data(); }

 private:
  std::vector<float> values_[3];
  std::vector<const float*> pointers_;
};

/// A share of all golden parameters with its moments and its average.
struct Parameters {
  std::vector<float> weight{std::begin(golden::optimizer_weights), std::end(golden::optimizer_weights)};
  std::vector<float> moment1 = std::vector<float>(count, 0.0F);
  std::vector<float> moment2 = std::vector<float>(count, 0.0F);
  // Whatever memory holds: the first step overwrites it.
  std::vector<float> average = std::vector<float>(count, 123.0F);

  UpdateShare share(int step) {
    return {.weight = weight.data(),
            .moment1 = moment1.data(),
            .moment2 = moment2.data(),
            .average = average.data(),
            .count = count,
            .average_decay = step == 0 ? 0.0 : golden::optimizer_average_decay,
            .decay = true};
  }
};

/// The largest error as a part of the largest parameter, in millionths.
double millionths(const std::vector<float>& values, const double* expected) {
  double error = 0.0;
  double largest = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) return static_cast<double>(testing::infinity);
    error = std::max(error, std::abs(static_cast<double>(values[i]) - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return 1e6 * error / largest;
}

/// Takes the golden steps with `update(share, step)`, which the settings of `g` went into.
template <class Golden, class Update>
void check_steps(const Golden& g, unsigned ranks, Update update) {
  CAPTURE(g.name);
  CAPTURE(ranks);
  Parameters parameters;
  for (int step = 0; step < golden::optimizer_steps; ++step) {
    RankGradients gradients(step, ranks);
    UpdateShare share = parameters.share(step);
    share.gradients = gradients.all();
    const auto clip_value = static_cast<float>(g.clip_value);
    const float* const reduced[] = {gradients.first()};
    if (g.clip_norm != 0.0) {
      const SquareSums sums = reduce_gradients(gradients.all(), gradients.first(), nullptr, clip_value, count);
      share.gradients = reduced;
      share.gradient_scale = clip_factor(std::sqrt(sums.gradient), g.clip_norm).value();
    } else {
      share.clip_value = clip_value;
    }
    CHECK(update(share, step));
    for (std::size_t s = 0; s < std::size(golden::optimizer_shown_steps); ++s) {
      if (step + 1 == golden::optimizer_shown_steps[s]) CHECK(millionths(parameters.weight, g.after[s]) < 1.0);
    }
  }
  CHECK(millionths(parameters.average, g.average) < 1.0);
}

double rate_of(int step) { return static_cast<double>(golden::optimizer_rates[step]); }

/// LARS in fp64 over two tensors that decay and one that does not, written down independently of the kernels.
struct LarsReference {
  struct Tensor {
    int first, end;
    bool is_weight;
  };
  static constexpr Tensor tensors[] = {{0, 7, true}, {7, 20, true}, {20, count, false}};

  double momentum, decay, trust, eps, clip_norm;
  std::vector<double> w{std::begin(golden::optimizer_weights), std::end(golden::optimizer_weights)};
  std::vector<double> v = std::vector<double>(count, 0.0);

  void step(int step) {
    std::vector<double> g(std::begin(golden::optimizer_gradients[step]), std::end(golden::optimizer_gradients[step]));
    const double total = norm(g, 0, count);
    if (clip_norm > 0.0) {
      for (double& x : g) x *= std::min(1.0, clip_norm / (total + 1e-6));
    }
    for (const Tensor& t : tensors) {
      const double wd = t.is_weight ? decay : 0.0;
      const double wn = norm(w, t.first, t.end);
      const double gn = norm(g, t.first, t.end);
      const double ratio = t.is_weight && wn > 0.0 && gn > 0.0 ? trust * wn / (gn + wd * wn + eps) : 1.0;
      for (int i = t.first; i < t.end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        v[at] = momentum * v[at] + rate_of(step) * ratio * (g[at] + wd * w[at]);
        w[at] -= v[at];
      }
    }
  }
  static double norm(const std::vector<double>& x, int first, int end) {
    double sum = 0.0;
    for (int i = first; i < end; ++i) sum += x[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(i)];
    return std::sqrt(sum);
  }
};

/// The same step as a rank takes it: reduce each tensor, form its ratio, update it with that.
void lars_step(Parameters& parameters, int step, unsigned ranks, const LarsReference& settings) {
  RankGradients gradients(step, ranks);
  SquareSums sums[std::size(LarsReference::tensors)];
  double total = 0.0;
  for (std::size_t t = 0; t < std::size(sums); ++t) {
    const auto& tensor = LarsReference::tensors[t];
    std::vector<const float*> pointers;
    for (const float* g : gradients.all()) pointers.push_back(g + tensor.first);
    sums[t] = reduce_gradients(pointers, gradients.first() + tensor.first, parameters.weight.data() + tensor.first,
                               0.0F, tensor.end - tensor.first);
    CHECK(sums[t].finite);
    total += sums[t].gradient;
  }
  const float factor = settings.clip_norm > 0.0 ? clip_factor(std::sqrt(total), settings.clip_norm).value() : 1.0F;
  for (std::size_t t = 0; t < std::size(sums); ++t) {
    const auto& tensor = LarsReference::tensors[t];
    const double gradient_norm = std::sqrt(sums[t].gradient) * static_cast<double>(factor);
    const double ratio =
        lars_ratio(std::sqrt(sums[t].weight), gradient_norm, settings.trust, settings.decay, settings.eps);
    const float* const reduced[] = {gradients.first() + tensor.first};
    CHECK(lars_update({.weight = parameters.weight.data() + tensor.first,
                       .moment1 = parameters.moment1.data() + tensor.first,
                       .gradients = reduced,
                       .count = tensor.end - tensor.first,
                       .gradient_scale = factor,
                       .decay = tensor.is_weight},
                      {.lr = rate_of(step),
                       .momentum = settings.momentum,
                       .weight_decay = settings.decay,
                       .ratio = tensor.is_weight ? ratio : 1.0}));
  }
}

}  // namespace

TEST_CASE("SGD, clipped or not, and its average agree with PyTorch to 1e-6 for any number of ranks") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (const golden::SgdGolden& g : golden::sgd_goldens) {
      for (unsigned ranks : {1U, 2U, 3U}) {
        check_steps(g, ranks, [&](const UpdateShare& share, int step) {
          return sgd_update(share, {.lr = rate_of(step),
                                    .momentum = g.momentum,
                                    .dampening = g.dampening,
                                    .weight_decay = g.weight_decay,
                                    .nesterov = g.nesterov,
                                    .decoupled = g.decoupled,
                                    .first_step = step == 0});
        });
      }
    }
  });
}

TEST_CASE("Adam and AdamW, clipped or not, and their averages agree with PyTorch to 1e-6 for any number of ranks") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (const golden::AdamGolden& g : golden::adam_goldens) {
      for (unsigned ranks : {1U, 2U, 3U}) {
        check_steps(g, ranks, [&](const UpdateShare& share, int step) {
          return adam_update(share, {.lr = rate_of(step),
                                     .beta1 = g.beta1,
                                     .beta2 = g.beta2,
                                     .eps = g.epsilon,
                                     .weight_decay = g.weight_decay,
                                     .bias_correction1 = 1.0 - std::pow(g.beta1, step + 1),
                                     .bias_correction2 = 1.0 - std::pow(g.beta2, step + 1),
                                     .decoupled = g.decoupled});
        });
      }
    }
  });
}

TEST_CASE("LARS over several tensors agrees with a reference in fp64 to 1e-6 for any number of ranks") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (unsigned setting = 0; setting < 8; ++setting) {
      CAPTURE(setting);
      for (unsigned ranks : {1U, 2U, 3U}) {
        LarsReference expected{.momentum = (setting & 1U) != 0 ? 0.9 : 0.0,
                               .decay = (setting & 2U) != 0 ? 0.05 : 0.0,
                               // So large that the steps show.
                               .trust = 2.0,
                               .eps = 1e-8,
                               .clip_norm = (setting & 4U) != 0 ? 1.2 : 0.0};
        Parameters parameters;
        for (int step = 0; step < golden::optimizer_steps; ++step) {
          lars_step(parameters, step, ranks, expected);
          expected.step(step);
          CHECK(millionths(parameters.weight, expected.w.data()) < 1.0);
        }
      }
    }
  });
}

TEST_CASE("O7: the ratio of LARS, and where a norm is 0") {
  const auto step = [](std::vector<float> weight, std::vector<float> gradient) {
    const float* const gradients[] = {gradient.data()};
    const SquareSums sums = reduce_gradients(gradients, gradient.data(), weight.data(), 0.0F, 2);
    const double ratio = lars_ratio(std::sqrt(sums.weight), std::sqrt(sums.gradient), 0.001, 0.0, 1e-8);
    CHECK(lars_update({.weight = weight.data(), .gradients = gradients, .count = 2}, {.lr = 1.0, .ratio = ratio}));
    return weight;
  };
  const std::vector<float> moved = step({3.0F, 4.0F}, {0.0F, 2.0F});
  CHECK(moved[0] == 3.0F);
  CHECK(moved[1] == doctest::Approx(3.995).epsilon(1e-7));
  CHECK(step({0.0F, 0.0F}, {1.0F, 2.0F}) == std::vector<float>{-1.0F, -2.0F});
  CHECK(step({3.0F, 4.0F}, {0.0F, 0.0F}) == std::vector<float>{3.0F, 4.0F});
}

TEST_CASE("O11: a hundred gradients of 1e20 and a largest norm of 1 give 0.1 each") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (float sign : {1.0F, -1.0F}) {
      for (float size : {1e20F, 1e10F, 5e36F, 1.0F}) {
        std::vector<float> gradient(100, sign * size);
        std::vector<float> weight(100, 0.0F);
        const float* const gradients[] = {gradient.data()};
        const SquareSums sums = reduce_gradients(gradients, gradient.data(), nullptr, 0.0F, 100);
        CHECK(sums.finite);
        const auto factor = clip_factor(std::sqrt(sums.gradient), 1.0);
        REQUIRE(factor.has_value());
        CHECK(sgd_update({.weight = weight.data(), .gradients = gradients, .count = 100, .gradient_scale = *factor},
                         {.lr = 1.0}));
        for (float w : weight) CHECK(w == doctest::Approx(static_cast<double>(-0.1F * sign)).epsilon(1e-6));
      }
    }
  });
}

TEST_CASE("O11: one infinite gradient among a hundred is seen before anything changes, all zeros change nothing") {
  std::vector<float> gradient(100, 0.0F);
  const float* const gradients[] = {gradient.data()};
  const SquareSums zeros = reduce_gradients(gradients, gradient.data(), nullptr, 0.0F, 100);
  CHECK(zeros.finite);
  CHECK(clip_factor(std::sqrt(zeros.gradient), 1.0) == 1.0F);
  for (float clip_value : {0.0F, 1.0F}) {
    gradient[63] = testing::infinity;
    CHECK_FALSE(reduce_gradients(gradients, gradient.data(), nullptr, clip_value, 100).finite);
  }
}

}  // namespace tr::cpu
