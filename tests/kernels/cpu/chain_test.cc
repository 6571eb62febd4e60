// Two fully connected layers, ReLU and the loss, forward and back, against central differences in fp64.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/cpu_features.h"
#include "kernels/cpu/list.h"
#include "kernels/cpu/threads.h"
#include "tests/kernels/cpu/testing.h"

namespace tr::cpu {

using testing::distance;
using testing::nan;
using testing::operand;
using testing::random_values;

namespace {

constexpr int batch = 5;
constexpr int in = 6;
constexpr int hidden = 19;
constexpr int classes = 4;
constexpr float smoothing = 0.1F;

/// All parameters one after another: weight 1, bias 1, weight 2, bias 2.
constexpr int weight1 = 0;
constexpr int bias1 = weight1 + hidden * in;
constexpr int weight2 = bias1 + hidden;
constexpr int bias2 = weight2 + classes * hidden;
constexpr int parameters = bias2 + classes;

const std::vector<std::int32_t> labels = {0, 3, 1, 1, 2};

/// The mean loss in fp64, straight from the definitions.
double loss_of(const std::vector<double>& p, const std::vector<float>& x) {
  const auto at = [&](int i) { return p[static_cast<std::size_t>(i)]; };
  double loss = 0.0;
  for (int r = 0; r < batch; ++r) {
    double h[hidden];
    for (int j = 0; j < hidden; ++j) {
      h[j] = at(bias1 + j);
      for (int i = 0; i < in; ++i)
        h[j] += at(weight1 + j * in + i) * static_cast<double>(x[static_cast<std::size_t>(r * in + i)]);
      h[j] = std::max(h[j], 0.0);
    }
    double z[classes];
    double sum = 0.0;
    for (int k = 0; k < classes; ++k) {
      z[k] = at(bias2 + k);
      for (int j = 0; j < hidden; ++j) z[k] += at(weight2 + k * hidden + j) * h[j];
      sum += std::exp(z[k]);
    }
    const auto epsilon = static_cast<double>(smoothing);
    for (int k = 0; k < classes; ++k) {
      const double target = epsilon / classes + (k == labels[static_cast<std::size_t>(r)] ? 1.0 - epsilon : 0.0);
      loss += target * (std::log(sum) - z[k]) / batch;
    }
  }
  return loss;
}

std::vector<double> central_differences(const std::vector<float>& values, const std::vector<float>& x) {
  constexpr double h = 1e-6;
  std::vector<double> p(values.begin(), values.end());
  std::vector<double> gradient;
  for (double& v : p) {
    const double middle = v;
    v = middle + h;
    const double above = loss_of(p, x);
    v = middle - h;
    gradient.push_back((above - loss_of(p, x)) / (2.0 * h));
    v = middle;
  }
  return gradient;
}

template <class T>
std::vector<T> part(const std::vector<float>& values, int first, int count) {
  std::vector<T> result;
  for (int i = first; i < first + count; ++i) {
    const float v = values[static_cast<std::size_t>(i)];
    if constexpr (std::is_same_v<T, Bf16>) {
      result.push_back(to_bf16(v));
    } else {
      result.push_back(v);
    }
  }
  return result;
}

/// The gradient by the kernels, for the rows [first, first + rows) of the batch; T is the type of features and weights.
template <class T>
std::vector<float> gradient_of(const std::vector<float>& values, const std::vector<float>& x, int first, int rows) {
  std::vector<float> gradient(parameters, nan);
  auto features = part<T>(x, first * in, rows * in);
  auto w1 = part<T>(values, weight1, hidden * in);
  auto w2 = part<T>(values, weight2, classes * hidden);
  auto b1 = part<float>(values, bias1, hidden);
  auto b2 = part<float>(values, bias2, classes);
  std::vector<std::int32_t> own_labels(labels.begin() + first, labels.begin() + first + rows);
  std::vector<float> epsilon = {smoothing};
  const auto size = static_cast<std::size_t>(rows);
  std::vector<T> h(size * hidden), dh_typed(size * hidden), dlogits(size * classes);
  std::vector<float> z(size * hidden), logits(size * classes), dh(size * hidden), loss(size);
  std::vector<std::int32_t> rank(size);
  const auto g = [&](int at, const Shape& shape) -> Operand {
    return {reinterpret_cast<std::byte*>(gradient.data() + at), shape, DType::fp32};
  };
  const Shape xs{rows, 1, 1, in}, hs{rows, 1, 1, hidden}, zs{rows, 1, 1, classes}, ones{rows, 1, 1, 1};
  const Shape w1s{hidden, 1, 1, in}, w2s{classes, 1, 1, hidden}, b1s{1, 1, 1, hidden}, b2s{1, 1, 1, classes};
  constexpr OpAttributes relu{.activation = Activation::relu};
  const Operation operations[] = {
      {OpKind::fc_forward,
       relu,
       {operand(features, xs), operand(w1, w1s), operand(b1, b1s)},
       {operand(h, hs), operand(z, hs)}},
      {OpKind::fc_forward, {}, {operand(h, hs), operand(w2, w2s), operand(b2, b2s)}, {operand(logits, zs)}},
      {OpKind::softmax_ce,
       {.total_rows = batch},
       {operand(logits, zs), operand(own_labels, ones), operand(epsilon, {})},
       {operand(dlogits, zs), operand(loss, ones), operand(rank, ones)}},
      {OpKind::fc_backward_bias, {}, {operand(dlogits, zs)}, {Operand{}, g(bias2, b2s)}},
      {OpKind::fc_backward_weight, {}, {operand(h, hs), operand(dlogits, zs)}, {g(weight2, w2s)}},
      {OpKind::fc_backward_data, {}, {operand(dlogits, zs), operand(w2, w2s)}, {operand(dh, hs)}},
      {OpKind::fc_backward_bias, relu, {operand(dh, hs), operand(h, hs)}, {operand(dh_typed, hs), g(bias1, b1s)}},
      {OpKind::fc_backward_weight, {}, {operand(features, xs), operand(dh_typed, hs)}, {g(weight1, w1s)}},
  };
  Scratch scratch;
  std::vector<Kernel> kernels;
  for (const Operation& operation : operations) kernels.push_back(make_kernel(operation, scratch));
  scratch.allocate();
  for (const Kernel& kernel : kernels) kernel();
  return gradient;
}

double largest(const std::vector<double>& values) {
  double result = 0.0;
  for (double v : values) result = std::max(result, std::abs(v));
  return result;
}

}  // namespace

TEST_CASE("the gradient of two layers and the loss is that of the definitions") {
  set_threads(1);
  const auto values = random_values(parameters, 1, 0.5F);
  const auto x = random_values(batch * in, 2);
  const auto expected = central_differences(values, x);
  CHECK(distance(gradient_of<float>(values, x, 0, batch), expected, 1e-5 * largest(expected)) < 1.0);
  if (detect().avx512) {
    CHECK(distance(gradient_of<Bf16>(values, x, 0, batch), expected, 2e-2 * largest(expected)) < 1.0);
  }
}

TEST_CASE("gradients of any split of the batch, an empty part included, sum to that of the whole") {
  set_threads(1);
  const auto values = random_values(parameters, 1, 0.5F);
  const auto x = random_values(batch * in, 2);
  const auto whole = gradient_of<float>(values, x, 0, batch);
  const std::vector<double> expected(whole.begin(), whole.end());
  for (int first = 0; first <= batch; ++first) {
    auto sum = gradient_of<float>(values, x, 0, first);
    const auto rest = gradient_of<float>(values, x, first, batch - first);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += rest[i];
    CHECK(distance(sum, expected, 1e-6 * largest(expected)) < 1.0);
  }
}

}  // namespace tr::cpu
