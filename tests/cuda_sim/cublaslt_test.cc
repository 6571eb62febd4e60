#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <limits>

#include "tests/cuda_sim/programs.h"

using namespace cuda_sim_test;

namespace {

constexpr int m = 3, n = 5, k = 4;

/// A matrix on the device and what is in it, rounded to its type.
template <class T>
struct Matrix {
  int rows, cols, ld;
  bool row_major;
  std::vector<T> values;
  T* data;
  cublasLtMatrixLayout_t layout = nullptr;

  Matrix(cudaDataType type, int row_count, int col_count, bool by_rows, int gap, float first)
      : rows(row_count), cols(col_count), ld((by_rows ? col_count : row_count) + gap), row_major(by_rows) {
    values.resize(static_cast<std::size_t>(ld) * static_cast<std::size_t>(by_rows ? row_count : col_count), T(-100.0F));
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) values[index(row, col)] = T(std::sin(first += 1.0F));
    }
    data = device_array(values);
    const std::int32_t order = by_rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    REQUIRE(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(rows),
                                       static_cast<std::uint64_t>(cols), ld) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order) ==
            CUBLAS_STATUS_SUCCESS);
  }
  ~Matrix() { cublasLtMatrixLayoutDestroy(layout); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  std::size_t index(int row, int col) const {
    return static_cast<std::size_t>(row_major ? row : col) * static_cast<std::size_t>(ld) +
           static_cast<std::size_t>(row_major ? col : row);
  }
  /// Of the matrix, or of its transpose.
  float value(int i, int j, bool transpose) const {
    return static_cast<float>(transpose ? values[index(j, i)] : values[index(i, j)]);
  }
};

struct Product {
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulHeuristicResult_t result = {};
  std::uint64_t workspace_bytes = 1000;

  Product() {
    REQUIRE(cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasLtMatmulPreferenceCreate(&preference) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                                 sizeof workspace_bytes) == CUBLAS_STATUS_SUCCESS);
  }
  ~Product() {
    cublasLtMatmulPreferenceDestroy(preference);
    cublasLtMatmulDescDestroy(operation);
    cublasLtDestroy(handle);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) const {
    REQUIRE(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value) == CUBLAS_STATUS_SUCCESS);
  }

  template <class A, class D>
  cublasStatus_t run(const Matrix<A>& a, const Matrix<A>& b, const Matrix<D>& d, float alpha, float beta,
                     cudaStream_t stream = nullptr) {
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle, operation, a.layout, b.layout, d.layout,
                                                                 d.layout, preference, 1, &result, &count);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    REQUIRE(count == 1);
    REQUIRE(result.workspaceSize <= workspace_bytes);
    char* workspace = device_array<char>(workspace_bytes);
    return cublasLtMatmul(handle, operation, &alpha, a.data, a.layout, b.data, b.layout, &beta, d.data, d.layout,
                          d.data, d.layout, &result.algo, workspace, workspace_bytes, stream);
  }
};

/// All transposes and orders; D starts as C.
template <class A, class D>
void check_products(cudaDataType a_type, cudaDataType d_type, float tolerance) {
  for (int variant = 0; variant < 32; ++variant) {
    CAPTURE(variant);
    cuda_sim::reset();
    Product product;
    const bool ta = (variant & 1) != 0, tb = (variant & 2) != 0;
    product.set(CUBLASLT_MATMUL_DESC_TRANSA, ta ? CUBLAS_OP_T : CUBLAS_OP_N);
    product.set(CUBLASLT_MATMUL_DESC_TRANSB, tb ? CUBLAS_OP_T : CUBLAS_OP_N);
    const Matrix<A> a(a_type, ta ? k : m, ta ? m : k, (variant & 4) != 0, 2, 0);
    const Matrix<A> b(a_type, tb ? n : k, tb ? k : n, (variant & 8) != 0, 1, 50);
    const Matrix<D> d(d_type, m, n, (variant & 16) != 0, 3, 90);
    REQUIRE(product.run(a, b, d, 2.0F, 0.5F) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<D> result = on_host(d.data, d.values.size());
    for (int row = 0; row < m; ++row) {
      for (int col = 0; col < n; ++col) {
        double expected = 0.5 * d.value(row, col, false);
        for (int i = 0; i < k; ++i) expected += 2.0 * a.value(row, i, ta) * b.value(i, col, tb);
        CHECK(std::abs(static_cast<float>(result[d.index(row, col)]) - expected) <= tolerance);
      }
    }
    CHECK(static_cast<float>(result[d.index(m - 1, n - 1) + 1]) == -100.0F);
    CHECK(all_findings() == "");
  }
}

}  // namespace

TEST_CASE("products of every order and transpose equal the sums they stand for") {
  check_products<float, float>(CUDA_R_32F, CUDA_R_32F, 1e-5F);
  check_products<__nv_bfloat16, __nv_bfloat16>(CUDA_R_16BF, CUDA_R_16BF, 0.03F);
  check_products<__nv_bfloat16, float>(CUDA_R_16BF, CUDA_R_32F, 1e-5F);
  check_products<__half, __half>(CUDA_R_16F, CUDA_R_16F, 0.004F);
  check_products<__half, float>(CUDA_R_16F, CUDA_R_32F, 1e-5F);
}

TEST_CASE("a bias is added to each row, and the rectifier turns NaN into zero") {
  cuda_sim::reset();
  Product product;
  const Matrix<float> a(CUDA_R_32F, m, k, false, 0, 0), b(CUDA_R_32F, k, n, false, 0, 50),
      d(CUDA_R_32F, m, n, false, 0, 0);
  const float* bias = device_array(std::vector<float>{1.0F, -100.0F, std::numeric_limits<float>::quiet_NaN()});
  product.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  product.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  REQUIRE(product.run(a, b, d, 0.0F, 0.0F) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(on_host(d.data, 15)[3 * 4] == 1.0F);
  CHECK(on_host(d.data, 15)[3 * 4 + 1] == -100.0F);
  CHECK(std::isnan(on_host(d.data, 15)[3 * 4 + 2]));
  product.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_BIAS);
  REQUIRE(product.run(a, b, d, 0.0F, 0.0F) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(on_host(d.data, 3) == std::vector<float>{1.0F, 0.0F, 0.0F});
}

TEST_CASE("gradients of a bias are sums over k, in the bias's type") {
  for (const bool of_a : {true, false}) {
    cuda_sim::reset();
    Product product;
    const Matrix<float> a(CUDA_R_32F, m, k, false, 0, 0), b(CUDA_R_32F, k, n, false, 0, 50),
        d(CUDA_R_32F, m, n, false, 0, 0);
    float* gradient = device_array<float>(n);
    product.set(CUBLASLT_MATMUL_DESC_EPILOGUE, of_a ? CUBLASLT_EPILOGUE_BGRADA : CUBLASLT_EPILOGUE_BGRADB);
    product.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, gradient);
    product.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_32F);
    REQUIRE(product.run(a, b, d, 1.0F, 0.0F) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    float expected = 0;
    for (int i = 0; i < k; ++i) expected += of_a ? a.value(2, i, false) : b.value(i, 2, false);
    CHECK(on_host(gradient, 3)[2] == expected);
    CHECK(std::isnan(on_host(gradient, n)[n - 1]) == of_a);
  }
}

TEST_CASE("descriptors that do not fit together are refused") {
  cuda_sim::reset();
  Product product;
  const Matrix<float> a(CUDA_R_32F, m, k, false, 0, 0), b(CUDA_R_32F, k, n, false, 0, 50),
      d(CUDA_R_32F, m, n, false, 0, 0);
  CHECK(product.run(b, a, d, 1.0F, 0.0F) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(product.run(a, b, a, 1.0F, 0.0F) == CUBLAS_STATUS_INVALID_VALUE);
  const std::int64_t short_ld = m - 1;
  REQUIRE(cublasLtMatrixLayoutSetAttribute(a.layout, CUBLASLT_MATRIX_LAYOUT_LD, &short_ld, sizeof short_ld) ==
          CUBLAS_STATUS_SUCCESS);
  CHECK(product.run(a, b, d, 1.0F, 0.0F) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasLtMatrixLayoutSetAttribute(a.layout, CUBLASLT_MATRIX_LAYOUT_LD, &short_ld, 4) ==
        CUBLAS_STATUS_INVALID_VALUE);
}

TEST_CASE("what is too small, misplaced or misaligned is refused") {
  cuda_sim::reset();
  Product product;
  const Matrix<float> a(CUDA_R_32F, m, k, false, 0, 0), b(CUDA_R_32F, k, n, false, 0, 50),
      d(CUDA_R_32F, m, n, false, 0, 0);
  REQUIRE(product.run(a, b, d, 1.0F, 0.0F) == CUBLAS_STATUS_SUCCESS);
  const float one = 1, zero = 0;
  const auto multiply = [&](const float* from, void* workspace, std::size_t bytes) {
    return cublasLtMatmul(product.handle, product.operation, &one, from, a.layout, b.data, b.layout, &zero, d.data,
                          d.layout, d.data, d.layout, &product.result.algo, workspace, bytes, nullptr);
  };
  void* workspace = device_array<char>(1000);
  CHECK(multiply(a.data, workspace, 999) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(multiply(a.data + 1, workspace, 1000) == CUBLAS_STATUS_NOT_SUPPORTED);
  CHECK(multiply(a.data + 4, workspace, 1000) == CUBLAS_STATUS_EXECUTION_FAILED);
  CHECK(found("cublasLtMatmul on device 0 cannot use") == 1);
  CHECK(multiply(a.data, workspace, 1000) == CUBLAS_STATUS_SUCCESS);
}

TEST_CASE("two products that share a workspace need an order") {
  for (const bool ordered : {false, true}) {
    cuda_sim::reset();
    Product product;
    const Matrix<float> a(CUDA_R_32F, m, k, false, 0, 0), b(CUDA_R_32F, k, n, false, 0, 50);
    const Matrix<float> d(CUDA_R_32F, m, n, false, 0, 0), e(CUDA_R_32F, m, n, false, 0, 0);
    REQUIRE(product.run(a, b, d, 1.0F, 0.0F) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    void* workspace = device_array<char>(1000);
    const float one = 1, zero = 0;
    const cudaStream_t first = make_stream(), second = make_stream();
    for (const Matrix<float>* to : {&d, &e}) {
      if (ordered && to == &e) join(first, second);
      REQUIRE(cublasLtMatmul(product.handle, product.operation, &one, a.data, a.layout, b.data, b.layout, &zero,
                             to->data, to->layout, to->data, to->layout, &product.result.algo, workspace, 1000,
                             to == &d ? first : second) == CUBLAS_STATUS_SUCCESS);
    }
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(found("not ordered: 'cublasLtMatmul on device 0' writes") == (ordered ? 0 : 1));
    CHECK(cuda_sim::redundant_waits().empty());
  }
}

TEST_CASE("descriptors are counted") {
  cuda_sim::reset();
  {
    const Product product;
    CHECK(cuda_sim::live_handles() == 3);
  }
  CHECK(cuda_sim::live_handles() == 0);
}
