#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/adam.h"
#include "kernels/cuda/bias.h"
#include "kernels/cuda/cast.h"
#include "kernels/cuda/metrics.h"
#include "kernels/cuda/norms.h"
#include "kernels/cuda/range.h"
#include "kernels/cuda/relu.h"
#include "kernels/cuda/sgd.h"
#include "kernels/cuda/softmax_ce.h"
#include "tests/kernels/cuda/testing.h"

// What kernels/cuda/README.md says of bytes moved, counted.

namespace {

using namespace tr;
using namespace tr::cuda::testing;
using cuda::FloatType;

constexpr std::int64_t rows = 200;
constexpr std::int64_t columns = 1024;
constexpr std::int64_t count = rows * columns;

double bytes(FloatType type) { return static_cast<double>(cuda::bytes_of(type)); }

/// The bytes that kernels moved since this was last asked, each once a launch.
double moved(const Simulated& simulated) {
  REQUIRE(cudaStreamSynchronize(simulated.stream()) == cudaSuccess);
  double sum = 0.0;
  for (const cuda_sim::KernelCount& kernel : cuda_sim::kernel_counts()) {
    sum += static_cast<double>(kernel.bytes_read + kernel.bytes_written);
  }
  cuda_sim::clear_kernel_counts();
  return sum;
}

void check_ratio(const Simulated& simulated, const std::string& kernel, double fewest, double limit) {
  if (!cuda_sim::instrumented()) return;
  const double ratio = moved(simulated) / fewest;
  INFO(kernel, " moves ", ratio, " times the fewest bytes");
  CHECK(ratio >= 1.0);
  CHECK(ratio <= limit);
}

TEST_CASE("elementwise kernels move what they must and no more") {
  for (const FloatType type : float_types) {
    const Simulated simulated;
    const Floats x(simulated, type, random_floats(count, 1));
    const Floats y(simulated, type, random_floats(count, 2));
    const OnDevice<float> factor(simulated, 2.0F);
    const OnDevice<std::int32_t> flag(simulated, 0);
    const double elements = count * bytes(type);
    cuda::relu_forward({x.values(), y.values(), count}, simulated.stream());
    check_ratio(simulated, "relu_forward", 2 * elements, 1.0);
    cuda::relu_backward({x.values(), y.values(), x.values(), count}, simulated.stream());
    check_ratio(simulated, "relu_backward", 3 * elements, 1.0);
    cast(x.values(), y.values(), count, simulated.stream());
    check_ratio(simulated, "cast", 2 * elements, 1.0);
    scale(x.values(), factor.data(), count, simulated.stream());
    check_ratio(simulated, "scale", 2 * elements, 1.001);
    find_nonfinite(x.values(), count, flag.data(), simulated.stream());
    check_ratio(simulated, "find_nonfinite", elements, 1.0);
  }
}

TEST_CASE("bias kernels move at most a twelfth more than they must, with what they leave for the second sum") {
  for (const FloatType type : float_types) {
    const Simulated simulated;
    const Floats x(simulated, type, random_floats(count, 1));
    const Floats y(simulated, type, random_floats(count, 2));
    const Floats z(simulated, type, random_floats(count, 3));
    const OnDevice<float> bias(simulated, random_floats(columns, 4));
    const OnDevice<float> workspace(simulated, std::vector<float>(count / 32));
    const double elements = count * bytes(type);
    cuda::bias_forward({x.values(), bias.data(), Activation::relu, rows, columns, y.values()}, simulated.stream());
    check_ratio(simulated, "bias_forward", 2 * elements + 4.0 * columns, 1.0);
    cuda::bias_backward({x.values(), y.values(), rows, columns, z.values(), bias.data(), workspace.data()},
                        simulated.stream());
    check_ratio(simulated, "bias_backward", 3 * elements + 4.0 * columns, 1.03);
    cuda::bias_backward({x.values(), {}, rows, columns, {}, bias.data(), workspace.data()}, simulated.stream());
    check_ratio(simulated, "bias_backward without dz", elements + 4.0 * columns, 1.08);
  }
}

TEST_CASE("a row of logits moves once each way, of ten classes as of a thousand") {
  for (const std::int64_t classes : {10, 1000}) {
    for (const FloatType type : float_types) {
      const Simulated simulated;
      const Floats logits(simulated, type, random_floats(static_cast<std::size_t>(rows * classes), 1));
      const OnDevice<std::int32_t> labels(simulated, std::vector<std::int32_t>(rows, 3));
      const OnDevice<std::int32_t> rank(simulated, std::vector<std::int32_t>(rows));
      const OnDevice<float> loss(simulated, std::vector<float>(rows));
      const OnDevice<float> smoothing(simulated, 0.1F);
      const OnDevice<double> result(simulated, std::vector<double>(5));
      const OnDevice<double> accumulated(simulated, std::vector<double>(5));
      cuda::softmax_ce({logits.values(), labels.data(), rows, classes, smoothing.data(), rows, nullptr, logits.values(),
                        loss.data(), rank.data()},
                       simulated.stream());
      const auto n = static_cast<double>(rows);
      check_ratio(simulated, "softmax_ce", 2 * n * static_cast<double>(classes) * bytes(type) + 12 * n, 1.02);
      cuda::accumulate_metrics({loss.data(), rank.data(), rows, result.data(), accumulated.data()}, simulated.stream());
      check_ratio(simulated, "accumulate_metrics", 8 * n + 120, 1.0);
    }
  }
}

TEST_CASE("updates and norms read and write each tensor once") {
  const Simulated simulated;
  const OnDevice<float> weight(simulated, random_floats(count, 1));
  const OnDevice<float> moment1(simulated, std::vector<float>(count, 0.1F));
  const OnDevice<float> moment2(simulated, std::vector<float>(count, 0.1F));
  const OnDevice<float> average(simulated, random_floats(count, 2));
  const OnDevice<float> gradient(simulated, random_floats(count, 3));
  const Floats working(simulated, FloatType::bf16, std::vector<float>(count));
  const OnDevice<float> scalar(simulated, 0.5F);
  const OnDevice<std::int32_t> step(simulated, 2);
  const OnDevice<std::int32_t> flag(simulated, 0);
  cuda::UpdateRange range;
  range.weight = weight.data();
  range.moment1 = moment1.data();
  range.average = average.data();
  range.working = working.values();
  range.gradient = gradient.data();
  range.count = count;
  range.step = step.data();
  range.average_decay = scalar.data();
  range.nonfinite = flag.data();
  cuda::sgd_update({range, {scalar.data(), scalar.data(), scalar.data(), scalar.data()}}, simulated.stream());
  check_ratio(simulated, "sgd_update", 30.0 * count, 1.001);
  range.moment2 = moment2.data();
  cuda::adam_update(
      {range,
       {scalar.data(), scalar.data(), scalar.data(), scalar.data(), scalar.data(), scalar.data(), scalar.data()},
       true},
      simulated.stream());
  check_ratio(simulated, "adam_update", 38.0 * count, 1.001);
}

}  // namespace
