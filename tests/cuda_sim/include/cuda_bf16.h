#pragma once

#include <cstdint>

#include "cuda_sim/float_bits.h"
#include "cuda_sim/keywords.h"
#include "vector_types.h"

/// The bits alone.
struct __nv_bfloat16_raw {
  unsigned short x;
};

/// A bfloat16 number; arithmetic rounds the exact result once.
class __nv_bfloat16 {
 public:
  __nv_bfloat16() = default;
  constexpr __nv_bfloat16(float value) : bits_(cuda_sim::bfloat16_bits(value)) {}
  constexpr __nv_bfloat16(const __nv_bfloat16_raw& raw) : bits_(raw.x) {}
  constexpr operator float() const { return cuda_sim::bfloat16_value(bits_); }
  constexpr operator __nv_bfloat16_raw() const { return {bits_}; }

 private:
  std::uint16_t bits_;
};
using nv_bfloat16 = __nv_bfloat16;

struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};

constexpr __nv_bfloat16 operator+(__nv_bfloat16 a, __nv_bfloat16 b) {
  return {static_cast<float>(a) + static_cast<float>(b)};
}
constexpr __nv_bfloat16 operator-(__nv_bfloat16 a, __nv_bfloat16 b) {
  return {static_cast<float>(a) - static_cast<float>(b)};
}
constexpr __nv_bfloat16 operator*(__nv_bfloat16 a, __nv_bfloat16 b) {
  return {static_cast<float>(a) * static_cast<float>(b)};
}
constexpr __nv_bfloat16 operator/(__nv_bfloat16 a, __nv_bfloat16 b) {
  return {static_cast<float>(a) / static_cast<float>(b)};
}
constexpr bool operator==(__nv_bfloat16 a, __nv_bfloat16 b) { return static_cast<float>(a) == static_cast<float>(b); }
constexpr bool operator<(__nv_bfloat16 a, __nv_bfloat16 b) { return static_cast<float>(a) < static_cast<float>(b); }
constexpr bool operator>(__nv_bfloat16 a, __nv_bfloat16 b) { return b < a; }

constexpr __nv_bfloat16 __float2bfloat16(float value) { return {value}; }
constexpr __nv_bfloat16 __float2bfloat16_rn(float value) { return {value}; }
constexpr float __bfloat162float(__nv_bfloat16 value) { return value; }
constexpr __nv_bfloat162 __float22bfloat162_rn(float2 value) { return {value.x, value.y}; }
constexpr __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
constexpr float2 __bfloat1622float2(__nv_bfloat162 value) { return {value.x, value.y}; }
constexpr __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
constexpr float __low2float(__nv_bfloat162 value) { return value.x; }
constexpr float __high2float(__nv_bfloat162 value) { return value.y; }
constexpr unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return static_cast<__nv_bfloat16_raw>(value).x; }
constexpr __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16_raw{bits}; }
constexpr bool __hisnan(__nv_bfloat16 value) { return (__bfloat16_as_ushort(value) & 0x7fffU) > 0x7f80U; }
