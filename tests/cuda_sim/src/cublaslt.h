#pragma once

#include <cstring>
#include <type_traits>

#include "cublasLt.h"
#include "tests/cuda_sim/src/simulator.h"

/// A handle belongs to the device that was current when it was made.
struct cublasLtContext {  // NOLINT(readability-identifier-naming)
  int device;
};

namespace cuda_sim {

inline constexpr std::uint64_t algorithm_mark = 0x616c676f;

/// What stands behind an opaque cublasLtMatmulDesc_t.
struct Description {
  std::int32_t compute = CUBLAS_COMPUTE_32F;
  std::int32_t scale = CUDA_R_32F;
  std::int32_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  std::int32_t bias_type = -1;  // that of D
  void* bias = nullptr;
};

/// What stands behind an opaque cublasLtMatmulPreference_t.
struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t alignment[4] = {256, 256, 256, 256};  // of A, B, C and D
};

/// What stands behind an opaque cublasLtMatmulAlgo_t.
struct Algorithm {
  std::uint64_t mark = algorithm_mark;
  std::uint64_t workspace = 0;
  std::uint32_t alignment[4] = {};
};

/// What an opaque structure of the library holds.
template <class Inside, class Opaque>
Inside inside(const Opaque& opaque) {
  static_assert(sizeof(Inside) <= sizeof(Opaque) && std::is_trivially_copyable_v<Inside>);
  Inside result;
  std::memcpy(&result, opaque.data, sizeof result);
  return result;
}

template <class Inside, class Opaque>
void put(Opaque& opaque, const Inside& value) {
  static_assert(sizeof(Inside) <= sizeof(Opaque) && std::is_trivially_copyable_v<Inside>);
  std::memcpy(opaque.data, &value, sizeof value);
}

/// What each function of the library does: holds the lock, counts, fails if it shall.
template <class Body>
cublasStatus_t cublas_call(const char* function, Body body) {
  const Simulator::Lock lock(simulator_mutex());
  Simulator& sim = simulator();
  const auto status = static_cast<cublasStatus_t>(sim.count_call(function));
  return status == CUBLAS_STATUS_SUCCESS ? body(sim) : status;
}

}  // namespace cuda_sim
