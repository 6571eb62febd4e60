#include "kernels/cpu/adam.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/adam.cc"
#include <hwy/foreach_target.h>

#include "kernels/cpu/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tr::cpu::HWY_NAMESPACE {

bool adam_update(const UpdateShare& share, const AdamScalars& scalars) {
  // Products of scalars are formed in fp64 and rounded once.
  const double decay = share.decay ? scalars.weight_decay : 0.0;
  // Apart from the weight until the end: 1 - lr·decay has no float between 1 and 1 - 2^-24.
  const auto decoupled = static_cast<float>(scalars.decoupled ? scalars.lr * decay : 0.0);
  const auto coupled = static_cast<float>(scalars.decoupled ? 0.0 : decay);
  const auto beta1 = static_cast<float>(scalars.beta1);
  const auto rest1 = static_cast<float>(1.0 - scalars.beta1);
  const auto beta2 = static_cast<float>(scalars.beta2);
  const auto rest2 = static_cast<float>(1.0 - scalars.beta2);
  const auto step = static_cast<float>(scalars.lr / scalars.bias_correction1);
  const auto root = static_cast<float>(1.0 / std::sqrt(scalars.bias_correction2));
  const auto eps = static_cast<float>(scalars.eps);
  float* const m_at = share.moment1;
  float* const v_at = share.moment2;
  return update(share, [=](auto d, std::int64_t i, auto weight, auto summed_gradient, FiniteCheck& check) HWY_ATTR {
    const auto gradient = hn::MulAdd(hn::Set(d, coupled), weight, summed_gradient);
    const auto m = hn::MulAdd(hn::Set(d, beta1), load(d, m_at + i), hn::Mul(hn::Set(d, rest1), gradient));
    const auto square = hn::Mul(gradient, gradient);
    const auto v = hn::MulAdd(hn::Set(d, beta2), load(d, v_at + i), hn::Mul(hn::Set(d, rest2), square));
    store(m, d, m_at + i);
    store(v, d, v_at + i);
    // Once infinite it would stay so, and the weight would never move again.
    check.add(d, v);
    const auto denominator = hn::MulAdd(hn::Sqrt(v), hn::Set(d, root), hn::Set(d, eps));
    const auto change = hn::Div(hn::Mul(hn::Set(d, step), m), denominator);
    return hn::Sub(weight, hn::MulAdd(hn::Set(d, decoupled), weight, change));
  });
}

}  // namespace tr::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tr::cpu {

HWY_EXPORT(adam_update);

bool adam_update(const UpdateShare& share, const AdamScalars& scalars) {
  return HWY_DYNAMIC_DISPATCH(adam_update)(share, scalars);
}

}  // namespace tr::cpu
#endif
