#include "kernels/cpu/cast.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/cast.cc"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tr::cpu::HWY_NAMESPACE {

void cast_to_bf16(const float* from, Bf16* to, std::int64_t count) {
  for_each_vector(count, [&](auto d, std::int64_t i) HWY_ATTR { store(load(d, from + i), d, to + i); });
}

bool all_finite(ConstValues values, std::int64_t count) {
  FiniteCheck check;
  with_type(values, [&](auto* from) HWY_ATTR {
    for_each_vector(count, [&](auto d, std::int64_t i) HWY_ATTR { check.add(d, load(d, from + i)); });
  });
  return check.passed();
}

}  // namespace tr::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tr::cpu {

HWY_EXPORT(cast_to_bf16);
HWY_EXPORT(all_finite);

void cast_to_bf16(const float* from, Bf16* to, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(cast_to_bf16)(from, to, count);
}

bool all_finite(ConstValues values, std::int64_t count) { return HWY_DYNAMIC_DISPATCH(all_finite)(values, count); }

}  // namespace tr::cpu
#endif
