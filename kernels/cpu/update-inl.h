// The pass over memory that all optimizers share: sum the gradients, apply a rule, write weights and working copy, look
// out for what is not finite. Included once for each instruction set; include "hwy/foreach_target.h" before it.
#if defined(TR_KERNELS_CPU_UPDATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TR_KERNELS_CPU_UPDATE_INL_H_
#undef TR_KERNELS_CPU_UPDATE_INL_H_
#else
#define TR_KERNELS_CPU_UPDATE_INL_H_
#endif

#include "kernels/cpu/simd-inl.h"
#include "kernels/cpu/update_share.h"

HWY_BEFORE_NAMESPACE();
namespace tr::cpu::HWY_NAMESPACE {

/// `Ranks` is the number of gradients, or 0 where only the share knows it. The rule gets (d, i, weight, gradient),
/// updates its moments at i and returns the new weight.
template <int Ranks, class Rule>
HWY_INLINE bool update_ranks(const UpdateShare& share, Rule rule) {
  const float* const* gradients = share.gradients.data();
  const std::size_t ranks = Ranks > 0 ? Ranks : share.gradients.size();
  FiniteCheck check;
  for_each_vector(share.count, [&](auto d, std::int64_t i) HWY_ATTR {
    auto gradient = load(d, gradients[0] + i);
    for (std::size_t r = 1; r < ranks; ++r) gradient = hn::Add(gradient, load(d, gradients[r] + i));
    const auto weight = rule(d, i, load(d, share.weight + i), gradient);
    store(weight, d, share.weight + i);
    if (share.working != nullptr) store(weight, d, share.working + i);
    check.add(d, gradient);
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
