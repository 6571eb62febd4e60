#include "kernels/cpu/reduce_gradients.h"

#include <cmath>
#include <cstdint>
#include <span>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/reduce_gradients.cc"
#include <hwy/foreach_target.h>

#include "kernels/cpu/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tr::cpu::HWY_NAMESPACE {

/// How many partial sums there are: as many as the widest vector has elements.
constexpr std::int64_t block = 16;

/// Σ v² in fp64 in an order that does not depend on how many elements a vector has. The square of a float is exact in
/// fp64, so neither does it matter whether the addition is fused with it.
class SquareSum {
 public:
  HWY_INLINE SquareSum() {
    for (auto& sum : sums_) sum = hn::Zero(Doubles());
  }
  HWY_INLINE void add_block(const float* values) {
    const hn::Rebind<float, Doubles> halves;
    for (std::int64_t i = 0; i < block; i += lanes) {
      const auto v = hn::PromoteTo(Doubles(), hn::LoadU(halves, values + i));
      sums_[i / lanes] = hn::MulAdd(v, v, sums_[i / lanes]);
    }
  }
  /// The last elements, fewer than a block.
  void add_rest(const float* values, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) rest_[i] = static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  HWY_INLINE double total() const {
    double sums[block];
    for (std::int64_t i = 0; i < block; i += lanes) hn::StoreU(sums_[i / lanes], Doubles(), sums + i);
    for (std::int64_t i = 0; i < block; ++i) sums[i] += rest_[i];
    for (std::int64_t pairs = block / 2; pairs > 0; pairs /= 2) {
      for (std::int64_t i = 0; i < pairs; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
    }
    return sums[0];
  }

 private:
  using Doubles = hn::ScalableTag<double>;
  static constexpr std::int64_t lanes = hn::MaxLanes(Doubles());

  hn::Vec<Doubles> sums_[block / lanes];
  double rest_[block] = {};
};

template <int Ranks, bool HasWeight>
HWY_INLINE SquareSums reduce(std::span<const float* const> gradients, float* sum, const float* weight, float clip_value,
                             std::int64_t count) {
  FiniteCheck check;
  SquareSum gradient_squares;
  SquareSum weight_squares;
  const auto reduce_vector = [&](auto d, std::int64_t i) HWY_ATTR {
    const auto gradient = summed<Ranks>(d, gradients, i);
    check.add(d, gradient);
    store(clip_value == 0.0F ? gradient : limited(d, gradient, clip_value), d, sum + i);
  };
  const hn::CappedTag<float, block> d;
  std::int64_t i = 0;
  for (; i + block <= count; i += block) {
    for (std::int64_t at = 0; at < block; at += static_cast<std::int64_t>(hn::MaxLanes(d))) reduce_vector(d, i + at);
    gradient_squares.add_block(sum + i);
    if constexpr (HasWeight) weight_squares.add_block(weight + i);
  }
  const hn::CappedTag<float, 1> one;
  for (std::int64_t at = i; at < count; ++at) reduce_vector(one, at);
  gradient_squares.add_rest(sum + i, count - i);
  if constexpr (HasWeight) weight_squares.add_rest(weight + i, count - i);
  const double weight_total = weight_squares.total();
  // Squares of finite floats cannot overflow in fp64.
  return {gradient_squares.total(), weight_total, check.passed() && std::isfinite(weight_total)};
}

template <bool HasWeight>
SquareSums reduce_any(std::span<const float* const> gradients, float* sum, const float* weight, float clip_value,
                      std::int64_t count) {
  switch (gradients.size()) {
    case 1: return reduce<1, HasWeight>(gradients, sum, weight, clip_value, count);
    case 2: return reduce<2, HasWeight>(gradients, sum, weight, clip_value, count);
    default: return reduce<0, HasWeight>(gradients, sum, weight, clip_value, count);
  }
}

SquareSums reduce_gradients(std::span<const float* const> gradients, float* sum, const float* weight, float clip_value,
                            std::int64_t count) {
  if (weight == nullptr) return reduce_any<false>(gradients, sum, weight, clip_value, count);
  return reduce_any<true>(gradients, sum, weight, clip_value, count);
}

}  // namespace tr::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tr::cpu {

HWY_EXPORT(reduce_gradients);

SquareSums reduce_gradients(std::span<const float* const> gradients, float* sum, const float* weight, float clip_value,
                            std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(reduce_gradients)(gradients, sum, weight, clip_value, count);
}

}  // namespace tr::cpu
#endif
