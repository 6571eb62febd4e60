#pragma once

#include "kernels/cpu/kernel.h"

namespace tr::cpu {

/// in {x [B, in], weight [out, in], bias [out] fp32 or absent}, out {y [B, out], z [B, out] fp32}: y =
/// activation(x·weightᵀ + bias). x and weight are both fp32 or both bf16. z is needed where y is bf16: it holds the
/// product until bias and activation are applied in fp32, so that y is rounded once.
Kernel make_fc_forward(const Operation& operation, Scratch& scratch);

/// in {dy [B, out] fp32 or bf16, y [B, out] fp32 or bf16, needed with an activation}, out {dz [B, out] fp32 or bf16, db
/// [out] fp32}; either output may be absent. See bias_gradient().
Kernel make_fc_backward_bias(const Operation& operation, Scratch& scratch);

/// in {x [B, in], dz [B, out]}, both fp32 or both bf16, out {dW [out, in] fp32}: dW = dzᵀ·x, zero without rows.
Kernel make_fc_backward_weight(const Operation& operation, Scratch& scratch);

/// in {dz [B, out], weight [out, in]}, both fp32 or both bf16, out {dx [B, in] fp32}: dx = dz·weight.
Kernel make_fc_backward_data(const Operation& operation, Scratch& scratch);

}  // namespace tr::cpu
