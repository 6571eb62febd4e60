#include "kernels/cpu/update_share.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "kernels/cpu/adam.h"
#include "kernels/cpu/lars.h"
#include "kernels/cpu/sgd.h"
#include "tests/kernels/cpu/testing.h"

namespace tr::cpu {

using testing::for_each_target;
using testing::infinity;
using testing::nan;
using testing::random_values;
using testing::widths;

namespace {

/// One step of each kernel, in settings that read all of a share.
constexpr std::array<bool (*)(const UpdateShare&), 4> kernels{
    [](const UpdateShare& share) {
      return sgd_update(share, {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true});
    },
    [](const UpdateShare& share) { return adam_update(share, {.lr = 0.1, .weight_decay = 0.01}); },
    [](const UpdateShare& share) { return adam_update(share, {.lr = 0.1, .weight_decay = 0.01, .decoupled = true}); },
    [](const UpdateShare& share) {
      return lars_update(share, {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01, .ratio = 0.5});
    }};

/// The memory of a share of `count` parameters on several ranks.
struct Memory {
  Memory(int count, unsigned ranks)
      : weight(random_values(count, 1)),
        moment1(random_values(count, 2)),
        moment2(weight.size(), 0.5F),
        average(random_values(count, 3)) {
    for (unsigned r = 0; r < ranks; ++r) gradients.push_back(random_values(count, 10 + r));
  }

  /// Valid until the next call.
  UpdateShare share() {
    pointers.clear();
    for (const auto& g : gradients) pointers.push_back(g.data());
    return {.weight = weight.data(),
            .moment1 = moment1.data(),
            .moment2 = moment2.data(),
            .gradients = pointers,
            .count = static_cast<std::int64_t>(weight.size()),
            .decay = true};
  }

  std::vector<float> weight, moment1, moment2, average;
  std::vector<std::vector<float>> gradients;
  std::vector<const float*> pointers;
};

}  // namespace

TEST_CASE("every kernel sums, then limits, then scales the gradient, to the bit") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (const auto kernel : kernels) {
      for (int count : widths) {
        for (unsigned ranks : {1U, 2U, 3U}) {
          Memory tested(count, ranks);
          UpdateShare share = tested.share();
          share.clip_value = 0.6F;
          share.gradient_scale = 0.3F;
          CHECK(kernel(share));

          Memory plain(count, ranks);
          auto& sum = plain.gradients[0];
          for (std::size_t i = 0; i < sum.size(); ++i) {
            for (unsigned r = 1; r < ranks; ++r) sum[i] += plain.gradients[r][i];
            sum[i] = std::clamp(sum[i], -0.6F, 0.6F) * 0.3F;
          }
          plain.gradients.resize(1);
          CHECK(kernel(plain.share()));
          CHECK(tested.weight == plain.weight);
          CHECK(tested.moment1 == plain.moment1);
          CHECK(tested.moment2 == plain.moment2);
        }
      }
    }
  });
}

TEST_CASE("every kernel averages the weights it has just written and leaves them as they would be without") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (const auto kernel : kernels) {
      for (int count : widths) {
        Memory tested(count, 2);
        const auto before = tested.average;
        UpdateShare share = tested.share();
        share.average = tested.average.data();
        share.average_decay = 0.9;
        CHECK(kernel(share));
        Memory plain(count, 2);
        CHECK(kernel(plain.share()));
        CHECK(tested.weight == plain.weight);
        std::vector<double> expected;
        for (std::size_t i = 0; i < before.size(); ++i) {
          expected.push_back(0.9 * static_cast<double>(before[i]) + 0.1 * static_cast<double>(tested.weight[i]));
        }
        CHECK(testing::distance(tested.average, expected, 5e-7) < 1.0);
      }
    }
  });
}

TEST_CASE("an average with a decay of 0 is the weight, whatever it was") {
  for (const auto kernel : kernels) {
    Memory memory(37, 1);
    std::fill(memory.average.begin(), memory.average.end(), nan);
    UpdateShare share = memory.share();
    share.average = memory.average.data();
    CHECK(kernel(share));
    CHECK(memory.average == memory.weight);
  }
}

TEST_CASE("a gradient that is not finite is reported although its limit is, and a NaN reaches the weight") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (const auto kernel : kernels) {
      constexpr std::size_t count = 37;
      for (std::size_t lane = 0; lane < count; ++lane) {
        for (float special : {0.0F, nan, infinity, -infinity}) {
          Memory memory(count, 2);
          memory.gradients[lane % 2][lane] = special;
          UpdateShare share = memory.share();
          share.clip_value = 0.5F;
          share.gradient_scale = 0.5F;
          CHECK(kernel(share) == (special == 0.0F));
          CHECK(std::isnan(memory.weight[lane]) == std::isnan(special));
        }
      }
    }
  });
}

}  // namespace tr::cpu
