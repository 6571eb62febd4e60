// What the SIMD kernels share. Included once for each instruction set, hence the switching guard instead of a pragma;
// include "hwy/foreach_target.h" before it.
#if defined(TR_KERNELS_CPU_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TR_KERNELS_CPU_SIMD_INL_H_
#undef TR_KERNELS_CPU_SIMD_INL_H_
#else
#define TR_KERNELS_CPU_SIMD_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "kernels/cpu/values.h"

HWY_BEFORE_NAMESPACE();
namespace tr::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float* from) {
  return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const Bf16* from) {
  const hn::Rebind<std::uint16_t, D> half;
  const hn::RebindToUnsigned<D> full;
  const auto bits = hn::PromoteTo(full, hn::LoadU(half, &from->bits));
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}

template <class D>
HWY_INLINE void store(hn::Vec<D> v, D d, float* to) {
  hn::StoreU(v, d, to);
}

/// Rounds as to_bf16() does. Highway's own conversion truncates, and the processor's flushes denormals.
template <class D>
HWY_INLINE void store(hn::Vec<D> v, D, Bf16* to) {
  const hn::Rebind<std::uint16_t, D> half;
  const hn::RebindToUnsigned<D> full;
  const hn::RebindToSigned<D> narrowing;  // Only signed numbers can be narrowed; these are all in 0 .. 65535.
  const auto bits = hn::BitCast(full, v);
  const auto upper = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(upper, hn::Set(full, 1U));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(full, 0x7fffU))));
  const auto quiet = hn::Or(upper, hn::Set(full, 0x40U));
  const auto result = hn::IfThenElse(hn::RebindMask(full, hn::IsNaN(v)), quiet, rounded);
  hn::StoreU(hn::DemoteTo(half, hn::BitCast(narrowing, result)), half, &to->bits);
}

/// The same where the type is known only at run time: a branch for each vector, but one copy of the code around it.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, ConstValues from, std::int64_t at) {
  if (from.dtype == DType::bf16) return load(d, static_cast<const Bf16*>(from.data) + at);
  return load(d, static_cast<const float*>(from.data) + at);
}

template <class D>
HWY_INLINE void store(hn::Vec<D> v, D d, Values to, std::int64_t at) {
  if (to.dtype == DType::bf16) return store(v, d, static_cast<Bf16*>(to.data) + at);
  return store(v, d, static_cast<float*>(to.data) + at);
}

/// Calls f(d, i) for every i at which a vector d of a row of `count` numbers starts: full vectors, then single lanes.
/// Both go through the same code, so body and tail treat special values alike.
template <class F>
HWY_INLINE void for_each_vector(std::int64_t count, F f) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) f(d, i);
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) f(one, i);
}

/// Calls f with a typed pointer.
template <class F>
HWY_INLINE void with_type(ConstValues values, F f) {
  if (values.dtype == DType::bf16) {
    f(static_cast<const Bf16*>(values.data));
  } else {
    f(static_cast<const float*>(values.data));
  }
}

template <class F>
HWY_INLINE void with_type(Values values, F f) {
  if (values.dtype == DType::bf16) {
    f(static_cast<Bf16*>(values.data));
  } else {
    f(static_cast<float*>(values.data));
  }
}

/// max(0, v), but a NaN stays a NaN: the comparison is false for it.
template <class D>
HWY_INLINE hn::Vec<D> relu(D d, hn::Vec<D> v) {
  return hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v);
}

/// The gradient behind a ReLU with the output y: it passes unless y ≤ 0, so it passes a NaN (as PyTorch's
/// threshold_backward does).
template <class D>
HWY_INLINE hn::Vec<D> relu_gradient(D d, hn::Vec<D> gradient, hn::Vec<D> y) {
  return hn::IfThenZeroElse(hn::Le(y, hn::Zero(d)), gradient);
}

/// Looks out for infinities and NaN in what passes by: 0·v is 0 for all other numbers, and a NaN once summed stays.
class FiniteCheck {
 public:
  HWY_INLINE FiniteCheck() : sum_(hn::Zero(Full())) {}
  template <class D>
  HWY_INLINE void add(D d, hn::Vec<D> v) {
    if constexpr (hn::MaxLanes(D()) == 1) {
      rest_ += 0.0F * hn::GetLane(v);
    } else {
      sum_ = hn::MulAdd(v, hn::Zero(d), sum_);
    }
  }
  HWY_INLINE bool passed() const {
    const Full d;
    return rest_ == 0.0F && hn::AllTrue(d, hn::Eq(sum_, hn::Zero(d)));
  }

 private:
  using Full = hn::ScalableTag<float>;
  hn::Vec<Full> sum_;
  float rest_ = 0.0F;
};

}  // namespace tr::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
