#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/cuda/values.h"

namespace tr::cuda {

/// cuBLASLt on the current device of the thread that made it; it must outlive the plans made with it.
class MatmulLibrary {
 public:
  MatmulLibrary();
  ~MatmulLibrary();
  MatmulLibrary(MatmulLibrary&&) noexcept;
  MatmulLibrary& operator=(MatmulLibrary&&) noexcept;

 private:
  friend class FcPlan;
  struct Handle;

  std::unique_ptr<Handle> handle_;
};

enum class FcPass : std::uint8_t {
  /// y [rows, out] = activation(x [rows, in]·weight [out, in]ᵀ + bias [out]).
  forward,
  /// dx [rows, in] = dz [rows, out]·weight [out, in].
  backward_data,
  /// dW [out, in] = dz [rows, out]ᵀ·x [rows, in]; zero without rows.
  backward_weight,
};

/// All matrices are row-major and without gaps, and start at a multiple of 256 bytes.
struct FcSpec {
  FcPass pass = FcPass::forward;
  std::int64_t rows = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  /// The type of both factors.
  FloatType input = FloatType::fp32;
  /// fp32, or the type of the factors. Sums are taken in fp32 and rounded once, after bias and activation.
  FloatType output = FloatType::fp32;
  /// [out] in the output's type, added in the forward pass; null for none.
  const void* bias = nullptr;
  /// A ReLU behind the bias, which is needed then. What becomes of a NaN is the library's choice; where it has to stay
  /// a NaN, bias_forward() applies it.
  bool relu = false;
  /// Whether fp32 factors may be rounded to the 10 bits of TF32.
  bool allow_tf32 = false;
};

/// Those that the pass reads, by the names of FcPass, and what it writes; none of them overlap.
struct FcOperands {
  const void* x = nullptr;
  const void* weight = nullptr;
  const void* dz = nullptr;
  void* result = nullptr;
};

/// A matrix product with the algorithm for its size, chosen once. A graph may capture it.
class FcPlan {
 public:
  /// `operation` is what errors call it. Throws DeviceError if the library has no algorithm for it that needs at most
  /// `workspace_limit` bytes, and ValueError if the types or the activation are not as FcSpec demands.
  FcPlan(const MatmulLibrary& library, const FcSpec& spec, std::int64_t workspace_limit, std::string operation);
  ~FcPlan();
  FcPlan(FcPlan&&) noexcept;
  FcPlan& operator=(FcPlan&&) noexcept;

  std::int64_t workspace_bytes() const;
  /// `workspace` has workspace_bytes() bytes and starts at a multiple of 256 bytes; plans that run one after another
  /// may share it. Throws DeviceError if the library refuses, ValueError if an operand is missing or lies wrong.
  void run(const FcOperands& operands, void* workspace, cudaStream_t stream) const;

 private:
  struct Prepared;

  std::unique_ptr<Prepared> prepared_;
};

}  // namespace tr::cuda
