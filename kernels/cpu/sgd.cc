#include "kernels/cpu/sgd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sgd.cc"
#include <hwy/foreach_target.h>

#include "kernels/cpu/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tr::cpu::HWY_NAMESPACE {

bool sgd_update(const UpdateShare& share, const SgdScalars& scalars) {
  const double decay = share.decay ? scalars.weight_decay : 0.0;
  // Apart from the weight until the end: 1 - lr·decay has no float between 1 and 1 - 2^-24.
  const auto decoupled = static_cast<float>(scalars.decoupled ? scalars.lr * decay : 0.0);
  const auto coupled = static_cast<float>(scalars.decoupled ? 0.0 : decay);
  const auto lr = static_cast<float>(scalars.lr);
  const auto momentum = static_cast<float>(scalars.momentum);
  const auto undampened = static_cast<float>(1.0 - scalars.dampening);
  const bool is_first = scalars.first_step;
  const bool is_nesterov = scalars.nesterov;
  float* const buffers = share.moment1;
  return update(share, [=](auto d, std::int64_t i, auto weight, auto gradient, FiniteCheck&) HWY_ATTR {
    auto change = hn::MulAdd(hn::Set(d, coupled), weight, gradient);
    if (momentum != 0.0F) {
      auto buffer = change;
      if (!is_first) {
        const auto old = load(d, buffers + i);
        buffer = hn::MulAdd(hn::Set(d, momentum), old, hn::Mul(hn::Set(d, undampened), change));
      }
      store(buffer, d, buffers + i);
      change = is_nesterov ? hn::MulAdd(hn::Set(d, momentum), buffer, change) : buffer;
    }
    return hn::Sub(weight, hn::MulAdd(hn::Set(d, lr), change, hn::Mul(hn::Set(d, decoupled), weight)));
  });
}

}  // namespace tr::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tr::cpu {

HWY_EXPORT(sgd_update);

bool sgd_update(const UpdateShare& share, const SgdScalars& scalars) {
  return HWY_DYNAMIC_DISPATCH(sgd_update)(share, scalars);
}

}  // namespace tr::cpu
#endif
