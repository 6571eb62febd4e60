#include "kernels/cpu/reduce_gradients.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/kernels/cpu/testing.h"

namespace tr::cpu {

using testing::addresses;
using testing::for_each_target;
using testing::infinity;
using testing::nan;
using testing::random_values;
using testing::widths;

namespace {

/// Whether two sums of the same squares agree, each added up in an order of its own.
bool agree(double a, double b) { return std::abs(a - b) <= 1e-14 * std::abs(b); }

std::vector<float> sum_in_order(const std::vector<std::vector<float>>& gradients, float clip_value) {
  std::vector<float> sums = gradients[0];
  for (std::size_t r = 1; r < gradients.size(); ++r) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += gradients[r][i];
  }
  if (clip_value != 0.0F) {
    for (float& sum : sums) sum = std::clamp(sum, -clip_value, clip_value);
  }
  return sums;
}

double squares_of(const std::vector<float>& values) {
  double sum = 0.0;
  for (float v : values) sum += static_cast<double>(v) * static_cast<double>(v);
  return sum;
}

double squares_in_documented_order(const std::vector<float>& values) {
  std::vector<double> sums(16, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    sums[i % 16] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  while (sums.size() > 1) {
    for (std::size_t i = 0; i < sums.size() / 2; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
    sums.resize(sums.size() / 2);
  }
  return sums[0];
}

SquareSums reduce_one(std::vector<float>& gradient, float clip_value = 0.0F) {
  const float* const gradients[] = {gradient.data()};
  return reduce_gradients(gradients, gradient.data(), nullptr, clip_value, static_cast<std::int64_t>(gradient.size()));
}

}  // namespace

TEST_CASE("sums and squares match a reference for any width, alignment and number of ranks, also in place") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (int count : widths) {
      for (unsigned setting = 0; setting < 16; ++setting) {
        const unsigned ranks = 1 + setting / 4;
        const float clip_value = setting % 4 < 2 ? 0.0F : 0.75F;
        const bool with_weight = setting % 2 == 0;
        std::vector<std::vector<float>> gradients;
        for (unsigned r = 0; r < ranks; ++r) gradients.push_back(random_values(count, 10 + r, 1.0F / 3.0F));
        const auto weight = random_values(count, 1);
        const auto expected = sum_in_order(gradients, clip_value);

        // All arrays start one float behind where their allocation does.
        std::vector<float> unaligned(1);
        unaligned.insert(unaligned.end(), gradients.back().begin(), gradients.back().end());
        auto pointers = addresses(gradients);
        pointers.back() = unaligned.data() + 1;
        const SquareSums sums =
            reduce_gradients(pointers, unaligned.data() + 1, with_weight ? weight.data() : nullptr, clip_value, count);
        CHECK(std::vector<float>(unaligned.begin() + 1, unaligned.end()) == expected);
        CHECK(unaligned[0] == 0.0F);
        CHECK(agree(sums.gradient, squares_of(expected)));
        CHECK(agree(sums.weight, with_weight ? squares_of(weight) : 0.0));
        CHECK(sums.finite);
      }
    }
  });
}

TEST_CASE("the squares have the bits of sixteen sums added up pairwise, with every instruction set") {
  for (std::int64_t count : {5, 16, 1003}) {
    auto gradient = random_values(count, 1);
    auto weight = random_values(count, 2);
    // Values with all their bits, so that the order of additions shows.
    for (float& v : gradient) v /= 3.0F;
    for (float& v : weight) v /= 7.0F;
    const double gradient_bits = squares_in_documented_order(gradient);
    const double weight_bits = squares_in_documented_order(weight);
    for_each_target([&](const std::string& target) {
      CAPTURE(target);
      std::vector<float> sum(gradient.size());
      const float* const gradients[] = {gradient.data()};
      const SquareSums sums = reduce_gradients(gradients, sum.data(), weight.data(), 0.0F, count);
      CHECK(sums.gradient == gradient_bits);
      CHECK(sums.weight == weight_bits);
    });
  }
}

TEST_CASE("gradients are summed in the order of the ranks") {
  const float large = 1e8F;
  const float one = 1.0F;
  const float minus_large = -1e8F;
  float sum = -7.0F;
  const float* const lost[] = {&large, &one, &minus_large};
  CHECK(reduce_gradients(lost, &sum, nullptr, 0.0F, 1).gradient == 0.0);
  CHECK(sum == 0.0F);
  const float* const kept[] = {&large, &minus_large, &one};
  CHECK(reduce_gradients(kept, &sum, nullptr, 0.0F, 1).gradient == 1.0);
  CHECK(sum == 1.0F);
}

TEST_CASE("the squares of the largest and of the smallest floats are exact") {
  std::vector<float> large(40, std::numeric_limits<float>::max());
  const auto max = static_cast<double>(std::numeric_limits<float>::max());
  const SquareSums sums = reduce_one(large);
  CHECK(agree(sums.gradient, 40.0 * max * max));
  CHECK(sums.finite);
  std::vector<float> small(40, std::numeric_limits<float>::min());
  const auto min = static_cast<double>(std::numeric_limits<float>::min());
  CHECK(agree(reduce_one(small).gradient, 40.0 * min * min));
}

TEST_CASE("what is not finite is reported from any lane, also when it is clipped away or sits in a weight") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    constexpr std::size_t count = 37;
    for (std::size_t lane = 0; lane < count; ++lane) {
      for (float special : {0.0F, nan, infinity, -infinity}) {
        for (float clip_value : {0.0F, 1.0F}) {
          for (int place = 0; place < 3; ++place) {
            std::vector<float> weight(count, 1.0F), first(count, 1.0F), second(count, 1.0F), sum(count);
            (place == 0 ? weight : place == 1 ? first : second)[lane] = special;
            const float* const gradients[] = {first.data(), second.data()};
            const SquareSums sums = reduce_gradients(gradients, sum.data(), weight.data(), clip_value, count);
            CHECK(sums.finite == (special == 0.0F));
            if (place != 0 && std::isnan(special)) CHECK(std::isnan(sum[lane]));
          }
        }
      }
    }
  });
}

TEST_CASE("infinities of different ranks that cancel out, and sums that overflow, are reported") {
  const float up = infinity;
  const float down = -infinity;
  const float largest = std::numeric_limits<float>::max();
  float sum = 0.0F;
  const float* const opposite[] = {&up, &down};
  CHECK_FALSE(reduce_gradients(opposite, &sum, nullptr, 1.0F, 1).finite);
  const float* const overflowing[] = {&largest, &largest};
  CHECK_FALSE(reduce_gradients(overflowing, &sum, nullptr, 1.0F, 1).finite);
}

TEST_CASE("an empty chunk is finite and touches nothing") {
  const float* const gradients[] = {nullptr};
  const SquareSums sums = reduce_gradients(gradients, nullptr, nullptr, 0.0F, 0);
  CHECK(sums.gradient == 0.0);
  CHECK(sums.weight == 0.0);
  CHECK(sums.finite);
}

}  // namespace tr::cpu
