#include "kernels/cpu/relu.h"

#include "kernels/cpu/bias.h"
#include "kernels/cpu/operands.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/relu.cc"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tr::cpu::HWY_NAMESPACE {

void relu_forward(ConstValues x, Values y, std::int64_t count) {
  with_type(x, [&](auto* from) HWY_ATTR {
    with_type(y, [&](auto* to) HWY_ATTR {
      for_each_vector(count, [&](auto d, std::int64_t i) HWY_ATTR { store(relu(d, load(d, from + i)), d, to + i); });
    });
  });
}

}  // namespace tr::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tr::cpu {

HWY_EXPORT(relu_forward);

void relu_forward(ConstValues x, Values y, std::int64_t count) { HWY_DYNAMIC_DISPATCH(relu_forward)(x, y, count); }

void relu_backward(ConstValues dy, ConstValues y, Values dx, std::int64_t count) {
  bias_gradient(dy, y, 1, count, dx, nullptr);
}

Kernel make_relu_forward(const Operation& operation, Scratch&) {
  const Operand& x = operation.in[0];
  const Operand& y = operation.out[0];
  require(operation, x, "x", {DType::fp32, DType::bf16});
  require(operation, y, "y", {DType::fp32, DType::bf16});
  require_shape(operation, y, "y", x.shape.n, x.shape.sample_size());
  return [x = const_values(x), y = values(y), count = x.shape.size()] { relu_forward(x, y, count); };
}

Kernel make_relu_backward(const Operation& operation, Scratch&) {
  const Operand& dy = operation.in[0];
  const Operand& y = operation.in[1];
  const Operand& dx = operation.out[0];
  require(operation, dy, "dy", {DType::fp32, DType::bf16});
  require(operation, y, "y", {DType::fp32, DType::bf16});
  require(operation, dx, "dx", {DType::fp32, DType::bf16});
  require_shape(operation, y, "y", dy.shape.n, dy.shape.sample_size());
  require_shape(operation, dx, "dx", dy.shape.n, dy.shape.sample_size());
  return [dy = const_values(dy), y = const_values(y), dx = values(dx), count = dy.shape.size()] {
    relu_backward(dy, y, dx, count);
  };
}

}  // namespace tr::cpu
#endif
