#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/exec/rig.h"
#include "tests/golden/mlp_step.h"
#include "tr/base/bf16.h"

namespace tr {
namespace {

const std::vector<LayerRecord> layers{flatten(), fc(16), relu(), fc(8), relu(), fc(5)};
const ModelSpec model{layers, {1, 2, 3, 2}, 5};
constexpr int rows = 6;

/// Weights, biases and batch by the formulas of tests/golden/mlp_step.py.
void fill(Rig& rig, int ranks) {
  int number = 0;
  for (const ArchLayer& layer : rig.plan().arch) {
    if (layer.tensors.weight < 0) continue;
    const auto weight = rig.values<float>(layer.tensors.weight);
    const auto bias = rig.values<float>(layer.tensors.bias);
    const int features = layer.site.in.c;
    for (int k = 0; k < layer.site.out.c; ++k) {
      bias[static_cast<std::size_t>(k)] = static_cast<float>(0.1 * std::cos(0.9 * (number + 1) + 0.7 * k));
      for (int c = 0; c < features; ++c) {
        weight[static_cast<std::size_t>(k * features + c)] =
            static_cast<float>(0.5 * std::sin(1.3 * (number + 1) + 0.37 * k + 0.11 * c * (k + 1)));
      }
    }
    ++number;
  }
  rig.weights_changed();
  for (int rank = 0; rank < ranks; ++rank) {
    const Slice slice = slice_of(rows, rank, ranks);
    const int data = rig.plan(rank).fixed.data[0];
    const auto labels = rig.values<std::int32_t>(rig.plan(rank).fixed.labels[0], rank);
    for (int i = 0; i < slice.count; ++i) {
      const int sample = static_cast<int>(slice.first) + i;
      labels[static_cast<std::size_t>(i)] = sample % 5;
      for (int c = 0; c < 12; ++c) {
        const auto x = static_cast<float>(std::sin(0.7 * (12 * sample + c)));
        const auto at = static_cast<std::size_t>(i * 12 + c);
        if (rig.plan().spec.precision == Precision::fp32) {
          rig.values<float>(data, rank)[at] = x;
        } else {
          rig.values<Bf16>(data, rank)[at] = to_bf16(x);
        }
      }
    }
  }
  rig.set(Scalar::learning_rate, 0.5F);
}

void check_close(std::span<const float> got, const std::vector<double>& right, double tolerance = 2e-6) {
  REQUIRE(got.size() == right.size());
  double largest = 0.0;
  double difference = 0.0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    largest = std::max(largest, std::fabs(right[i]));
    difference = std::max(difference, std::fabs(right[i] - got[i]));
  }
  // By default: sums of at most 16 products in fp32.
  CHECK(difference <= tolerance * largest);
}

using Matrix = std::vector<std::vector<double>>;

Matrix rounded(Matrix m) {
  for (auto& row : m) {
    for (double& v : row) v = to_float(to_bf16(static_cast<float>(v)));
  }
  return m;
}

/// The step in double, with every operand of a matrix product rounded to bf16 once and nothing else: what mixed
/// precision is to compute. Gives the weight gradients of the layers.
std::vector<std::vector<double>> mixed_precision_gradients(const Rig& rig) {
  std::vector<Matrix> weights;
  std::vector<std::vector<double>> biases;
  for (const ArchLayer& layer : rig.plan().arch) {
    if (layer.tensors.weight < 0) continue;
    const auto w = rig.values<float>(layer.tensors.weight);
    const auto b = rig.values<float>(layer.tensors.bias);
    const auto features = static_cast<std::size_t>(layer.site.in.c);
    Matrix matrix;
    for (std::size_t k = 0; k < b.size(); ++k) {
      matrix.emplace_back(w.begin() + static_cast<std::ptrdiff_t>(k * features),
                          w.begin() + static_cast<std::ptrdiff_t>((k + 1) * features));
    }
    weights.push_back(rounded(matrix));
    biases.emplace_back(b.begin(), b.end());
  }
  Matrix input(rows, std::vector<double>(12));
  for (int i = 0; i < rows; ++i) {
    for (int c = 0; c < 12; ++c) input[i][c] = std::sin(0.7 * (12 * i + c));
  }
  std::vector<Matrix> activations{rounded(input)};
  for (std::size_t l = 0; l < weights.size(); ++l) {
    Matrix y(rows, biases[l]);
    for (int i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < y[i].size(); ++k) {
        for (std::size_t c = 0; c < weights[l][k].size(); ++c) y[i][k] += activations[l][i][c] * weights[l][k][c];
        if (l + 1 < weights.size()) y[i][k] = std::max(y[i][k], 0.0);
      }
    }
    activations.push_back(l + 1 < weights.size() ? rounded(y) : y);
  }
  Matrix gradient = activations.back();
  for (int i = 0; i < rows; ++i) {
    double sum = 0.0;
    for (double z : activations.back()[i]) sum += std::exp(z);
    for (int k = 0; k < 5; ++k) {
      gradient[i][k] = (std::exp(activations.back()[i][k]) / sum - (k == i % 5 ? 0.9 : 0.0) - 0.02) / rows;
    }
  }
  std::vector<std::vector<double>> result(weights.size());
  for (std::size_t l = weights.size(); l-- > 0;) {
    gradient = rounded(gradient);
    Matrix before(rows, std::vector<double>(weights[l][0].size(), 0.0));
    for (std::size_t k = 0; k < weights[l].size(); ++k) {
      for (std::size_t c = 0; c < weights[l][k].size(); ++c) {
        double dw = 0.0;
        for (int i = 0; i < rows; ++i) {
          dw += gradient[i][k] * activations[l][i][c];
          if (activations[l][i][c] > 0.0) before[i][c] += gradient[i][k] * weights[l][k][c];
        }
        result[l].push_back(dw);
      }
    }
    gradient = before;
  }
  return result;
}

/// Every gradient, summed over the ranks, and every parameter.
std::vector<std::vector<double>> gradients_and_weights(const Rig& rig, int ranks) {
  std::vector<std::vector<double>> all;
  for (const PlanTensor& t : rig.plan().tensors) {
    const bool gradient = t.tensor.region == Region::g_fc_bias || t.tensor.region == Region::g_fc_weight;
    if (!gradient && !is_parameter(t.tensor.region)) continue;
    std::vector<double> sum(static_cast<std::size_t>(t.tensor.shape.size()), 0.0);
    for (int rank = 0; rank < (gradient ? ranks : 1); ++rank) {
      const auto values = rig.values<float>(t.tensor.id, rank);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    }
    all.push_back(sum);
  }
  return all;
}

Rig::Config config(int ranks, bool fuse) {
  return {.ranks = ranks, .rows = rows, .fuse = fuse, .loss = CrossEntropyLoss().label_smoothing(0.1)};
}

}  // namespace

TEST_CASE("the first step's gradients are PyTorch's, fused or not") {
  for (bool fuse : {true, false}) {
    Rig rig(model, config(1, fuse));
    fill(rig, 1);
    REQUIRE(rig.step() == StepStatus::ok);
    std::vector<LayerTensors> with_weights;
    for (const ArchLayer& layer : rig.plan().arch) {
      if (layer.tensors.weight >= 0) with_weights.push_back(layer.tensors);
    }
    REQUIRE(with_weights.size() == 3);
    check_close(rig.values<float>(with_weights[0].weight_gradient), golden::mlp_weight_gradient_0);
    check_close(rig.values<float>(with_weights[1].weight_gradient), golden::mlp_weight_gradient_1);
    check_close(rig.values<float>(with_weights[2].weight_gradient), golden::mlp_weight_gradient_2);
    check_close(rig.values<float>(with_weights[0].bias_gradient), golden::mlp_bias_gradient_0);
    check_close(rig.values<float>(with_weights[1].bias_gradient), golden::mlp_bias_gradient_1);
    check_close(rig.values<float>(with_weights[2].bias_gradient), golden::mlp_bias_gradient_2);
  }
}

TEST_CASE("the losses of eight steps are PyTorch's, on any number of ranks") {
  for (int ranks : {1, 2, 3, 4, 9}) {
    Rig rig(model, config(ranks, true));
    fill(rig, ranks);
    for (double right : golden::mlp_losses) {
      REQUIRE(rig.step() == StepStatus::ok);
      // Eight steps at a rate of 0.5 amplify fp32's rounding.
      CHECK(std::fabs(rig.executor().last_loss_sum() / rows - right) <= 1e-5 * right);
    }
  }
}

TEST_CASE("bf16 rounds each operand of a product once, and nothing else" * doctest::skip(!has_bf16())) {
  Rig::Config bf16 = config(1, true);
  bf16.precision = Precision::bf16;
  bf16.optimizer = SGD().momentum(0.0);
  Rig rig(model, bf16);
  fill(rig, 1);
  const auto right = mixed_precision_gradients(rig);
  rig.set(Scalar::learning_rate, 0.0F);
  REQUIRE(rig.step() == StepStatus::ok);
  std::size_t l = 0;
  for (const ArchLayer& layer : rig.plan().arch) {
    // fp32 sums can round an operand to the other side now and then: one unit in 256 of one term.
    if (layer.tensors.weight >= 0) check_close(rig.values<float>(layer.tensors.weight_gradient), right[l++], 1e-3);
  }
  CHECK(l == 3);
}

TEST_CASE("the example's network on two and three ranks is that of one: gradients, and weights after a step") {
  // A batch of 200 does not divide by 3.
  const std::vector<LayerRecord> mlp{flatten(), fc(1024), relu(), fc(512), relu(), fc(256), relu(), fc(10)};
  std::vector<std::vector<std::vector<double>>> results;
  for (int ranks : {1, 2, 3}) {
    Rig rig({mlp, {1, 28, 28, 1}, 10}, {.ranks = ranks, .rows = 200, .loss = CrossEntropyLoss().label_smoothing(0.1)});
    rig.set(Scalar::learning_rate, 0.1F);
    for (int rank = 0; rank < ranks; ++rank) {
      const Slice slice = slice_of(200, rank, ranks);
      const auto data = rig.values<float>(rig.plan(rank).fixed.data[0], rank);
      const auto labels = rig.values<std::int32_t>(rig.plan(rank).fixed.labels[0], rank);
      for (std::int64_t i = 0; i < slice.count; ++i) {
        labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>((slice.first + i) % 10);
        for (std::int64_t p = 0; p < 784; ++p) {
          data[static_cast<std::size_t>(i * 784 + p)] =
              std::sin(static_cast<float>((slice.first + i) * 31 + p * 7) * 0.05F);
        }
      }
    }
    REQUIRE(rig.step() == StepStatus::ok);
    results.push_back(gradients_and_weights(rig, ranks));
  }
  for (std::size_t r = 1; r < results.size(); ++r) {
    REQUIRE(results[r].size() == results[0].size());
    for (std::size_t t = 0; t < results[0].size(); ++t) {
      double largest = 0.0;
      double difference = 0.0;
      for (std::size_t i = 0; i < results[0][t].size(); ++i) {
        largest = std::max(largest, std::fabs(results[0][t][i]));
        difference = std::max(difference, std::fabs(results[0][t][i] - results[r][t][i]));
      }
      CHECK(largest > 0.0);
      CHECK(difference <= 1e-5 * largest);
    }
  }
}

TEST_CASE("models at the edge of what can be planned train") {
  const std::vector<std::vector<LayerRecord>> models{
      {flatten(), fc(5)},
      {flatten(), fc(5), relu()},
      {flatten(), relu(), fc(5).bias(false)},
      {flatten(), fc(7).bias(false), fc(5)},
      {flatten(), fc(7), relu(), relu(), fc(5).bias(false), relu()},
  };
  for (const auto& candidate : models) {
    for (Precision precision : precisions()) {
      Rig rig({candidate, {1, 2, 3, 2}, 5}, {.ranks = 2, .rows = rows, .precision = precision});
      rig.set(Scalar::learning_rate, 0.05F);
      for (int rank = 0; rank < 2; ++rank) {
        for (std::int32_t& label : rig.values<std::int32_t>(rig.plan(rank).fixed.labels[0], rank)) label = 2;
        const int data = rig.plan(rank).fixed.data[0];
        if (precision == Precision::fp32) {
          for (float& x : rig.values<float>(data, rank)) x = 0.5F;
        } else {
          for (Bf16& x : rig.values<Bf16>(data, rank)) x = to_bf16(0.5F);
        }
      }
      REQUIRE(rig.step() == StepStatus::ok);
      const double first = rig.executor().last_loss_sum();
      for (int i = 0; i < 20; ++i) REQUIRE(rig.step() == StepStatus::ok);
      CHECK(rig.executor().last_loss_sum() < first);
    }
  }
}

}  // namespace tr
