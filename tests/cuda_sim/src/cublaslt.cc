#include "tests/cuda_sim/src/cublaslt.h"

#include <algorithm>
#include <cstring>

#include "tests/cuda_sim/src/matmul.h"

using namespace cuda_sim;

namespace {

constexpr std::size_t workspace_bytes = std::size_t{64} << 10;  // what the one algorithm likes to have

bool valid(const MatrixLayout& layout) {
  if (element_bytes(layout.type) == 0 || layout.rows == 0 || layout.cols == 0) return false;
  if (layout.order != CUBLASLT_ORDER_COL && layout.order != CUBLASLT_ORDER_ROW) return false;
  return layout.ld >= static_cast<std::int64_t>(layout.run());
}

bool known(std::uint32_t epilogue) {
  switch (epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_BGRADA:
    case CUBLASLT_EPILOGUE_BGRADB: return true;
    default: return false;
  }
}

/// The product that the descriptors name, without data; or why there is none.
cublasStatus_t describe(cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                        cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, Matmul& matmul) {
  if (operation == nullptr || a == nullptr || b == nullptr || c == nullptr || d == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Description what = inside<Description>(*operation);
  matmul = {.a = inside<MatrixLayout>(*a),
            .b = inside<MatrixLayout>(*b),
            .c = inside<MatrixLayout>(*c),
            .d = inside<MatrixLayout>(*d),
            .transpose_a = what.transpose_a != CUBLAS_OP_N,
            .transpose_b = what.transpose_b != CUBLAS_OP_N,
            .epilogue = what.epilogue,
            .bias = what.bias};
  matmul.bias_type = what.bias_type < 0 ? matmul.d.type : what.bias_type;
  for (const MatrixLayout* layout : {&matmul.a, &matmul.b, &matmul.c, &matmul.d}) {
    if (!valid(*layout)) return CUBLAS_STATUS_INVALID_VALUE;
  }
  const std::uint64_t inner_b = matmul.transpose_b ? matmul.b.cols : matmul.b.rows;
  for (const MatrixLayout* layout : {&matmul.c, &matmul.d}) {
    if (layout->rows != matmul.m() || layout->cols != matmul.n()) return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (inner_b != matmul.k()) return CUBLAS_STATUS_INVALID_VALUE;
  if (what.scale != CUDA_R_32F || matmul.a.type != matmul.b.type || matmul.c.type != matmul.d.type ||
      matmul.c.order != matmul.d.order || !known(what.epilogue) || element_bytes(matmul.bias_type) == 0) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  // 16-bit products may be stored as they are or in float; float ones in float only.
  if (matmul.d.type != matmul.a.type && matmul.d.type != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}

bool aligned(const Algorithm& algorithm, const Matmul& matmul) {
  const void* data[] = {matmul.a_data, matmul.b_data, matmul.c_data, matmul.d_data};
  for (std::size_t i = 0; i < 4; ++i) {
    // More than 16 bytes no access needs.
    const std::uint32_t alignment = std::min(algorithm.alignment[i], std::uint32_t{16});
    if (reinterpret_cast<Address>(data[i]) % alignment != 0) return false;
  }
  return true;
}

cublasStatus_t enqueue(Simulator& sim, const Matmul& matmul, Range workspace, Stream& stream) {
  Operation operation{.name = "cublasLtMatmul", .device = stream.device};
  const auto add = [](std::vector<Range>& to, const std::vector<Range>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  add(operation.reads, ranges(matmul.a, matmul.a_data));
  add(operation.reads, ranges(matmul.b, matmul.b_data));
  if (matmul.beta != 0) add(operation.reads, ranges(matmul.c, matmul.c_data));
  add(operation.writes, ranges(matmul.d, matmul.d_data));
  if (matmul.bias_length() > 0) {
    const Range bias = range_of(matmul.bias, matmul.bias_length() * element_bytes(matmul.bias_type));
    (matmul.writes_bias() ? operation.writes : operation.reads).push_back(bias);
  }
  if (workspace.bytes() > 0) operation.writes.push_back(workspace);
  operation.reads = merged(std::move(operation.reads));
  operation.writes = merged(std::move(operation.writes));
  for (const auto* all : {&operation.reads, &operation.writes}) {
    for (const Range& range : *all) {
      const Allocation* allocation = sim.memory().find(range.begin);
      if (allocation == nullptr || allocation->space != stream.device || !allocation->range.contains(range)) {
        sim.found("cublasLtMatmul on device " + std::to_string(stream.device) + " cannot use " +
                  sim.memory().describe(range));
        return CUBLAS_STATUS_EXECUTION_FAILED;
      }
      operation.allocations.push_back(allocation->id);
    }
  }
  operation.body = [matmul, workspace](KernelAccesses&) {
    // What an algorithm leaves there is its own affair.
    std::memset(reinterpret_cast<void*>(workspace.begin), 0xff, workspace.bytes());  // NOLINT
    run(matmul);
  };
  return sim.enqueue(stream, std::move(operation)) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                  : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

extern "C" {

size_t cublasLtGetVersion(void) { return 130000; }

const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR: return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR: return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR: return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "CUBLAS_STATUS_UNKNOWN";
}

const char* cublasLtGetStatusString(cublasStatus_t status) { return cublasLtGetStatusName(status); }

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc,
                                              cublasLtMatrixLayout_t Adesc, cublasLtMatrixLayout_t Bdesc,
                                              cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
                                              cublasLtMatmulPreference_t preference, int requestedAlgoCount,
                                              cublasLtMatmulHeuristicResult_t heuristicResultsArray[],
                                              int* returnAlgoCount) {
  return cublas_call("cublasLtMatmulAlgoGetHeuristic", [&](Simulator&) {
    *returnAlgoCount = 0;
    if (lightHandle == nullptr || preference == nullptr || requestedAlgoCount < 1) return CUBLAS_STATUS_INVALID_VALUE;
    Matmul matmul;
    const cublasStatus_t status = describe(operationDesc, Adesc, Bdesc, Cdesc, Ddesc, matmul);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    const Preference wish = inside<Preference>(*preference);
    cublasLtMatmulHeuristicResult_t& result = heuristicResultsArray[0];
    result = {};
    result.workspaceSize = std::min<std::uint64_t>(wish.workspace, workspace_bytes);
    Algorithm algorithm{.workspace = result.workspaceSize};
    std::copy(std::begin(wish.alignment), std::end(wish.alignment), algorithm.alignment);
    put(result.algo, algorithm);
    result.wavesCount = 1;
    *returnAlgoCount = 1;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t computeDesc, const void* alpha,
                              const void* A, cublasLtMatrixLayout_t Adesc, const void* B, cublasLtMatrixLayout_t Bdesc,
                              const void* beta, const void* C, cublasLtMatrixLayout_t Cdesc, void* D,
                              cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t* algo, void* workspace,
                              size_t workspaceSizeInBytes, cudaStream_t stream) {
  return cublas_call("cublasLtMatmul", [&](Simulator& sim) {
    Stream* on = sim.stream(stream);
    if (on == nullptr || alpha == nullptr || beta == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    if (lightHandle == nullptr || lightHandle->device != on->device) return CUBLAS_STATUS_INVALID_VALUE;
    Matmul matmul;
    const cublasStatus_t status = describe(computeDesc, Adesc, Bdesc, Cdesc, Ddesc, matmul);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    std::memcpy(&matmul.alpha, alpha, sizeof matmul.alpha);
    std::memcpy(&matmul.beta, beta, sizeof matmul.beta);
    matmul.a_data = A;
    matmul.b_data = B;
    matmul.c_data = C;
    matmul.d_data = D;
    // Without an algorithm the library chooses one for the workspace that it gets.
    Algorithm algorithm{.workspace = std::min<std::uint64_t>(workspaceSizeInBytes, workspace_bytes),
                        .alignment = {1, 1, 1, 1}};
    if (algo != nullptr) algorithm = inside<Algorithm>(*algo);
    if (algorithm.mark != algorithm_mark || algorithm.workspace > workspaceSizeInBytes) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (!aligned(algorithm, matmul)) return CUBLAS_STATUS_NOT_SUPPORTED;
    return enqueue(sim, matmul, range_of(workspace, algorithm.workspace), *on);
  });
}

}  // extern "C"
