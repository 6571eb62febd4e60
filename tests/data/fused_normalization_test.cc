#include "tr/data/fused_normalization.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tr/base/bf16.h"
#include "tr/base/error.h"

namespace tr {
namespace {

constexpr Normalization four_channels{.mean = {0.1F, 0.2F, 0.3F, 0.4F}, .std = {0.5F, 0.25F, 1.0F, 2.0F}};

/// Every pixel value in every channel, HWC.
std::vector<std::uint8_t> all_pixels(int channels) {
  std::vector<std::uint8_t> pixels;
  for (int value = 0; value < 256; ++value) {
    for (int c = 0; c < channels; ++c) pixels.push_back(static_cast<std::uint8_t>((value + 50 * c) % 256));
  }
  return pixels;
}

float expected(std::uint8_t pixel, std::size_t channel) {
  return static_cast<float>((pixel / 255.0 - double{four_channels.mean[channel]}) / double{four_channels.std[channel]});
}

}  // namespace

TEST_CASE("every pixel value of every channel becomes (pixel/255 - mean)/std") {
  for (int channels = 1; channels <= 4; ++channels) {
    const auto pixels = all_pixels(channels);
    std::vector<float> fp32(pixels.size());
    std::vector<Bf16> bf16(pixels.size());
    FusedNormalization(four_channels, channels, DType::fp32).apply(pixels, reinterpret_cast<std::byte*>(fp32.data()));
    FusedNormalization(four_channels, channels, DType::bf16).apply(pixels, reinterpret_cast<std::byte*>(bf16.data()));
    int wrong = 0;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const float value = expected(pixels[i], i % static_cast<std::size_t>(channels));
      wrong += fp32[i] != value || bf16[i] != to_bf16(value) ? 1 : 0;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("settings that would not give numbers are refused") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_AS(FusedNormalization({}, 0, DType::fp32), ValueError);
  CHECK_THROWS_AS(FusedNormalization({}, 5, DType::fp32), ValueError);
  CHECK_THROWS_AS(FusedNormalization({}, 1, DType::int32), ValueError);
  CHECK_THROWS_AS(FusedNormalization({.mean = {nan}}, 1, DType::fp32), ValueError);
  CHECK_THROWS_AS(FusedNormalization({.mean = {}, .std = {0.0F}}, 1, DType::fp32), ValueError);
  CHECK_THROWS_AS(FusedNormalization({.mean = {}, .std = {nan}}, 1, DType::fp32), ValueError);
  CHECK_THROWS_WITH_AS(FusedNormalization({.mean = {}, .std = {1.0F, -2.0F}}, 2, DType::fp32),
                       "normalization std is -2, legal is positive and finite", ValueError);
  CHECK_NOTHROW(FusedNormalization({.mean = {}, .std = {1.0F, -2.0F}}, 1, DType::fp32));
}

}  // namespace tr
