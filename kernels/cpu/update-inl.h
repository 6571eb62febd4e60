// The pass over memory that all optimizers share: sum the gradients, limit and scale them, apply a rule, write weights,
// their average and their working copy, look out for what is not finite. Included once for each instruction set;
// include "hwy/foreach_target.h" before it.
#if defined(TR_KERNELS_CPU_UPDATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TR_KERNELS_CPU_UPDATE_INL_H_
#undef TR_KERNELS_CPU_UPDATE_INL_H_
#else
#define TR_KERNELS_CPU_UPDATE_INL_H_
#endif

#include <cstddef>
#include <span>

#include "kernels/cpu/simd-inl.h"
#include "kernels/cpu/update_share.h"

HWY_BEFORE_NAMESPACE();
namespace tr::cpu::HWY_NAMESPACE {

/// The elements at i of all gradients, summed in their order. `Ranks` is their number, or 0 where only the span knows.
template <int Ranks, class D>
HWY_INLINE hn::Vec<D> summed(D d, std::span<const float* const> gradients, std::int64_t i) {
  const std::size_t ranks = Ranks > 0 ? Ranks : gradients.size();
  auto sum = load(d, gradients[0] + i);
  for (std::size_t r = 1; r < ranks; ++r) sum = hn::Add(sum, load(d, gradients[r] + i));
  return sum;
}

/// v in [-limit, limit]; a NaN stays a NaN, both comparisons are false for it.
template <class D>
HWY_INLINE hn::Vec<D> limited(D d, hn::Vec<D> v, float limit) {
  const auto high = hn::Set(d, limit);
  const auto low = hn::Set(d, -limit);
  return hn::IfThenElse(hn::Gt(v, high), high, hn::IfThenElse(hn::Lt(v, low), low, v));
}

/// The rule gets (d, i, weight, gradient, check), updates its moments at i and returns the new weight; it adds to the
/// check what could become infinite unseen. What the loop needs is in variables of its own, here and in the rules: the
/// compiler would read a share anew after every store of floats.
template <int Ranks, class Rule>
HWY_INLINE bool update_ranks(const UpdateShare& share, Rule rule) {
  const std::span<const float* const> gradients = share.gradients;
  float* const weights = share.weight;
  float* const averages = share.average;
  Bf16* const copies = share.working;
  const float clip_value = share.clip_value;
  const float scale = share.gradient_scale;
  const auto kept = static_cast<float>(share.average_decay);
  const auto taken = static_cast<float>(1.0 - share.average_decay);
  const bool is_changed = clip_value != 0.0F || scale != 1.0F;
  FiniteCheck check;
  for_each_vector(share.count, [&, rule](auto d, std::int64_t i) HWY_ATTR {
    auto gradient = summed<Ranks>(d, gradients, i);
    check.add(d, gradient);
    if (is_changed) {
      if (clip_value != 0.0F) gradient = limited(d, gradient, clip_value);
      gradient = hn::Mul(gradient, hn::Set(d, scale));
    }
    const auto weight = rule(d, i, load(d, weights + i), gradient, check);
    store(weight, d, weights + i);
    if (copies != nullptr) store(weight, d, copies + i);
    if (averages != nullptr) {
      auto average = hn::Mul(weight, hn::Set(d, taken));
      if (kept != 0.0F) average = hn::MulAdd(hn::Set(d, kept), load(d, averages + i), average);
      store(average, d, averages + i);
    }
    check.add(d, weight);
  });
  return check.passed();
}

template <class Rule>
HWY_INLINE bool update(const UpdateShare& share, Rule rule) {
  switch (share.gradients.size()) {
    case 1: return update_ranks<1>(share, rule);
    case 2: return update_ranks<2>(share, rule);
    default: return update_ranks<0>(share, rule);
  }
}

}  // namespace tr::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
