#include "kernels/cuda/fc.h"

#include <cublasLt.h>

#include <cstddef>
#include <string_view>
#include <utility>

#include "kernels/cuda/status.h"
#include "tr/base/error.h"

namespace tr::cuda {
namespace {

/// What cuBLASLt's choice of algorithms takes for granted, and the plan's tensors have.
constexpr std::uintptr_t alignment = 256;

void check_blas(cublasStatus_t status, std::string_view operation) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw DeviceError(std::string(operation) + ": " + cublasLtGetStatusName(status) + " (" +
                    cublasLtGetStatusString(status) + ")");
}

cudaDataType_t data_type_of(FloatType type) {
  switch (type) {
    case FloatType::bf16: return CUDA_R_16BF;
    case FloatType::fp16: return CUDA_R_16F;
    case FloatType::fp32: return CUDA_R_32F;
  }
  return CUDA_R_32F;
}

const char* name_of(FloatType type) {
  switch (type) {
    case FloatType::bf16: return "bf16";
    case FloatType::fp16: return "fp16";
    case FloatType::fp32: return "fp32";
  }
  return "?";
}

/// A column-major matrix, as the library sees one; a row-major matrix is its transpose.
struct ColumnMajor {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  bool transpose = false;
};

/// The transpose of the product that a pass is, of column-major matrices: C = A·B.
struct Product {
  ColumnMajor a;
  ColumnMajor b;
  ColumnMajor c;
};

Product product_of(const FcSpec& spec) {
  const ColumnMajor x{spec.in, spec.rows};
  const ColumnMajor weight{spec.in, spec.out};
  const ColumnMajor dz{spec.out, spec.rows};
  switch (spec.pass) {
    case FcPass::forward: return {{weight.rows, weight.columns, true}, x, {spec.out, spec.rows}};
    case FcPass::backward_data: return {weight, dz, {spec.in, spec.rows}};
    case FcPass::backward_weight: return {x, {dz.rows, dz.columns, true}, {spec.in, spec.out}};
  }
  return {};
}

/// One of the library's descriptors, destroyed with its owner.
template <class T, cublasStatus_t (*destroy)(T)>
class Owned {
 public:
  Owned() = default;
  ~Owned() {
    if (value_ != nullptr) destroy(value_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  T get() const { return value_; }
  T* address() { return &value_; }

 private:
  T value_ = nullptr;
};

using Descriptor = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

void require_legal(const FcSpec& spec, const std::string& operation) {
  if (spec.rows < 0 || spec.in < 1 || spec.out < 1) {
    throw ValueError(operation + ": a product of " + std::to_string(spec.rows) + " rows, " + std::to_string(spec.in) +
                     " inputs and " + std::to_string(spec.out) + " outputs; legal are rows from 0, the others from 1");
  }
  if (spec.output != FloatType::fp32 && spec.output != spec.input) {
    throw ValueError(operation + ": the output is " + name_of(spec.output) + "; legal is fp32 or the input's " +
                     name_of(spec.input));
  }
  if (spec.bias != nullptr && spec.pass != FcPass::forward) {
    throw ValueError(operation + ": only the forward pass adds a bias");
  }
  if (spec.relu && spec.bias == nullptr) throw ValueError(operation + ": a ReLU in the product needs a bias");
}

void require_operand(const void* operand, const char* name, const std::string& operation) {
  if (operand != nullptr && reinterpret_cast<std::uintptr_t>(operand) % alignment == 0) return;
  throw ValueError(operation + ": " + name +
                   (operand == nullptr ? " is missing" : " does not start at a multiple of 256 bytes"));
}

}  // namespace

struct MatmulLibrary::Handle {
  Handle() { check_blas(cublasLtCreate(&value), "cublasLtCreate"); }
  ~Handle() { cublasLtDestroy(value); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  cublasLtHandle_t value = nullptr;
};

MatmulLibrary::MatmulLibrary() : handle_(std::make_unique<Handle>()) {}
MatmulLibrary::~MatmulLibrary() = default;
MatmulLibrary::MatmulLibrary(MatmulLibrary&&) noexcept = default;
MatmulLibrary& MatmulLibrary::operator=(MatmulLibrary&&) noexcept = default;

struct FcPlan::Prepared {
  Prepared(cublasLtHandle_t library, const FcSpec& what, std::string name)
      : handle(library), spec(what), operation(std::move(name)) {}

  void describe();
  void create_layout(Layout& layout, const ColumnMajor& matrix, FloatType type) const;
  void choose_algorithm(std::int64_t workspace_limit);
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) const {
    check_blas(cublasLtMatmulDescSetAttribute(descriptor.get(), attribute, &value, sizeof(value)), operation);
  }

  cublasLtHandle_t handle = nullptr;
  FcSpec spec;
  std::string operation;
  Descriptor descriptor;
  Layout a;
  Layout b;
  Layout c;
  cublasLtMatmulAlgo_t algorithm{};
  std::int64_t workspace_bytes = 0;
};

void FcPlan::Prepared::create_layout(Layout& layout, const ColumnMajor& matrix, FloatType type) const {
  check_blas(cublasLtMatrixLayoutCreate(layout.address(), data_type_of(type), static_cast<std::uint64_t>(matrix.rows),
                                        static_cast<std::uint64_t>(matrix.columns), matrix.rows),
             operation);
}

void FcPlan::Prepared::describe() {
  const bool tf32 = spec.allow_tf32 && spec.input == FloatType::fp32;
  const cublasComputeType_t compute = tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  check_blas(cublasLtMatmulDescCreate(descriptor.address(), compute, CUDA_R_32F), operation);
  const Product product = product_of(spec);
  set(CUBLASLT_MATMUL_DESC_TRANSA, product.a.transpose ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_TRANSB, product.b.transpose ? CUBLAS_OP_T : CUBLAS_OP_N);
  if (spec.bias != nullptr) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, spec.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS);
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, data_type_of(spec.output));
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, spec.bias);
  }
  create_layout(a, product.a, spec.input);
  create_layout(b, product.b, spec.input);
  create_layout(c, product.c, spec.output);
}

void FcPlan::Prepared::choose_algorithm(std::int64_t workspace_limit) {
  Preference preference;
  check_blas(cublasLtMatmulPreferenceCreate(preference.address()), operation);
  const auto limit = static_cast<std::size_t>(workspace_limit);
  check_blas(cublasLtMatmulPreferenceSetAttribute(preference.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit,
                                                  sizeof(limit)),
             operation);
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle, descriptor.get(), a.get(), b.get(), c.get(),
                                                               c.get(), preference.get(), 1, &best, &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && found == 0)) {
    throw DeviceError(operation + ": cuBLASLt has no algorithm for " + std::to_string(spec.rows) + " rows, " +
                      std::to_string(spec.in) + " inputs and " + std::to_string(spec.out) + " outputs, " +
                      name_of(spec.input) + " to " + name_of(spec.output) +
                      (spec.bias != nullptr ? ", with bias" : "") + (spec.relu ? " and ReLU" : "") +
                      ", that needs at most " + std::to_string(workspace_limit) + " bytes of workspace");
  }
  check_blas(status, operation);
  check_blas(best.state, operation);
  algorithm = best.algo;
  workspace_bytes = static_cast<std::int64_t>(best.workspaceSize);
}

FcPlan::FcPlan(const MatmulLibrary& library, const FcSpec& spec, std::int64_t workspace_limit, std::string operation)
    : prepared_(std::make_unique<Prepared>(library.handle_->value, spec, std::move(operation))) {
  require_legal(spec, prepared_->operation);
  if (spec.bias != nullptr) require_operand(spec.bias, "bias", prepared_->operation);
  if (spec.rows == 0) return;
  prepared_->describe();
  prepared_->choose_algorithm(workspace_limit);
}

FcPlan::~FcPlan() = default;
FcPlan::FcPlan(FcPlan&&) noexcept = default;
FcPlan& FcPlan::operator=(FcPlan&&) noexcept = default;

std::int64_t FcPlan::workspace_bytes() const { return prepared_->workspace_bytes; }

void FcPlan::run(const FcOperands& operands, void* workspace, cudaStream_t stream) const {
  const FcSpec& spec = prepared_->spec;
  const std::string& operation = prepared_->operation;
  if (spec.rows == 0) {
    if (spec.pass != FcPass::backward_weight) return;
    const auto bytes = static_cast<std::size_t>(spec.out * spec.in * bytes_of(spec.output));
    return check(cudaMemsetAsync(operands.result, 0, bytes, stream), operation);
  }
  if (spec.pass != FcPass::backward_data) require_operand(operands.x, "x", operation);
  if (spec.pass != FcPass::backward_weight) require_operand(operands.weight, "weight", operation);
  if (spec.pass != FcPass::forward) require_operand(operands.dz, "dz", operation);
  require_operand(operands.result, "the result", operation);
  if (prepared_->workspace_bytes > 0) require_operand(workspace, "the workspace", operation);
  const void* a = spec.pass == FcPass::backward_weight ? operands.x : operands.weight;
  const void* b = spec.pass == FcPass::forward ? operands.x : operands.dz;
  const float one = 1.0F;
  const float zero = 0.0F;
  check_blas(
      cublasLtMatmul(prepared_->handle, prepared_->descriptor.get(), &one, a, prepared_->a.get(), b, prepared_->b.get(),
                     &zero, operands.result, prepared_->c.get(), operands.result, prepared_->c.get(),
                     &prepared_->algorithm, workspace, static_cast<std::size_t>(prepared_->workspace_bytes), stream),
      operation);
}

}  // namespace tr::cuda
