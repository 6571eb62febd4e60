#pragma once

#include <cstdint>

#include "kernels/cpu/values.h"

namespace tr::cpu {

/// to[i] = from[i], rounded to nearest even as by to_bf16(), so that a NaN stays a NaN.
void cast_to_bf16(const float* from, Bf16* to, std::int64_t count);

/// Whether none of the numbers is infinite or NaN.
bool all_finite(ConstValues values, std::int64_t count);

}  // namespace tr::cpu
