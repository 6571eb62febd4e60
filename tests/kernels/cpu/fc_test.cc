#include "kernels/cpu/fc.h"

#include <doctest/doctest.h>

#include <string>

#include "kernels/cpu/cpu_features.h"
#include "kernels/cpu/list.h"
#include "kernels/cpu/threads.h"
#include "tests/kernels/cpu/testing.h"
#include "tr/base/error.h"

namespace tr::cpu {

using testing::distance;
using testing::nan;
using testing::operand;
using testing::random_values;
using testing::rounded;
using testing::widened;

namespace {

struct Sizes {
  int rows;
  int in;
  int out;
};

constexpr Sizes cases[] = {{0, 3, 2}, {1, 1, 1}, {1, 17, 10}, {3, 64, 7}, {5, 13, 513}, {7, 513, 16}};

void run(const Operation& operation) {
  Scratch scratch;
  const Kernel kernel = make_kernel(operation, scratch);
  scratch.allocate();
  kernel();
}

std::size_t at(int row, int columns, int column) {
  return static_cast<std::size_t>(std::int64_t{row} * columns + column);
}

/// x·weightᵀ + bias and ReLU, in fp64.
std::vector<double> forward_reference(const Sizes& s, const std::vector<float>& x, const std::vector<float>& weight,
                                      const std::vector<float>& bias, bool with_relu) {
  std::vector<double> y(static_cast<std::size_t>(s.rows * s.out));
  for (int r = 0; r < s.rows; ++r) {
    for (int o = 0; o < s.out; ++o) {
      auto sum = static_cast<double>(bias[static_cast<std::size_t>(o)]);
      for (int i = 0; i < s.in; ++i) {
        sum += static_cast<double>(x[at(r, s.in, i)]) * static_cast<double>(weight[at(o, s.in, i)]);
      }
      y[at(r, s.out, o)] = with_relu && sum < 0.0 ? 0.0 : sum;
    }
  }
  return y;
}

}  // namespace

TEST_CASE("fc_forward matches a double reference in fp32, with and without ReLU") {
  set_threads(1);
  for (const Sizes& s : cases) {
    for (Activation activation : {Activation::none, Activation::relu}) {
      auto x = random_values(s.rows * s.in, 1);
      auto weight = random_values(s.out * s.in, 2);
      auto bias = random_values(s.out, 3);
      std::vector<float> y(static_cast<std::size_t>(s.rows * s.out), nan);
      run({.kind = OpKind::fc_forward,
           .attributes = {.activation = activation},
           .in = {operand(x, {s.rows, 1, 1, s.in}), operand(weight, {s.out, 1, 1, s.in}),
                  operand(bias, {1, 1, 1, s.out})},
           .out = {operand(y, {s.rows, 1, 1, s.out})}});
      CHECK(distance(y, forward_reference(s, x, weight, bias, activation == Activation::relu), 1e-4) < 1.0);
    }
  }
}

TEST_CASE("fc_forward counts height and width of its input as features, and does without a bias") {
  auto x = random_values(2 * 12, 1);
  auto weight = random_values(3 * 12, 2);
  std::vector<float> y(6);
  run({.kind = OpKind::fc_forward,
       .in = {operand(x, {2, 2, 2, 3}), operand(weight, {3, 1, 1, 12})},
       .out = {operand(y, {2, 1, 1, 3})}});
  CHECK(distance(y, forward_reference({2, 12, 3}, x, weight, std::vector<float>(3, 0.0F), false), 1e-5) < 1.0);
}

TEST_CASE("in bf16 fc_forward rounds once, after bias and activation") {
  if (!detect().avx512) return;
  // The product is 256 + 1 and the bias 1: rounded between them it would be 256 (257 ties to even) and then 256 again.
  std::vector<Bf16> x = rounded({256.0F, 1.0F});
  std::vector<Bf16> weight = rounded({1.0F, 1.0F});
  std::vector<float> bias = {1.0F};
  std::vector<float> z(1);
  std::vector<Bf16> y(1);
  run({.kind = OpKind::fc_forward,
       .attributes = {.activation = Activation::relu},
       .in = {operand(x, {1, 1, 1, 2}), operand(weight, {1, 1, 1, 2}), operand(bias, {1, 1, 1, 1})},
       .out = {operand(y, {1, 1, 1, 1}), operand(z, {1, 1, 1, 1})}});
  CHECK(to_float(y[0]) == 258.0F);
}

TEST_CASE("fc_forward in bf16 gives bf16 features through z, and fp32 logits without") {
  if (!detect().avx512) return;
  for (const Sizes& s : cases) {
    const auto x = random_values(s.rows * s.in, 1);
    const auto weight = random_values(s.out * s.in, 2);
    auto bias = random_values(s.out, 3);
    auto x_half = rounded(x);
    auto weight_half = rounded(weight);
    const auto size = static_cast<std::size_t>(s.rows * s.out);
    std::vector<float> logits(size, nan);
    std::vector<float> z(size, nan);
    std::vector<Bf16> y(size);
    const Shape out{s.rows, 1, 1, s.out};
    Operation operation{.kind = OpKind::fc_forward,
                        .in = {operand(x_half, {s.rows, 1, 1, s.in}), operand(weight_half, {s.out, 1, 1, s.in}),
                               operand(bias, {1, 1, 1, s.out})},
                        .out = {operand(logits, out)}};
    run(operation);
    const auto expected = forward_reference(s, x, weight, bias, false);
    CHECK(distance(logits, expected, 1e-4) < 1.0);
    operation.out = {operand(y, out), operand(z, out)};
    run(operation);
    CHECK(y == rounded(logits));
  }
}

TEST_CASE("the three gradients of a layer match a double reference in fp32 and bf16") {
  set_threads(1);
  for (const Sizes& s : cases) {
    const auto x = random_values(s.rows * s.in, 1);
    const auto weight = random_values(s.out * s.in, 2);
    const auto dz = random_values(s.rows * s.out, 3);
    std::vector<double> dweight(weight.size(), 0.0);
    std::vector<double> dx(x.size(), 0.0);
    for (int r = 0; r < s.rows; ++r) {
      for (int o = 0; o < s.out; ++o) {
        const auto gradient = static_cast<double>(dz[at(r, s.out, o)]);
        for (int i = 0; i < s.in; ++i) {
          dweight[at(o, s.in, i)] += gradient * static_cast<double>(x[at(r, s.in, i)]);
          dx[at(r, s.in, i)] += gradient * static_cast<double>(weight[at(o, s.in, i)]);
        }
      }
    }
    const auto check = [&](auto x_typed, auto weight_typed, auto dz_typed) {
      std::vector<float> result(weight.size(), nan);
      run({.kind = OpKind::fc_backward_weight,
           .in = {operand(x_typed, {s.rows, 1, 1, s.in}), operand(dz_typed, {s.rows, 1, 1, s.out})},
           .out = {operand(result, {s.out, 1, 1, s.in})}});
      CHECK(distance(result, dweight, 1e-4) < 1.0);
      result.assign(x.size(), nan);
      run({.kind = OpKind::fc_backward_data,
           .in = {operand(dz_typed, {s.rows, 1, 1, s.out}), operand(weight_typed, {s.out, 1, 1, s.in})},
           .out = {operand(result, {s.rows, 1, 1, s.in})}});
      CHECK(distance(result, dx, 1e-4) < 1.0);
    };
    check(x, weight, dz);
    if (detect().avx512) check(rounded(x), rounded(weight), rounded(dz));
  }
}

TEST_CASE("fc_backward_bias masks, converts and sums as its operands ask") {
  std::vector<float> dy = {1.0F, 2.0F, 3.0F, 4.0F};
  std::vector<float> y = {1.0F, 0.0F, 1.0F, 1.0F};
  std::vector<Bf16> dz(4);
  std::vector<float> db(2, nan);
  Operation operation{.kind = OpKind::fc_backward_bias,
                      .attributes = {.activation = Activation::relu},
                      .in = {operand(dy, {2, 1, 1, 2}), operand(y, {2, 1, 1, 2})},
                      .out = {operand(dz, {2, 1, 1, 2}), operand(db, {1, 1, 1, 2})}};
  run(operation);
  CHECK(widened(dz) == std::vector<float>{1.0F, 0.0F, 3.0F, 4.0F});
  CHECK(db == std::vector<float>{4.0F, 4.0F});
  operation.attributes.activation = Activation::none;
  operation.out[0] = {};
  run(operation);
  CHECK(db == std::vector<float>{4.0F, 6.0F});
}

TEST_CASE("operands that do not fit are refused by name") {
  std::vector<float> values(64);
  std::vector<Bf16> halves(64);
  Scratch scratch;
  Operation operation{
      .kind = OpKind::fc_forward,
      .in = {operand(values, {2, 1, 1, 3}), operand(values, {4, 1, 1, 3}), operand(values, {1, 1, 1, 4})},
      .out = {operand(values, {2, 1, 1, 4})}};
  CHECK_NOTHROW(make_kernel(operation, scratch));
  Operation wrong = operation;
  wrong.in[1].shape = {4, 1, 1, 2};
  CHECK_THROWS_WITH_AS(make_kernel(wrong, scratch),
                       "weight of fc_forward has 4 rows of 2 elements, it must have 4 rows of 3", ShapeError);
  wrong = operation;
  wrong.in[1].dtype = DType::bf16;
  CHECK_THROWS_WITH_AS(make_kernel(wrong, scratch),
                       "the CPU has no kernel for fc_forward with weight in bf16; it takes fp32", DeviceError);
  wrong = operation;
  wrong.out[0].dtype = DType::bf16;
  CHECK_THROWS_WITH_AS(make_kernel(wrong, scratch), "the CPU has no kernel for fc_forward without z; give one in fp32",
                       DeviceError);
}

}  // namespace tr::cpu
