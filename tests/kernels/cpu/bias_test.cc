#include "kernels/cpu/bias.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/kernels/cpu/testing.h"

namespace tr::cpu {

using testing::distance;
using testing::for_each_target;
using testing::infinity;
using testing::nan;
using testing::random_values;
using testing::rounded;
using testing::widened;
using testing::widths;

TEST_CASE("bias and activation match a double reference at every width, in fp32 and rounded once to bf16") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (int columns : widths) {
      for (int rows : {0, 1, 3}) {
        for (Activation activation : {Activation::none, Activation::relu}) {
          const auto z = random_values(rows * columns, 1);
          const auto bias = random_values(columns, 2, 0.01F);
          std::vector<float> expected;
          for (std::size_t i = 0; i < z.size(); ++i) {
            const float sum = z[i] + bias[i % static_cast<std::size_t>(columns)];
            expected.push_back(activation == Activation::relu && sum < 0.0F ? 0.0F : sum);
          }
          std::vector<float> y = z;
          add_bias(y.data(), bias.data(), activation, rows, columns, y.data());
          CHECK(y == expected);
          std::vector<Bf16> narrow(z.size());
          add_bias(z.data(), bias.data(), activation, rows, columns, narrow.data());
          CHECK(narrow == rounded(expected));
        }
      }
    }
  });
}

TEST_CASE("without a bias only the activation is applied") {
  const std::vector<float> z = {-1.0F, 0.0F, 2.0F};
  std::vector<float> y(3);
  add_bias(z.data(), nullptr, Activation::relu, 1, 3, y.data());
  CHECK(y == std::vector<float>{0.0F, 0.0F, 2.0F});
}

TEST_CASE("a NaN or an infinity in any lane comes through bias and ReLU, and only there") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    constexpr int columns = 37;
    const std::vector<float> bias(columns, 0.5F);
    for (std::size_t lane = 0; lane < columns; ++lane) {
      for (float special : {nan, infinity}) {
        std::vector<float> z(columns, -1.0F);
        z[lane] = special;
        std::vector<float> expected(columns, 0.0F);
        expected[lane] = special;
        std::vector<float> y(columns);
        add_bias(z.data(), bias.data(), Activation::relu, 1, columns, y.data());
        CHECK(distance(y, expected, 1.0) == 0.0);
        std::vector<Bf16> narrow(columns);
        add_bias(z.data(), bias.data(), Activation::relu, 1, columns, narrow.data());
        CHECK(distance(widened(narrow), expected, 1.0) == 0.0);
      }
    }
  });
}

TEST_CASE("the gradient of bias and activation matches a double reference for every mixture of types") {
  const auto pick = [](bool narrow, std::vector<float>& wide, std::vector<Bf16>& half) -> Values {
    return narrow ? Values(half.data()) : Values(wide.data());
  };
  for_each_target([&](const std::string& target) {
    CAPTURE(target);
    for (int columns : widths) {
      for (int rows : {0, 1, 4, 7}) {
        for (unsigned mixture = 0; mixture < 16; ++mixture) {
          CAPTURE(columns);
          CAPTURE(rows);
          CAPTURE(mixture);
          auto dy = random_values(rows * columns, 3);
          auto y = random_values(rows * columns, 4);
          auto dy_half = rounded(dy);
          auto y_half = rounded(y);
          const bool activated = (mixture & 8U) != 0;
          std::vector<float> expected = dy;
          std::vector<double> sums(static_cast<std::size_t>(columns), 0.0);
          for (std::size_t i = 0; i < dy.size(); ++i) {
            if (activated && !(y[i] > 0.0F)) expected[i] = 0.0F;
            sums[i % sums.size()] += static_cast<double>(expected[i]);
          }
          std::vector<float> dz(dy.size());
          std::vector<Bf16> dz_half(dy.size());
          std::vector<float> db(static_cast<std::size_t>(columns), nan);
          const Values from = pick((mixture & 1U) != 0, dy, dy_half);
          const Values mask = pick((mixture & 2U) != 0, y, y_half);
          const Values to = pick((mixture & 4U) != 0, dz, dz_half);
          bias_gradient({from.data, from.dtype}, activated ? ConstValues(mask.data, mask.dtype) : ConstValues(), rows,
                        columns, to, db.data());
          CHECK((to.dtype == DType::bf16 ? widened(dz_half) : dz) == expected);
          CHECK(distance(db, sums, 1.0) < 1e-5);
        }
      }
    }
  });
}

TEST_CASE("the gradient may be formed in place, and either result left out") {
  const std::vector<float> y = {1.0F, -1.0F, 0.0F, 2.0F};
  std::vector<float> dy = {1.0F, 2.0F, 3.0F, 4.0F};
  std::vector<float> db(2);
  bias_gradient(dy.data(), {}, 2, 2, {}, db.data());
  CHECK(db == std::vector<float>{4.0F, 6.0F});
  bias_gradient(dy.data(), y.data(), 2, 2, dy.data(), nullptr);
  CHECK(dy == std::vector<float>{1.0F, 0.0F, 0.0F, 4.0F});
}

TEST_CASE("column sums are taken in the order of the rows, whatever the width") {
  // 2^24 + 1 + 1 loses both ones, 1 + 1 + 2^24 keeps them.
  for (int columns : {1, 16, 37}) {
    const auto width = static_cast<std::size_t>(columns);
    std::vector<float> dy(width * 6, 0.0F);
    for (std::size_t c = 0; c < width; ++c) {
      dy[c] = 16777216.0F;
      dy[3 * width + c] = 1.0F;
      dy[5 * width + c] = 1.0F;
    }
    std::vector<float> db(width);
    bias_gradient(dy.data(), {}, 6, columns, {}, db.data());
    CHECK(db == std::vector<float>(width, 16777216.0F));
  }
}

TEST_CASE("a NaN gradient reaches dz and db from any lane, and passes where the output is NaN") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    constexpr int columns = 37;
    for (std::size_t lane = 0; lane < columns; ++lane) {
      std::vector<float> dy(columns, 1.0F);
      dy[lane] = nan;
      std::vector<float> y(columns, 1.0F);
      std::vector<float> dz(columns);
      std::vector<float> db(columns);
      std::vector<float> expected(columns, 1.0F);
      expected[lane] = nan;
      bias_gradient(dy.data(), y.data(), 1, columns, dz.data(), db.data());
      CHECK(distance(dz, expected, 1.0) == 0.0);
      CHECK(distance(db, expected, 1.0) == 0.0);
      dy[lane] = 5.0F;
      y[lane] = nan;
      expected[lane] = 5.0F;
      bias_gradient(dy.data(), y.data(), 1, columns, dz.data(), db.data());
      CHECK(dz == expected);
    }
  });
}

}  // namespace tr::cpu
