#include "kernels/cuda/fc.h"

#include <cublasLt.h>
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/kernels/cuda/testing.h"
#include "tr/base/error.h"

namespace {

using namespace tr;
using namespace tr::cuda;
using namespace tr::cuda::testing;

constexpr std::int64_t rows = 7;
constexpr std::int64_t in = 12;
constexpr std::int64_t out = 5;
constexpr std::int64_t workspace_limit = 1 << 20;

/// C [m, n] = Σ_k a(i, k)·b(k, j).
template <class A, class B>
std::vector<float> product(std::int64_t m, std::int64_t n, std::int64_t k, A a, B b) {
  std::vector<float> c;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0.0;
      for (std::int64_t l = 0; l < k; ++l) sum += static_cast<double>(a(i, l)) * static_cast<double>(b(l, j));
      c.push_back(static_cast<float>(sum));
    }
  }
  return c;
}

struct Types {
  FloatType input;
  FloatType output;
};
constexpr Types types[] = {{FloatType::fp32, FloatType::fp32},
                           {FloatType::bf16, FloatType::fp32},
                           {FloatType::bf16, FloatType::bf16},
                           {FloatType::fp16, FloatType::fp32},
                           {FloatType::fp16, FloatType::fp16}};

double tolerance_of(FloatType type) { return type == FloatType::fp32 ? 1e-5 : 1e-2; }

std::string message_of(const auto& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("the three passes are the products they say, in every type") {
  for (const Types type : types) {
    const Simulated simulated;
    const MatmulLibrary library;
    const std::vector<float> x = rounded(random_floats(rows * in, 1), type.input);
    const std::vector<float> w = rounded(random_floats(out * in, 2), type.input);
    const std::vector<float> dz = rounded(random_floats(rows * out, 3), type.input);
    const std::vector<float> b = rounded(random_floats(out, 4), type.output);
    const Floats d_x(simulated, type.input, x);
    const Floats d_w(simulated, type.input, w);
    const Floats d_dz(simulated, type.input, dz);
    const Floats d_b(simulated, type.output, b);
    const auto at = [](const std::vector<float>& values, std::int64_t columns, std::int64_t r, std::int64_t c) {
      return values[static_cast<std::size_t>(r * columns + c)];
    };
    const auto run = [&](FcPass pass, const void* bias, bool relu, std::size_t count) {
      const FcPlan plan(library, {pass, rows, in, out, type.input, type.output, bias, relu}, workspace_limit, "a pass");
      const Floats result(simulated, type.output, std::vector<float>(count, 3.0F));
      void* workspace = nullptr;
      check(cudaMalloc(&workspace, static_cast<std::size_t>(plan.workspace_bytes() + 256)), "workspace");
      plan.run({d_x.values().data, d_w.values().data, d_dz.values().data, result.values().data}, workspace,
               simulated.stream());
      return result.get();
    };
    const double tolerance = tolerance_of(type.output);
    std::vector<float> y = product(
        rows, out, in, [&](auto r, auto k) { return at(x, in, r, k); },
        [&](auto k, auto c) { return at(w, in, c, k); });
    CHECK(all_near(run(FcPass::forward, nullptr, false, rows * out), y, tolerance, tolerance));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += b[i % out];
    CHECK(all_near(run(FcPass::forward, d_b.values().data, false, rows * out), y, tolerance, tolerance));
    for (float& v : y) v = v < 0.0F ? 0.0F : v;
    CHECK(all_near(run(FcPass::forward, d_b.values().data, true, rows * out), y, tolerance, tolerance));
    const std::vector<float> dx = product(
        rows, in, out, [&](auto r, auto k) { return at(dz, out, r, k); },
        [&](auto k, auto c) { return at(w, in, k, c); });
    CHECK(all_near(run(FcPass::backward_data, nullptr, false, rows * in), dx, tolerance, tolerance));
    const std::vector<float> dw = product(
        out, in, rows, [&](auto o, auto k) { return at(dz, out, k, o); },
        [&](auto k, auto c) { return at(x, in, k, c); });
    CHECK(all_near(run(FcPass::backward_weight, nullptr, false, out * in), dw, tolerance, tolerance));
  }
}

TEST_CASE("without rows the weight gradient is zero and nothing else happens") {
  const Simulated simulated;
  const MatmulLibrary library;
  const OnDevice<float> weight(simulated, std::vector<float>(out * in, 1.0F));
  const FcPlan backward(library, {FcPass::backward_weight, 0, in, out}, workspace_limit, "backward");
  backward.run({.result = weight.data()}, nullptr, simulated.stream());
  CHECK(all_same(weight.get(), std::vector<float>(out * in)));
  const FcPlan forward(library, {FcPass::forward, 0, in, out}, workspace_limit, "forward");
  CHECK_NOTHROW(forward.run({}, nullptr, simulated.stream()));
}

TEST_CASE("what is wrong with a product is said with the operation's name") {
  const Simulated simulated;
  const MatmulLibrary library;
  const auto plan = [&](const FcSpec& spec) {
    return message_of([&] { const FcPlan p(library, spec, workspace_limit, "layer 3"); });
  };
  CHECK(plan({.rows = 1, .in = 1, .out = 1, .input = FloatType::bf16, .output = FloatType::fp16}) ==
        "layer 3: the output is fp16; legal is fp32 or the input's bf16");
  CHECK(plan({.rows = 1, .in = 1, .out = 1, .relu = true}) == "layer 3: a ReLU in the product needs a bias");
  CHECK(plan({.rows = 1, .in = 0, .out = 1}) ==
        "layer 3: a product of 1 rows, 0 inputs and 1 outputs; legal are rows from 0, the others from 1");
  cuda_sim::fail_call("cublasLtMatmulAlgoGetHeuristic", 1, CUBLAS_STATUS_NOT_SUPPORTED);
  CHECK(plan({.rows = 1, .in = 2, .out = 3}) ==
        "layer 3: cuBLASLt has no algorithm for 1 rows, 2 inputs and 3 outputs, fp32 to fp32, that needs at most "
        "1048576 bytes of workspace");
  const FcPlan good(library, {.rows = 1, .in = 1, .out = 1}, workspace_limit, "layer 3");
  CHECK(message_of([&] { good.run({}, nullptr, simulated.stream()); }) == "layer 3: x is missing");
}

}  // namespace
