#pragma once

#include <initializer_list>
#include <string_view>

#include "kernels/cpu/kernel.h"
#include "kernels/cpu/values.h"

namespace tr::cpu {

/// Throws DeviceError, naming the operation and the operand, unless the operand is there in one of these types.
void require(const Operation& operation, const Operand& operand, std::string_view name,
             std::initializer_list<DType> types);

/// As require(), but the operand may be absent.
void allow(const Operation& operation, const Operand& operand, std::string_view name,
           std::initializer_list<DType> types);

/// Throws ShapeError, naming the operation, the operand and both sizes, unless an operand that is there has `rows` rows
/// of `columns` elements.
void require_shape(const Operation& operation, const Operand& operand, std::string_view name, std::int64_t rows,
                   std::int64_t columns);

inline ConstValues const_values(const Operand& operand) { return {operand.data, operand.dtype}; }
inline Values values(const Operand& operand) { return {operand.data, operand.dtype}; }

}  // namespace tr::cpu
