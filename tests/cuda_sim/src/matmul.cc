#include "tests/cuda_sim/src/matmul.h"

#include <algorithm>

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace cuda_sim {
namespace {

float load(std::int32_t type, const void* data, std::uint64_t at) {
  switch (type) {
    case CUDA_R_16F: return static_cast<const __half*>(data)[at];
    case CUDA_R_16BF: return static_cast<const __nv_bfloat16*>(data)[at];
    default: return static_cast<const float*>(data)[at];
  }
}

void store(std::int32_t type, void* data, std::uint64_t at, float value) {
  switch (type) {
    case CUDA_R_16F: static_cast<__half*>(data)[at] = value; break;
    case CUDA_R_16BF: static_cast<__nv_bfloat16*>(data)[at] = value; break;
    default: static_cast<float*>(data)[at] = value;
  }
}

std::uint64_t index(const MatrixLayout& layout, std::uint64_t row, std::uint64_t col) {
  const auto ld = static_cast<std::uint64_t>(layout.ld);
  return layout.row_major() ? row * ld + col : col * ld + row;
}

/// The matrix, or its transpose, row after row in float.
std::vector<float> unpack(const MatrixLayout& layout, const void* data, bool transpose) {
  std::vector<float> result(layout.rows * layout.cols);
  for (std::uint64_t row = 0; row < layout.rows; ++row) {
    for (std::uint64_t col = 0; col < layout.cols; ++col) {
      const std::uint64_t to = transpose ? col * layout.rows + row : row * layout.cols + col;
      result[to] = load(layout.type, data, index(layout, row, col));
    }
  }
  return result;
}

/// A row of the product. Each element is one sum in the order of k; the compiler runs several of them side by side.
void multiply_row(const float* a, const float* b, float* sums, std::uint64_t n, std::uint64_t k) {
  std::fill_n(sums, n, 0.0F);
  for (std::uint64_t i = 0; i < k; ++i) {
    const float factor = a[i];
    const float* row = b + i * n;
    for (std::uint64_t col = 0; col < n; ++col) sums[col] += factor * row[col];
  }
}

/// The library's maximum has 0 for a NaN.
float relu(float x) { return x > 0 ? x : 0.0F; }

/// The gradient sums over k: of the columns of op(A), or of the rows of op(B).
void bias_gradient(const Matmul& matmul, const std::vector<float>& a, const std::vector<float>& b) {
  const std::uint64_t n = matmul.n(), k = matmul.k();
  const bool of_a = matmul.epilogue == CUBLASLT_EPILOGUE_BGRADA;
  for (std::uint64_t i = 0; i < matmul.bias_length(); ++i) {
    float sum = 0;
    for (std::uint64_t at = 0; at < k; ++at) sum += of_a ? a[i * k + at] : b[at * n + i];
    store(matmul.bias_type, matmul.bias, i, sum);
  }
}

}  // namespace

std::uint64_t Matmul::bias_length() const {
  switch (epilogue) {
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_BGRADA: return m();
    case CUBLASLT_EPILOGUE_BGRADB: return n();
    default: return 0;
  }
}

std::size_t element_bytes(std::int32_t type) {
  switch (type) {
    case CUDA_R_32F: return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    default: return 0;
  }
}

std::vector<Range> ranges(const MatrixLayout& layout, const void* data) {
  const std::size_t element = element_bytes(layout.type);
  std::vector<Range> result;
  for (std::uint64_t i = 0; i < layout.runs(); ++i) {
    const char* begin = static_cast<const char*>(data) + i * static_cast<std::uint64_t>(layout.ld) * element;
    result.push_back(range_of(begin, layout.run() * element));
  }
  return merged(std::move(result));
}

void run(const Matmul& matmul) {
  const std::uint64_t m = matmul.m(), n = matmul.n(), k = matmul.k();
  const std::vector<float> a = unpack(matmul.a, matmul.a_data, matmul.transpose_a);
  const std::vector<float> b = unpack(matmul.b, matmul.b_data, matmul.transpose_b);
  const bool rectifies = (matmul.epilogue & CUBLASLT_EPILOGUE_RELU) != 0;
  const bool biased = (matmul.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
  std::vector<float> sums(n);
  for (std::uint64_t row = 0; row < m; ++row) {
    multiply_row(a.data() + row * k, b.data(), sums.data(), n, k);
    const float bias = biased ? load(matmul.bias_type, matmul.bias, row) : 0.0F;
    for (std::uint64_t col = 0; col < n; ++col) {
      float value = matmul.alpha * sums[col];
      // With beta 0, C is not read: it may be anything.
      if (matmul.beta != 0) value += matmul.beta * load(matmul.c.type, matmul.c_data, index(matmul.c, row, col));
      if (biased) value += bias;
      store(matmul.d.type, matmul.d_data, index(matmul.d, row, col), rectifies ? relu(value) : value);
    }
  }
  if (matmul.writes_bias()) bias_gradient(matmul, a, b);
}

}  // namespace cuda_sim
