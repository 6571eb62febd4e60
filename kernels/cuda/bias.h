#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/values.h"
#include "tr/op/operation.h"

namespace tr::cuda {

struct BiasForward {
  /// [rows, columns].
  ConstValues z{};
  /// [columns] fp32, or null for none.
  const float* bias = nullptr;
  Activation activation = Activation::none;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  /// [rows, columns]; may be z where the types agree.
  Values y{};
};

/// y[r, c] = activation(z[r, c] + bias[c]), computed in fp32 and rounded once. A ReLU keeps NaN.
void bias_forward(const BiasForward& bias, cudaStream_t stream);

struct BiasBackward {
  /// [rows, columns].
  ConstValues dy{};
  /// [rows, columns], the output of the ReLU; null without one.
  ConstValues y{};
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  /// [rows, columns]; may be dy where the types agree, and absent.
  Values dz{};
  /// [columns] fp32; may be absent.
  float* db = nullptr;
  /// bias_backward_workspace() bytes, aligned to 16; its content is of no use to anybody before or after.
  float* workspace = nullptr;
};

/// The bytes of workspace that bias_backward() needs; 0 without db.
std::int64_t bias_backward_workspace(const BiasBackward& bias);

/// dz = dy where y > 0 or y is NaN (everywhere without y), else 0, and db[c] = Σ_r dz[r, c], in fp32, over values not
/// yet rounded, in an order that depends on rows and columns alone. No rows give db = 0.
void bias_backward(const BiasBackward& bias, cudaStream_t stream);

}  // namespace tr::cuda
