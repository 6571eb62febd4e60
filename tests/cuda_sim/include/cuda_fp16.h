#pragma once

#include <cstdint>

#include "cuda_sim/float_bits.h"
#include "cuda_sim/keywords.h"
#include "vector_types.h"

/// The bits alone.
struct __half_raw {
  unsigned short x;
};

/// A binary16 number; arithmetic rounds the exact result once.
class __half {
 public:
  __half() = default;
  constexpr __half(float value) : bits_(cuda_sim::half_bits(value)) {}
  constexpr __half(const __half_raw& raw) : bits_(raw.x) {}
  constexpr operator float() const { return cuda_sim::half_value(bits_); }
  constexpr operator __half_raw() const { return {bits_}; }

 private:
  std::uint16_t bits_;
};
using half = __half;

struct alignas(4) __half2 {
  __half x, y;
};

constexpr __half operator+(__half a, __half b) { return {static_cast<float>(a) + static_cast<float>(b)}; }
constexpr __half operator-(__half a, __half b) { return {static_cast<float>(a) - static_cast<float>(b)}; }
constexpr __half operator*(__half a, __half b) { return {static_cast<float>(a) * static_cast<float>(b)}; }
constexpr __half operator/(__half a, __half b) { return {static_cast<float>(a) / static_cast<float>(b)}; }
constexpr bool operator==(__half a, __half b) { return static_cast<float>(a) == static_cast<float>(b); }
constexpr bool operator<(__half a, __half b) { return static_cast<float>(a) < static_cast<float>(b); }
constexpr bool operator>(__half a, __half b) { return b < a; }

constexpr __half __float2half(float value) { return {value}; }
constexpr __half __float2half_rn(float value) { return {value}; }
constexpr float __half2float(__half value) { return value; }
constexpr __half2 __float22half2_rn(float2 value) { return {value.x, value.y}; }
constexpr __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
constexpr float2 __half22float2(__half2 value) { return {value.x, value.y}; }
constexpr __half2 __halves2half2(__half x, __half y) { return {x, y}; }
constexpr float __low2float(__half2 value) { return value.x; }
constexpr float __high2float(__half2 value) { return value.y; }
constexpr unsigned short __half_as_ushort(__half value) { return static_cast<__half_raw>(value).x; }
constexpr __half __ushort_as_half(unsigned short bits) { return __half_raw{bits}; }
constexpr bool __hisnan(__half value) { return (__half_as_ushort(value) & 0x7fffU) > 0x7c00U; }
