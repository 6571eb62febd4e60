#include "kernels/cpu/fc.h"

#include <memory>

#include "kernels/cpu/bias.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/operands.h"

namespace tr::cpu {
namespace {

/// Both factors of a product are there and in one type.
void require_factors(const Operation& operation, std::string_view first, std::string_view second) {
  require(operation, operation.in[0], first, {DType::fp32, DType::bf16});
  require(operation, operation.in[1], second, {operation.in[0].dtype});
}

/// A product with its operands, and where its library finds scratch memory. Shared, since a kernel can be copied.
class BoundMatmul {
 public:
  BoundMatmul(const MatmulSpec& spec, const Operand& a, const Operand& b, const Operand& c, Scratch& scratch)
      : matmul_(std::make_shared<const Matmul>(spec)), a_(a.data), b_(b.data), c_(c.data), scratch_(&scratch) {
    scratch.reserve(matmul_->scratch_bytes());
  }
  void operator()() const { matmul_->run(a_, b_, c_, scratch_->data()); }

 private:
  std::shared_ptr<const Matmul> matmul_;
  const std::byte* a_;
  const std::byte* b_;
  std::byte* c_;
  const Scratch* scratch_;
};

}  // namespace

Kernel make_fc_forward(const Operation& operation, Scratch& scratch) {
  const Operand& x = operation.in[0];
  const Operand& weight = operation.in[1];
  const Operand& bias = operation.in[2];
  const Operand& y = operation.out[0];
  const Operand& z = operation.out[1];
  const int rows = x.shape.n;
  const int columns = weight.shape.n;
  require_factors(operation, "x", "weight");
  allow(operation, bias, "bias", {DType::fp32});
  require(operation, y, "y", {DType::fp32, DType::bf16});
  require_shape(operation, weight, "weight", columns, x.shape.sample_size());
  require_shape(operation, y, "y", rows, columns);
  if (bias && bias.shape.size() != columns) require_shape(operation, bias, "bias", 1, columns);
  if (y.dtype == DType::bf16) {
    require(operation, z, "z", {DType::fp32});
    require_shape(operation, z, "z", rows, columns);
  }
  const Operand& product = y.dtype == DType::bf16 ? z : y;
  const BoundMatmul matmul({.m = rows, .n = columns, .k = x.shape.sample_size(), .transpose_b = true, .input = x.dtype},
                           x, weight, product, scratch);
  const Activation activation = operation.attributes.activation;
  if (!bias && activation == Activation::none && y.dtype == DType::fp32) return matmul;
  return [matmul, activation, rows, columns, product = product.as<const float>(), bias = bias.as<const float>(),
          y = values(y)] {
    matmul();
    add_bias(product, bias, activation, rows, columns, y);
  };
}

Kernel make_fc_backward_bias(const Operation& operation, Scratch&) {
  const Operand& dy = operation.in[0];
  const Operand& y = operation.in[1];
  const Operand& dz = operation.out[0];
  const Operand& db = operation.out[1];
  const int rows = dy.shape.n;
  const auto columns = dy.shape.sample_size();
  const bool activated = operation.attributes.activation != Activation::none;
  require(operation, dy, "dy", {DType::fp32, DType::bf16});
  if (activated) require(operation, y, "y", {DType::fp32, DType::bf16});
  allow(operation, dz, "dz", {DType::fp32, DType::bf16});
  allow(operation, db, "db", {DType::fp32});
  require_shape(operation, y, "y", rows, columns);
  require_shape(operation, dz, "dz", rows, columns);
  if (db && db.shape.size() != columns) require_shape(operation, db, "db", 1, columns);
  return [dy = const_values(dy), y = activated ? const_values(y) : ConstValues(), rows, columns, dz = values(dz),
          db = db.as<float>()] { bias_gradient(dy, y, rows, columns, dz, db); };
}

Kernel make_fc_backward_weight(const Operation& operation, Scratch& scratch) {
  const Operand& x = operation.in[0];
  const Operand& dz = operation.in[1];
  const Operand& dweight = operation.out[0];
  require_factors(operation, "x", "dz");
  require(operation, dweight, "dW", {DType::fp32});
  const auto out = dz.shape.sample_size();
  const auto in = x.shape.sample_size();
  require_shape(operation, dz, "dz", x.shape.n, out);
  require_shape(operation, dweight, "dW", out, in);
  return BoundMatmul({.m = out, .n = in, .k = x.shape.n, .transpose_a = true, .input = x.dtype}, dz, x, dweight,
                     scratch);
}

Kernel make_fc_backward_data(const Operation& operation, Scratch& scratch) {
  const Operand& dz = operation.in[0];
  const Operand& weight = operation.in[1];
  const Operand& dx = operation.out[0];
  require_factors(operation, "dz", "weight");
  require(operation, dx, "dx", {DType::fp32});
  const auto out = dz.shape.sample_size();
  const auto in = weight.shape.sample_size();
  require_shape(operation, weight, "weight", out, in);
  require_shape(operation, dx, "dx", dz.shape.n, in);
  return BoundMatmul({.m = dz.shape.n, .n = in, .k = out, .input = dz.dtype}, dz, weight, dx, scratch);
}

}  // namespace tr::cpu
