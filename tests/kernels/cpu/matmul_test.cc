#include "kernels/cpu/matmul.h"

#include <doctest/doctest.h>

#include <string>

#include "kernels/cpu/cpu_features.h"
#include "kernels/cpu/threads.h"
#include "tests/kernels/cpu/testing.h"
#include "tr/base/aligned.h"

namespace tr::cpu {

using testing::distance;
using testing::nan;
using testing::random_values;
using testing::rounded;
using testing::widened;

namespace {

std::vector<double> reference(const MatmulSpec& s, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<double> c(static_cast<std::size_t>(s.m * s.n), 0.0);
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      for (std::int64_t p = 0; p < s.k; ++p) {
        const std::int64_t at_a = s.transpose_a ? p * s.m + i : i * s.k + p;
        const std::int64_t at_b = s.transpose_b ? j * s.k + p : p * s.n + j;
        c[static_cast<std::size_t>(i * s.n + j)] += static_cast<double>(a[static_cast<std::size_t>(at_a)]) *
                                                    static_cast<double>(b[static_cast<std::size_t>(at_b)]);
      }
    }
  }
  return c;
}

std::vector<float> product(const MatmulSpec& spec, const std::vector<float>& a, const std::vector<float>& b) {
  const Matmul matmul(spec);
  const AlignedBuffer scratch(matmul.scratch_bytes());
  const std::vector<Bf16> a_half = rounded(a);
  const std::vector<Bf16> b_half = rounded(b);
  const bool narrow = spec.input == DType::bf16;
  const void* from_a = narrow ? static_cast<const void*>(a_half.data()) : a.data();
  const void* from_b = narrow ? static_cast<const void*>(b_half.data()) : b.data();
  std::vector<float> c(static_cast<std::size_t>(spec.m * spec.n), nan);
  std::vector<Bf16> c_half(c.size());
  matmul.run(from_a, from_b, spec.output == DType::bf16 ? static_cast<void*>(c_half.data()) : c.data(), scratch.data());
  return spec.output == DType::bf16 ? widened(c_half) : c;
}

bool has_bf16() { return detect().avx512; }

}  // namespace

TEST_CASE("the product matches a double reference for every transposition, type and small size") {
  set_threads(1);
  for (unsigned variant = 0; variant < 16; ++variant) {
    const DType input = (variant & 4U) != 0 ? DType::bf16 : DType::fp32;
    const DType output = (variant & 8U) != 0 ? DType::bf16 : DType::fp32;
    if ((input == DType::bf16 && !has_bf16()) || (output == DType::bf16 && input == DType::fp32)) continue;
    const std::int64_t sizes[] = {1, 2, 7, 16, 33};
    for (std::int64_t m : sizes) {
      for (std::int64_t n : sizes) {
        for (std::int64_t k : {1, 10, 67}) {
          const MatmulSpec spec{.m = m,
                                .n = n,
                                .k = k,
                                .transpose_a = (variant & 1U) != 0,
                                .transpose_b = (variant & 2U) != 0,
                                .input = input,
                                .output = output};
          CAPTURE(variant);
          CAPTURE(m);
          CAPTURE(n);
          CAPTURE(k);
          const auto a = random_values(m * k, 1);
          const auto b = random_values(k * n, 2);
          const double tolerance = output == DType::bf16 ? 0.2 : 1e-4;
          CHECK(distance(product(spec, a, b), reference(spec, a, b), tolerance) < 1.0);
        }
      }
    }
  }
}

TEST_CASE("a product over nothing is zero, and one without rows touches nothing") {
  CHECK(product({.m = 2, .n = 3, .k = 0}, {}, {}) == std::vector<float>(6, 0.0F));
  CHECK(product({.m = 2, .n = 3, .k = 0, .output = DType::bf16}, {}, {}) == std::vector<float>(6, 0.0F));
  const Matmul empty({.m = 0, .n = 3, .k = 4});
  CHECK(empty.scratch_bytes() == 0);
  CHECK(empty.implementation().empty());
  float guard = 7.0F;
  empty.run(nullptr, nullptr, &guard, nullptr);
  CHECK(guard == 7.0F);
}

TEST_CASE("a NaN in either factor reaches the product") {
  for (bool transpose : {false, true}) {
    const MatmulSpec spec{.m = 5, .n = 19, .k = 37, .transpose_a = transpose, .transpose_b = !transpose};
    auto a = random_values(5 * 37, 1);
    auto b = random_values(37 * 19, 2);
    a[40] = nan;
    b[40] = nan;
    CHECK(distance(product(spec, a, b), reference(spec, a, b), 1e-4) < 1.0);
  }
}

TEST_CASE("a moved product still works") {
  Matmul first({.m = 1, .n = 1, .k = 2});
  Matmul second = std::move(first);
  const AlignedBuffer scratch(second.scratch_bytes());
  const float a[] = {2.0F, 3.0F};
  const float b[] = {5.0F, 7.0F};
  float c = 0.0F;
  second.run(a, b, &c, scratch.data());
  CHECK(c == 31.0F);
}

TEST_CASE("no product of the MNIST networks binds to a reference implementation") {
  set_threads(1);
  const std::int64_t widths[] = {784, 1024, 512, 256, 10};
  for (DType input : {DType::fp32, DType::bf16}) {
    if (input == DType::bf16 && !has_bf16()) continue;
    for (std::int64_t rows : {1, 2, 3, 16, 66, 67, 100, 200}) {
      for (std::size_t layer = 0; layer + 1 < 5; ++layer) {
        const std::int64_t in = widths[layer];
        const std::int64_t out = widths[layer + 1];
        const MatmulSpec passes[] = {
            {.m = rows, .n = out, .k = in, .transpose_b = true, .input = input},
            {.m = out, .n = in, .k = rows, .transpose_a = true, .input = input},
            {.m = rows, .n = in, .k = out, .input = input},
        };
        for (const MatmulSpec& pass : passes) {
          const Matmul matmul(pass);
          CAPTURE(rows);
          CAPTURE(layer);
          CAPTURE(pass.transpose_a);
          CAPTURE(pass.transpose_b);
          CAPTURE(std::string(matmul.implementation()));
          CHECK(matmul.implementation().find("ref") == std::string_view::npos);
        }
      }
    }
  }
}

}  // namespace tr::cpu
