#include "tr/tensor/tensor.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "tr/base/error.h"

namespace tr {

TEST_CASE("a tensor holds what it was given, aligned") {
  const Tensor tensor = Tensor::of<float>({2, 1, 1, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(tensor.dtype() == DType::fp32);
  CHECK(tensor.values<float>()[5] == 6.0F);
  CHECK(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % alignment == 0);
  CHECK(Tensor::of<std::int32_t>({1, 1, 1, 1}, std::vector<std::int32_t>{7}).dtype() == DType::int32);
}

TEST_CASE("a new tensor is zero") {
  const Tensor tensor({3, 1, 1, 5}, DType::fp64);
  for (double value : tensor.values<double>()) CHECK(value == 0.0);
}

TEST_CASE("a wrong number of values and a wrong type are errors that name both sides") {
  CHECK_THROWS_WITH_AS(Tensor::of<float>({2, 1, 1, 3}, std::vector<float>{1}),
                       "1 values for a tensor of 2x1x1x3, which holds 6", ShapeError);
  const Tensor tensor({1, 1, 1, 2}, DType::bf16);
  CHECK_THROWS_WITH_AS(tensor.values<float>(), "a tensor of bf16 is read as fp32", ValueError);
}

TEST_CASE("a tensor without elements is legal") {
  const Tensor tensor({0, 1, 1, 4}, DType::fp32);
  CHECK(tensor.values<float>().empty());
}

}  // namespace tr
