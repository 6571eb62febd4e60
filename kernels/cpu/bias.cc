#include "kernels/cpu/bias.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/bias.cc"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tr::cpu::HWY_NAMESPACE {

template <class Y>
void add_bias_typed(const float* z, const float* bias, bool with_relu, std::int64_t rows, std::int64_t columns, Y* y) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t row = r * columns;
    for_each_vector(columns, [&](auto d, std::int64_t c) HWY_ATTR {
      auto v = load(d, z + row + c);
      if (bias != nullptr) v = hn::Add(v, load(d, bias + c));
      if (with_relu) v = relu(d, v);
      store(v, d, y + row + c);
    });
  }
}

void add_bias(const float* z, const float* bias, Activation activation, std::int64_t rows, std::int64_t columns,
              Values y) {
  with_type(y, [&](auto* to) HWY_ATTR { add_bias_typed(z, bias, activation == Activation::relu, rows, columns, to); });
}

template <class Dy, class Y, class Dz>
void bias_gradient_typed(const Dy* dy, const Y* y, std::int64_t rows, std::int64_t columns, Dz* dz, float* db) {
  // A few rows at a time, so that the running sums are loaded and stored less often; the order of the sum stays.
  constexpr std::int64_t step = 4;
  for (std::int64_t first = 0; first < rows; first += step) {
    const std::int64_t last = std::min(first + step, rows);
    for_each_vector(columns, [&](auto d, std::int64_t c) HWY_ATTR {
      auto sum = first == 0 || db == nullptr ? hn::Zero(d) : load(d, db + c);
      for (std::int64_t at = first * columns + c; at < last * columns; at += columns) {
        auto gradient = load(d, dy + at);
        if (y != nullptr) gradient = relu_gradient(d, gradient, load(d, y + at));
        if (dz != nullptr) store(gradient, d, dz + at);
        sum = hn::Add(sum, gradient);
      }
      if (db != nullptr) store(sum, d, db + c);
    });
  }
}

void bias_gradient(ConstValues dy, ConstValues y, std::int64_t rows, std::int64_t columns, Values dz, float* db) {
  with_type(dy, [&](auto* dy_typed) HWY_ATTR {
    with_type(y, [&](auto* y_typed) HWY_ATTR {
      with_type(dz,
                [&](auto* dz_typed) HWY_ATTR { bias_gradient_typed(dy_typed, y_typed, rows, columns, dz_typed, db); });
    });
  });
}

}  // namespace tr::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tr::cpu {

HWY_EXPORT(add_bias);
HWY_EXPORT(bias_gradient);

void add_bias(const float* z, const float* bias, Activation activation, std::int64_t rows, std::int64_t columns,
              Values y) {
  HWY_DYNAMIC_DISPATCH(add_bias)(z, bias, activation, rows, columns, y);
}

void bias_gradient(ConstValues dy, ConstValues y, std::int64_t rows, std::int64_t columns, Values dz, float* db) {
  if (rows == 0 && db != nullptr) std::fill_n(db, columns, 0.0F);
  HWY_DYNAMIC_DISPATCH(bias_gradient)(dy, y, rows, columns, dz, db);
}

}  // namespace tr::cpu
#endif
