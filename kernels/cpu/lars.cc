#include "kernels/cpu/lars.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/lars.cc"
#include <hwy/foreach_target.h>

#include "kernels/cpu/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tr::cpu::HWY_NAMESPACE {

bool lars_update(const UpdateShare& share, const LarsScalars& scalars) {
  const auto rate = static_cast<float>(scalars.lr * scalars.ratio);
  const auto decay = static_cast<float>(share.decay ? scalars.weight_decay : 0.0);
  const auto momentum = static_cast<float>(scalars.momentum);
  float* const velocity = share.moment1;
  return update(share, [=](auto d, std::int64_t i, auto weight, auto gradient, FiniteCheck&) HWY_ATTR {
    auto change = hn::Mul(hn::Set(d, rate), hn::MulAdd(hn::Set(d, decay), weight, gradient));
    if (momentum != 0.0F) {
      change = hn::MulAdd(hn::Set(d, momentum), load(d, velocity + i), change);
      store(change, d, velocity + i);
    }
    return hn::Sub(weight, change);
  });
}

}  // namespace tr::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tr::cpu {

HWY_EXPORT(lars_update);

bool lars_update(const UpdateShare& share, const LarsScalars& scalars) {
  return HWY_DYNAMIC_DISPATCH(lars_update)(share, scalars);
}

}  // namespace tr::cpu
#endif
