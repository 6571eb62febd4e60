// What the elementwise kernels share; for .cu files only.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/cuda/values.h"
#include "tr/base/bf16.h"

namespace tr::cuda {

/// How many neighbouring elements a thread takes at once: 16 bytes of fp32, 8 of a half of it.
inline constexpr std::int64_t width = 4;

/// Threads of a block, where nothing asks for another number.
inline constexpr int block_threads = 256;

/// Elements that such a block covers.
inline constexpr std::int64_t block_elements = width * block_threads;

inline constexpr int warp_threads = 32;
inline constexpr unsigned all_lanes = 0xffffffffU;

/// Whether vectors may be loaded from here and from every multiple of `width` elements behind it. Nothing is.
constexpr bool is_aligned(const void* data, FloatType type) {
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(width * bytes_of(type)) == 0;
}
constexpr bool is_aligned(ConstValues values) { return is_aligned(values.data, values.type); }
constexpr bool is_aligned(const float* values) { return is_aligned(values, FloatType::fp32); }

/// The elements of a thread: `width` from `at` on, fewer at the end of the array. `whole`: all there, and aligned.
struct Place {
  std::int64_t at = 0;
  int valid = 0;
  bool whole = false;
};

/// Of `count` elements those at `at`, which may lie behind the end.
__device__ inline Place place_at(std::int64_t at, std::int64_t count, bool aligned) {
  const std::int64_t left = count - at;
  const int valid = left >= width ? static_cast<int>(width) : left > 0 ? static_cast<int>(left) : 0;
  return {at, valid, aligned && valid == width};
}

/// Of `count` elements those of this thread, in a grid of blocks_for(count, block_elements) blocks.
__device__ inline Place place_of_thread(std::int64_t count, bool aligned) {
  return place_at(width * (std::int64_t{blockIdx.x} * block_threads + threadIdx.x), count, aligned);
}

/// Its elements are named by constants alone, also in unrolled loops, or they would not stay in registers.
struct Four {
  float v[width];
};

__device__ inline float half_to_float(std::uint16_t bits) { return __half2float(__ushort_as_half(bits)); }

/// To nearest, ties to even, as to_bf16() for the other half; too large a number becomes infinite.
__device__ inline std::uint16_t float_to_half(float value) { return __half_as_ushort(__float2half_rn(value)); }

__device__ inline float load(ConstValues from, std::int64_t at) {
  switch (from.type) {
    case FloatType::bf16: return to_float(static_cast<const Bf16*>(from.data)[at]);
    case FloatType::fp16: return half_to_float(static_cast<const std::uint16_t*>(from.data)[at]);
    default: return static_cast<const float*>(from.data)[at];
  }
}

__device__ inline void store(float value, Values to, std::int64_t at) {
  switch (to.type) {
    case FloatType::bf16: static_cast<Bf16*>(to.data)[at] = to_bf16(value); return;
    case FloatType::fp16: static_cast<std::uint16_t*>(to.data)[at] = float_to_half(value); return;
    default: static_cast<float*>(to.data)[at] = value;
  }
}

/// Two 16-bit numbers as they lie in memory, the first one in the lower half.
__device__ inline float lower_half(unsigned pair, FloatType type) {
  if (type == FloatType::bf16) return std::bit_cast<float>(pair << 16);
  return half_to_float(static_cast<std::uint16_t>(pair & 0xffffU));
}
__device__ inline float upper_half(unsigned pair, FloatType type) {
  if (type == FloatType::bf16) return std::bit_cast<float>(pair & 0xffff0000U);
  return half_to_float(static_cast<std::uint16_t>(pair >> 16));
}
__device__ inline unsigned to_pair(float lower, float upper, FloatType type) {
  if (type == FloatType::bf16) return to_bf16(lower).bits | unsigned{to_bf16(upper).bits} << 16;
  return float_to_half(lower) | unsigned{float_to_half(upper)} << 16;
}

/// The elements of a thread as they lie in memory: a word each, or two in a word. Loaded before anything is worked on,
/// since whoever looks at an element waits for it.
struct Bits {
  unsigned word[width];
};

/// Elements that are not valid come as 0.
__device__ inline Bits load_bits(ConstValues from, Place place) {
  Bits bits{};
  if (from.type == FloatType::fp32) {
    const float* floats = static_cast<const float*>(from.data) + place.at;
    if (place.whole) {
      const float4 v = *reinterpret_cast<const float4*>(floats);
      return {std::bit_cast<unsigned>(v.x), std::bit_cast<unsigned>(v.y), std::bit_cast<unsigned>(v.z),
              std::bit_cast<unsigned>(v.w)};
    }
    for (int i = 0; i < width; ++i) {
      if (i < place.valid) bits.word[i] = std::bit_cast<unsigned>(floats[i]);
    }
  } else {
    const auto* halves = static_cast<const std::uint16_t*>(from.data) + place.at;
    if (place.whole) {
      const uint2 v = *reinterpret_cast<const uint2*>(halves);
      return {v.x, v.y};
    }
    for (int i = 0; i < width; ++i) {
      if (i < place.valid) bits.word[i / 2] |= unsigned{halves[i]} << 16 * (i % 2);
    }
  }
  return bits;
}

__device__ inline Four to_four(const Bits& bits, FloatType type) {
  Four four;
  for (int i = 0; i < width; ++i) {
    if (type == FloatType::fp32) {
      four.v[i] = std::bit_cast<float>(bits.word[i]);
    } else {
      four.v[i] = i % 2 == 0 ? lower_half(bits.word[i / 2], type) : upper_half(bits.word[i / 2], type);
    }
  }
  return four;
}

/// Elements that are not valid come as 0.
__device__ inline Four load(ConstValues from, Place place) { return to_four(load_bits(from, place), from.type); }
__device__ inline Four load(const float* from, Place place) { return load(ConstValues{from}, place); }

__device__ inline void store(const Four& four, Values to, Place place) {
  if (!place.whole) {
    for (int i = 0; i < width; ++i) {
      if (i < place.valid) store(four.v[i], to, place.at + i);
    }
  } else if (to.type == FloatType::fp32) {
    *reinterpret_cast<float4*>(static_cast<float*>(to.data) + place.at) =
        make_float4(four.v[0], four.v[1], four.v[2], four.v[3]);
  } else {
    *reinterpret_cast<uint2*>(static_cast<std::uint16_t*>(to.data) + place.at) =
        make_uint2(to_pair(four.v[0], four.v[1], to.type), to_pair(four.v[2], four.v[3], to.type));
  }
}
__device__ inline void store(const Four& four, float* to, Place place) { store(four, Values{to}, place); }

/// max(0, v), but a NaN stays a NaN: the comparison is false for it.
__device__ inline float relu(float v) { return v < 0.0F ? 0.0F : v; }

/// The gradient behind a ReLU with the output y: it passes unless y ≤ 0, so it passes a NaN.
__device__ inline float relu_gradient(float gradient, float y) { return y <= 0.0F ? 0.0F : gradient; }

__device__ inline bool is_nan(float v) { return v != v; }
__device__ inline bool is_finite(float v) { return fabsf(v) <= std::numeric_limits<float>::max(); }

}  // namespace tr::cuda
