#include "tr/data/fused_normalization.h"

#include <cmath>

#include "tr/base/bf16.h"
#include "tr/base/error.h"
#include "tr/base/fp16.h"

namespace tr {
namespace {

constexpr std::size_t pixel_values = 256;

template <class T>
void look_up(const std::vector<T>& table, std::size_t channels, std::span<const std::uint8_t> pixels, T* out) {
  if (channels == 1) {
    for (std::size_t i = 0; i < pixels.size(); ++i) out[i] = table[pixels[i]];
    return;
  }
  for (std::size_t i = 0; i < pixels.size(); i += channels) {
    for (std::size_t c = 0; c < channels; ++c) out[i + c] = table[c * pixel_values + pixels[i + c]];
  }
}

}  // namespace

FusedNormalization::FusedNormalization(const Normalization& normalization, int channels, DType type)
    : channels_(channels), type_(type) {
  if (channels < 1 || channels > 4) value_error("channels", channels, "1 to 4");
  if (type != DType::fp32 && type != DType::bf16 && type != DType::fp16) {
    throw ValueError("images are normalised to fp32, bf16 or fp16");
  }
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
    const double mean = normalization.mean[c];
    const double std = normalization.std[c];
    if (!std::isfinite(mean)) value_error("normalization mean", mean, "finite");
    if (!(std > 0.0) || !std::isfinite(std)) value_error("normalization std", std, "positive and finite");
    for (std::size_t pixel = 0; pixel < pixel_values; ++pixel) {
      const auto value = static_cast<float>((static_cast<double>(pixel) / 255.0 - mean) / std);
      if (type == DType::fp32) {
        fp32_.push_back(value);
      } else {
        half_.push_back(type == DType::bf16 ? to_bf16(value).bits : to_fp16(value).bits);
      }
    }
  }
}

void FusedNormalization::apply(std::span<const std::uint8_t> pixels, std::byte* out) const {
  const auto channels = static_cast<std::size_t>(channels_);
  if (type_ == DType::fp32) {
    look_up(fp32_, channels, pixels, reinterpret_cast<float*>(out));
  } else {
    look_up(half_, channels, pixels, reinterpret_cast<std::uint16_t*>(out));
  }
}

}  // namespace tr
