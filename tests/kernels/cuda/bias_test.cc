#include "kernels/cuda/bias.h"

#include <doctest/doctest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "tests/kernels/cuda/testing.h"

namespace {

using namespace tr;
using namespace tr::cuda;
using namespace tr::cuda::testing;

struct Size {
  std::int64_t rows;
  std::int64_t columns;
};
constexpr Size sizes[] = {{1, 1}, {3, 10}, {200, 10}, {33, 128}, {5, 1001}, {70, 260}, {257, 5}};

TEST_CASE("bias and activation are applied in fp32 and rounded once") {
  for (const Size size : sizes) {
    for (const FloatType in : float_types) {
      for (const FloatType out : float_types) {
        for (const Activation activation : {Activation::none, Activation::relu}) {
          const Simulated simulated;
          const auto count = static_cast<std::size_t>(size.rows * size.columns);
          const std::vector<float> z = rounded(random_floats(count, 1, 1.0F, true), in);
          const std::vector<float> b = random_floats(static_cast<std::size_t>(size.columns), 2);
          const Floats input(simulated, in, z);
          const Floats output(simulated, out, std::vector<float>(count), count % 2);
          const OnDevice<float> bias(simulated, b);
          bias_forward({input.values(), bias.data(), activation, size.rows, size.columns, output.values()},
                       simulated.stream());
          std::vector<float> y(count);
          for (std::size_t i = 0; i < count; ++i) {
            const float sum = z[i] + b[i % b.size()];
            y[i] = rounded(activation == Activation::relu && sum < 0.0F ? 0.0F : sum, out);
          }
          CHECK(all_same(output.get(), y));
        }
      }
    }
  }
}

TEST_CASE("the way back masks the gradient, sums its columns, and keeps to its workspace") {
  for (const Size size : sizes) {
    for (const FloatType in : float_types) {
      for (const FloatType out : float_types) {
        for (const bool activated : {false, true}) {
          const Simulated simulated;
          const auto count = static_cast<std::size_t>(size.rows * size.columns);
          const std::vector<float> dy = rounded(random_floats(count, 3), in);
          const std::vector<float> y = rounded(random_floats(count, 4), out);
          const Floats gradient(simulated, in, dy, count % 2);
          const Floats output(simulated, out, y);
          const Floats masked(simulated, out, std::vector<float>(count));
          const OnDevice<float> db(simulated, std::vector<float>(static_cast<std::size_t>(size.columns)));
          BiasBackward backward{gradient.values(), {}, size.rows, size.columns, masked.values(), db.data()};
          if (activated) backward.y = output.values();
          const OnDevice<float> workspace(
              simulated, std::vector<float>(static_cast<std::size_t>(bias_backward_workspace(backward)) / 4));
          backward.workspace = workspace.data();
          bias_backward(backward, simulated.stream());
          std::vector<float> dz(count);
          std::vector<double> sums(static_cast<std::size_t>(size.columns));
          std::vector<double> sizes_of(sums.size());
          for (std::size_t i = 0; i < count; ++i) {
            const float g = activated && y[i] <= 0.0F ? 0.0F : dy[i];
            dz[i] = rounded(g, out);
            sums[i % sums.size()] += static_cast<double>(g);
            sizes_of[i % sums.size()] += static_cast<double>(std::abs(g));
          }
          CHECK(all_same(masked.get(), dz));
          const std::vector<float> summed = db.get();
          for (std::size_t c = 0; c < sums.size(); ++c) {
            CHECK(std::abs(static_cast<double>(summed[c]) - sums[c]) <= 1e-6 * sizes_of[c]);
          }
          workspace.get();
        }
      }
    }
  }
}

TEST_CASE("no rows have a bias gradient of zero, and outputs may be absent") {
  const Simulated simulated;
  const OnDevice<float> dy(simulated, std::vector<float>{1.0F, -2.0F, 3.0F});
  const OnDevice<float> db(simulated, std::vector<float>(3, 5.0F));
  bias_backward({{dy.data()}, {}, 0, 3, {}, db.data()}, simulated.stream());
  CHECK(all_same(db.get(), {0.0F, 0.0F, 0.0F}));
  bias_backward({{dy.data()}, {}, 1, 3, {}, db.data()}, simulated.stream());
  CHECK(all_same(db.get(), {1.0F, -2.0F, 3.0F}));
  bias_backward({{dy.data()}, {dy.data()}, 1, 3, {dy.data()}}, simulated.stream());
  CHECK(all_same(dy.get(), {1.0F, 0.0F, 3.0F}));
}

}  // namespace
