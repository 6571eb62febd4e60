#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "kernels/cuda/cast.h"
#include "kernels/cuda/range.h"
#include "kernels/cuda/relu.h"
#include "tests/kernels/cuda/testing.h"

namespace {

using namespace tr::cuda;
using namespace tr::cuda::testing;

constexpr std::size_t counts[] = {1, 3, 4, 1024, 1027, 2500};

TEST_CASE("a cast rounds to nearest even and keeps NaN, wherever the arrays start") {
  for (const std::size_t count : counts) {
    for (const FloatType from : float_types) {
      for (const FloatType to : float_types) {
        for (const std::size_t offset : {0, 1}) {
          const Simulated simulated;
          const std::vector<float> values = random_floats(count, 1, 300.0F, true);
          const Floats source(simulated, from, values, offset);
          const Floats target(simulated, to, std::vector<float>(count), offset);
          cast(source.values(), target.values(), static_cast<std::int64_t>(count), simulated.stream());
          CHECK(all_same(target.get(), rounded(rounded(values, from), to)));
        }
      }
    }
  }
}

TEST_CASE("a ReLU keeps NaN, and its gradient passes where the output is above 0 or NaN") {
  for (const std::size_t count : counts) {
    for (const FloatType in : float_types) {
      for (const FloatType out : float_types) {
        const Simulated simulated;
        const std::vector<float> x = rounded(random_floats(count, 2, 2.0F, true), in);
        const std::vector<float> dy = rounded(random_floats(count, 3), in);
        const Floats input(simulated, in, x);
        const Floats output(simulated, out, std::vector<float>(count), count % 2);
        const Floats gradient(simulated, in, dy);
        const auto n = static_cast<std::int64_t>(count);
        relu_forward({input.values(), output.values(), n}, simulated.stream());
        relu_backward({gradient.values(), output.values(), gradient.values(), n}, simulated.stream());
        const std::vector<float> y = output.get();
        const std::vector<float> dx = gradient.get();
        for (std::size_t i = 0; i < count; ++i) {
          CHECK(same(y[i], x[i] < 0.0F ? 0.0F : rounded(x[i], out)));
          CHECK(same(dx[i], y[i] <= 0.0F ? 0.0F : dy[i]));
        }
      }
    }
  }
}

TEST_CASE("an array is scaled by a factor from the device") {
  for (const std::size_t count : counts) {
    for (const FloatType type : float_types) {
      const Simulated simulated;
      std::vector<float> values = rounded(random_floats(count, 4), type);
      const Floats array(simulated, type, values, count % 2);
      const OnDevice<float> factor(simulated, 0.25F);
      scale(array.values(), factor.data(), static_cast<std::int64_t>(count), simulated.stream());
      for (float& v : values) v = rounded(v * 0.25F, type);
      CHECK(all_same(array.get(), values));
    }
  }
}

TEST_CASE("one number that is not finite raises the flag, and nothing lowers it") {
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    for (const std::size_t where : {std::size_t{0}, std::size_t{1500}, std::size_t{2499}}) {
      const Simulated simulated;
      std::vector<float> values = random_floats(2500, 5, 1e30F);
      const OnDevice<float> good(simulated, values);
      values[where] = bad;
      const OnDevice<float> array(simulated, values);
      const OnDevice<std::int32_t> flag(simulated, 0);
      find_nonfinite({good.data()}, 2500, flag.data(), simulated.stream());
      CHECK(flag.value() == 0);
      find_nonfinite({array.data()}, 2500, flag.data(), simulated.stream());
      CHECK(flag.value() == 1);
      find_nonfinite({good.data()}, 2500, flag.data(), simulated.stream());
      CHECK(flag.value() == 1);
    }
  }
}

TEST_CASE("a cleared range is zero, and a copy is the same bytes") {
  const Simulated simulated;
  const OnDevice<float> from(simulated, random_floats(100, 6));
  const OnDevice<float> to(simulated, std::vector<float>(100, 1.0F));
  clear(to.data(), 400, simulated.stream());
  CHECK(all_same(to.get(), std::vector<float>(100)));
  copy(from.data(), to.data(), 400, simulated.stream());
  CHECK(all_same(to.get(), random_floats(100, 6)));
}

}  // namespace
