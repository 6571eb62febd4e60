#include "tests/cuda_sim/src/cublaslt.h"
#include "tests/cuda_sim/src/matmul.h"

using namespace cuda_sim;

namespace {

template <class T>
cublasStatus_t assign(T& to, const void* value, std::size_t bytes) {
  if (value == nullptr || bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

template <class Inside, class Opaque>
cublasStatus_t make(const char* function, Opaque** result, const Inside& value) {
  return cublas_call(function, [&](Simulator& sim) {
    *result = new Opaque{};  // NOLINT(cppcoreguidelines-owning-memory): the destroy function deletes it
    put(**result, value);
    ++sim.descriptors();
    return CUBLAS_STATUS_SUCCESS;
  });
}

template <class Opaque>
cublasStatus_t destroy(const char* function, Opaque* object) {
  return cublas_call(function, [&](Simulator& sim) {
    if (object == nullptr) return CUBLAS_STATUS_SUCCESS;
    delete object;
    --sim.descriptors();
    return CUBLAS_STATUS_SUCCESS;
  });
}

/// Changes one attribute of what the opaque structure holds.
template <class Inside, class Opaque, class Change>
cublasStatus_t set(Opaque* object, Change change) {
  if (object == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  Inside value = inside<Inside>(*object);
  const cublasStatus_t status = change(value);
  if (status == CUBLAS_STATUS_SUCCESS) put(*object, value);
  return status;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* lightHandle) {
  return cublas_call("cublasLtCreate", [&](Simulator& sim) {
    *lightHandle = new cublasLtContext{sim.thread().device};  // NOLINT(cppcoreguidelines-owning-memory): as above
    ++sim.descriptors();
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t lightHandle) { return destroy("cublasLtDestroy", lightHandle); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* matmulDesc, cublasComputeType_t computeType,
                                        cudaDataType_t scaleType) {
  return make("cublasLtMatmulDescCreate", matmulDesc, Description{.compute = computeType, .scale = scaleType});
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t matmulDesc) {
  return destroy("cublasLtMatmulDescDestroy", matmulDesc);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t matmulDesc, cublasLtMatmulDescAttributes_t attr,
                                              const void* buf, size_t sizeInBytes) {
  return cublas_call("cublasLtMatmulDescSetAttribute", [&](Simulator&) {
    return set<Description>(matmulDesc, [&](Description& to) {
      switch (attr) {
        case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: return assign(to.compute, buf, sizeInBytes);
        case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return assign(to.scale, buf, sizeInBytes);
        case CUBLASLT_MATMUL_DESC_TRANSA: return assign(to.transpose_a, buf, sizeInBytes);
        case CUBLASLT_MATMUL_DESC_TRANSB: return assign(to.transpose_b, buf, sizeInBytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE: return assign(to.epilogue, buf, sizeInBytes);
        case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return assign(to.bias, buf, sizeInBytes);
        case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return assign(to.bias_type, buf, sizeInBytes);
        case CUBLASLT_MATMUL_DESC_POINTER_MODE: break;
      }
      return CUBLAS_STATUS_NOT_SUPPORTED;
    });
  });
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* matLayout, cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t ld) {
  return make("cublasLtMatrixLayoutCreate", matLayout,
              MatrixLayout{.type = type, .order = CUBLASLT_ORDER_COL, .rows = rows, .cols = cols, .ld = ld});
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matLayout) {
  return destroy("cublasLtMatrixLayoutDestroy", matLayout);
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t matLayout, cublasLtMatrixLayoutAttribute_t attr,
                                                const void* buf, size_t sizeInBytes) {
  return cublas_call("cublasLtMatrixLayoutSetAttribute", [&](Simulator&) {
    return set<MatrixLayout>(matLayout, [&](MatrixLayout& to) {
      switch (attr) {
        case CUBLASLT_MATRIX_LAYOUT_TYPE: return assign(to.type, buf, sizeInBytes);
        case CUBLASLT_MATRIX_LAYOUT_ORDER: return assign(to.order, buf, sizeInBytes);
        case CUBLASLT_MATRIX_LAYOUT_ROWS: return assign(to.rows, buf, sizeInBytes);
        case CUBLASLT_MATRIX_LAYOUT_COLS: return assign(to.cols, buf, sizeInBytes);
        case CUBLASLT_MATRIX_LAYOUT_LD: return assign(to.ld, buf, sizeInBytes);
      }
      return CUBLAS_STATUS_NOT_SUPPORTED;
    });
  });
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* pref) {
  return make("cublasLtMatmulPreferenceCreate", pref, Preference{});
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t pref) {
  return destroy("cublasLtMatmulPreferenceDestroy", pref);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t pref,
                                                    cublasLtMatmulPreferenceAttributes_t attr, const void* buf,
                                                    size_t sizeInBytes) {
  return cublas_call("cublasLtMatmulPreferenceSetAttribute", [&](Simulator&) {
    return set<Preference>(pref, [&](Preference& to) {
      switch (attr) {
        case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return assign(to.workspace, buf, sizeInBytes);
        case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES: return assign(to.alignment[0], buf, sizeInBytes);
        case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES: return assign(to.alignment[1], buf, sizeInBytes);
        case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES: return assign(to.alignment[2], buf, sizeInBytes);
        case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES: return assign(to.alignment[3], buf, sizeInBytes);
      }
      return CUBLAS_STATUS_NOT_SUPPORTED;
    });
  });
}

}  // extern "C"
