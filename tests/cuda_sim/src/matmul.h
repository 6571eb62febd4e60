#pragma once

#include <cstdint>
#include <vector>

#include "cublasLt.h"
#include "tests/cuda_sim/src/range.h"

namespace cuda_sim {

struct MatrixLayout {
  std::int32_t type;
  std::int32_t order;
  std::uint64_t rows, cols;
  std::int64_t ld;

  bool row_major() const { return order == CUBLASLT_ORDER_ROW; }
  /// Consecutive elements, and how many such runs there are.
  std::uint64_t run() const { return row_major() ? cols : rows; }
  std::uint64_t runs() const { return row_major() ? rows : cols; }
};

/// D = epilogue(alpha · op(A) · op(B) + beta · C).
struct Matmul {
  MatrixLayout a, b, c, d;
  bool transpose_a = false, transpose_b = false;
  float alpha = 1, beta = 0;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  std::int32_t bias_type = CUDA_R_32F;
  const void* a_data = nullptr;
  const void* b_data = nullptr;
  const void* c_data = nullptr;
  void* d_data = nullptr;
  void* bias = nullptr;

  std::uint64_t m() const { return transpose_a ? a.cols : a.rows; }
  std::uint64_t n() const { return transpose_b ? b.rows : b.cols; }
  std::uint64_t k() const { return transpose_a ? a.rows : a.cols; }
  /// Elements of the bias or of its gradient; 0 if the epilogue has none.
  std::uint64_t bias_length() const;
  bool writes_bias() const { return epilogue == CUBLASLT_EPILOGUE_BGRADA || epilogue == CUBLASLT_EPILOGUE_BGRADB; }
};

/// Bytes of an element; 0 for types that the stand-in does not multiply.
std::size_t element_bytes(std::int32_t type);
/// The bytes of a matrix: the gaps that a leading dimension leaves are no part of it.
std::vector<Range> ranges(const MatrixLayout& layout, const void* data);
/// Sums in float, in the order of k.
void run(const Matmul& matmul);

}  // namespace cuda_sim
