#include "tr/base/dtype.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string_view>

#include "tr/base/bf16.h"

namespace tr {
namespace {

static_assert(bytes_of(DType::fp32) == sizeof(float));
static_assert(bytes_of(DType::bf16) == sizeof(Bf16));
static_assert(bytes_of(DType::fp64) == sizeof(double));
static_assert(bytes_of(DType::int32) == sizeof(std::int32_t));
static_assert(bytes_of(DType::uint8) == sizeof(std::uint8_t));

TEST_CASE("every type has a name of its own") {
  std::set<std::string_view> names;
  for (DType type : {DType::fp32, DType::bf16, DType::fp64, DType::int32, DType::uint8}) names.insert(name_of(type));
  CHECK(names == std::set<std::string_view>{"fp32", "bf16", "fp64", "int32", "uint8"});
}

TEST_CASE("a precision is written as the command line takes it") {
  CHECK(name_of(Precision::fp32) == "fp32");
  CHECK(name_of(Precision::bf16) == "bf16");
}

}  // namespace
}  // namespace tr
