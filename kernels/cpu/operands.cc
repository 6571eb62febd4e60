#include "kernels/cpu/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "tr/base/error.h"

namespace tr::cpu {
namespace {

std::string names_of(std::initializer_list<DType> types) {
  std::string names;
  for (DType type : types) names += fmt::format("{}{}", names.empty() ? "" : " or ", name_of(type));
  return names;
}

}  // namespace

void allow(const Operation& operation, const Operand& operand, std::string_view name,
           std::initializer_list<DType> types) {
  if (!operand || std::find(types.begin(), types.end(), operand.dtype) != types.end()) return;
  throw DeviceError(fmt::format("the CPU has no kernel for {} with {} in {}; it takes {}", name_of(operation.kind),
                                name, name_of(operand.dtype), names_of(types)));
}

void require(const Operation& operation, const Operand& operand, std::string_view name,
             std::initializer_list<DType> types) {
  if (!operand) {
    throw DeviceError(fmt::format("the CPU has no kernel for {} without {}; give one in {}", name_of(operation.kind),
                                  name, names_of(types)));
  }
  allow(operation, operand, name, types);
}

void require_shape(const Operation& operation, const Operand& operand, std::string_view name, std::int64_t rows,
                   std::int64_t columns) {
  const Shape& shape = operand.shape;
  if (!operand || (shape.n == rows && shape.sample_size() == columns)) return;
  throw ShapeError(fmt::format("{} of {} has {} rows of {} elements, it must have {} rows of {}", name,
                               name_of(operation.kind), shape.n, shape.sample_size(), rows, columns));
}

}  // namespace tr::cpu
