#pragma once

#include <cstdint>

#include "kernels/cpu/kernel.h"
#include "kernels/cpu/values.h"

namespace tr::cpu {

/// y[i] = max(0, x[i]); NaN stays NaN. y may be x.
void relu_forward(ConstValues x, Values y, std::int64_t count);

/// dx[i] = dy[i] where y[i] > 0 or y[i] is NaN, else 0. dx may be dy.
void relu_backward(ConstValues dy, ConstValues y, Values dx, std::int64_t count);

/// in {x}, out {y}: one shape, each fp32 or bf16.
Kernel make_relu_forward(const Operation& operation, Scratch& scratch);

/// in {dy, y}, out {dx}: one shape, each fp32 or bf16.
Kernel make_relu_backward(const Operation& operation, Scratch& scratch);

}  // namespace tr::cpu
