#pragma once

#include <cstdint>

#include "kernels/cpu/values.h"
#include "tr/op/operation.h"

namespace tr::cpu {

/// y[r, c] = activation(z[r, c] + bias[c]), computed in fp32 and rounded once where y is bf16. `bias` may be null, and
/// y may be z. A ReLU keeps NaN.
void add_bias(const float* z, const float* bias, Activation activation, std::int64_t rows, std::int64_t columns,
              Values y);

/// The way back: dz = dy where y > 0 or y is NaN (everywhere if `y` is null), else 0, and db[c] = Σ_r dz[r, c], both in
/// one pass. The sum is taken in fp32, row after row, over values not yet rounded. `dz` and `db` may be null; dz may be
/// dy. No rows give db = 0.
void bias_gradient(ConstValues dy, ConstValues y, std::int64_t rows, std::int64_t columns, Values dz, float* db);

}  // namespace tr::cpu
