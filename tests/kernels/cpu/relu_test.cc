#include "kernels/cpu/relu.h"

#include <doctest/doctest.h>

#include "kernels/cpu/list.h"
#include "tests/kernels/cpu/testing.h"
#include "tr/base/error.h"

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

TEST_CASE("ReLU keeps what is positive, in each mixture of types and at every width") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (int count : widths) {
      const auto x = random_values(count, 1);
      const auto x_half = rounded(x);
      std::vector<float> expected;
      for (float v : x) expected.push_back(v > 0.0F ? v : 0.0F);
      std::vector<float> y(x.size());
      std::vector<Bf16> y_half(x.size());
      relu_forward(x.data(), y.data(), count);
      CHECK(y == expected);
      relu_forward(x_half.data(), y.data(), count);
      CHECK(y == expected);
      relu_forward(x.data(), y_half.data(), count);
      CHECK(y_half == rounded(expected));
      relu_forward(x_half.data(), y_half.data(), count);
      CHECK(y_half == rounded(expected));
    }
  });
}

TEST_CASE("ReLU lets NaN and infinity through in every lane") {
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (std::size_t lane = 0; lane < 37; ++lane) {
      for (float special : {nan, -nan, infinity}) {
        std::vector<float> x(37, -1.0F);
        x[lane] = special;
        std::vector<float> expected(37, 0.0F);
        expected[lane] = special;
        std::vector<float> y(37);
        relu_forward(x.data(), y.data(), 37);
        CHECK(distance(y, expected, 1.0) == 0.0);
      }
    }
  });
}

TEST_CASE("the gradient agrees with PyTorch at minus one, zero, one and NaN") {
  // torch.relu and backward with a gradient of 5 give [0, 0, 1, nan] and [0, 0, 5, 5]; a NaN gradient passes only
  // there.
  for_each_target([](const std::string& target) {
    CAPTURE(target);
    const std::vector<float> x = {-1.0F, 0.0F, 1.0F, nan};
    std::vector<float> y(4);
    relu_forward(x.data(), y.data(), 4);
    CHECK(distance(y, std::vector<float>{0.0F, 0.0F, 1.0F, nan}, 1.0) == 0.0);
    std::vector<float> dx(4, 5.0F);
    relu_backward(dx.data(), y.data(), dx.data(), 4);
    CHECK(dx == std::vector<float>{0.0F, 0.0F, 5.0F, 5.0F});
    dx.assign(4, nan);
    relu_backward(dx.data(), y.data(), dx.data(), 4);
    CHECK(distance(dx, std::vector<float>{0.0F, 0.0F, nan, nan}, 1.0) == 0.0);
  });
}

TEST_CASE("as nodes, forward and backward take images and run in place") {
  std::vector<float> x = random_values(2 * 3 * 3 * 5, 7);
  std::vector<Bf16> y(x.size());
  std::vector<float> dx(x.size(), 2.0F);
  const Shape shape{2, 3, 3, 5};
  Scratch scratch;
  Operation forward{.kind = OpKind::relu_forward, .in = {operand(x, shape)}, .out = {operand(y, shape)}};
  Operation backward{
      .kind = OpKind::relu_backward, .in = {operand(dx, shape), operand(y, shape)}, .out = {operand(dx, shape)}};
  make_kernel(forward, scratch)();
  make_kernel(backward, scratch)();
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(to_float(y[i]) == (x[i] > 0.0F ? x[i] : 0.0F));
    CHECK(dx[i] == (x[i] > 0.0F ? 2.0F : 0.0F));
  }
  forward.out[0].shape = {2, 3, 3, 4};
  CHECK_THROWS_AS(make_kernel(forward, scratch), ShapeError);
}

}  // namespace tr::cpu
