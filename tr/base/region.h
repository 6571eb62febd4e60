#pragma once

#include <cstdint>
#include <string_view>

namespace tr {

/// The semantic class of a tensor. Tensors of one region lie side by side and regions follow each other in the order of
/// this list, so that one range operation covers a whole class. First letter: w weight, a working copy in the step's
/// precision, b batch statistics that a run keeps, s scalar, n sums for norms, m and v first and second moment, e
/// running average of the weights, g gradient, r result, i input (slots a and b), f activation, t temporary. The first
/// convolution stands apart: its gradient is ready last.
enum class Region : std::uint8_t {
  // The shared arena: once per memory space. What the optimizer asks for comes last, since only a run knows it.
  w_conv_bias,
  w_bn_bias,
  w_bn_weight,
  w_fc_bias,
  w_fc_weight,
  w_first_conv,
  w_deep_conv,
  w_eq_bias,
  w_eq_scale,
  a_fc_weight,
  a_first_conv,
  a_deep_conv,
  b_mean,
  b_variance,
  s_scalar_fp32,
  s_scalar_int32,
  n_square_sum,
  m_conv_bias,
  m_bn_bias,
  m_bn_weight,
  m_fc_bias,
  m_fc_weight,
  m_first_conv,
  m_deep_conv,
  v_conv_bias,
  v_bn_bias,
  v_bn_weight,
  v_fc_bias,
  v_fc_weight,
  v_first_conv,
  v_deep_conv,
  e_conv_bias,
  e_bn_bias,
  e_bn_weight,
  e_fc_bias,
  e_fc_weight,
  e_first_conv,
  e_deep_conv,
  // The local arena: once per rank.
  g_conv_bias,
  g_bn_bias,
  g_bn_weight,
  g_fc_bias,
  g_fc_weight,
  g_first_conv,
  g_deep_conv,
  r_result,
  r_accumulated,
  i_a_label,
  i_a_data,
  i_b_label,
  i_b_data,
  // Transient: these three share one pool of the local arena, placed by lifetime.
  f_feature,
  f_gradient,
  t_temp,
};

inline constexpr int region_count = static_cast<int>(Region::t_temp) + 1;

enum class Arena : std::uint8_t { shared, local };

constexpr Arena arena_of(Region region) { return region < Region::g_conv_bias ? Arena::shared : Arena::local; }

/// Regions side by side, both ends included.
struct RegionRange {
  Region first = Region::t_temp;
  Region last = Region::t_temp;

  constexpr bool contains(Region region) const { return region >= first && region <= last; }

  friend constexpr bool operator==(const RegionRange&, const RegionRange&) = default;
};

/// What an optimizer decays: the weights that multiply features.
inline constexpr RegionRange weight_range{Region::w_fc_weight, Region::w_deep_conv};
/// What it never decays: biases and the parameters of batch normalisation.
inline constexpr RegionRange bias_range{Region::w_conv_bias, Region::w_fc_bias};
inline constexpr RegionRange parameter_range{bias_range.first, weight_range.last};
inline constexpr int parameter_region_count =
    static_cast<int>(parameter_range.last) - static_cast<int>(parameter_range.first) + 1;

constexpr bool is_bias(Region region) { return bias_range.contains(region); }
constexpr bool is_weight(Region region) { return weight_range.contains(region); }
constexpr bool is_parameter(Region region) { return parameter_range.contains(region); }
constexpr bool is_moment(Region region) { return region >= Region::m_conv_bias && region <= Region::v_deep_conv; }
constexpr bool is_average(Region region) { return region >= Region::e_conv_bias && region <= Region::e_deep_conv; }
constexpr bool is_gradient(Region region) { return region >= Region::g_conv_bias && region <= Region::g_deep_conv; }
constexpr bool is_input(Region region) { return region >= Region::i_a_label && region <= Region::i_b_data; }
constexpr bool is_transient(Region region) { return region >= Region::f_feature; }
/// Whether the first dimension counts the rows of the batch.
constexpr bool is_batched(Region region) { return is_input(region) || is_transient(region); }

/// What the planner keeps of the same shape as each parameter, region by region in the order of the parameters.
enum class Image : std::uint8_t { moment1, moment2, average, gradient };

constexpr Region first_region(Image image) {
  switch (image) {
    case Image::moment1: return Region::m_conv_bias;
    case Image::moment2: return Region::v_conv_bias;
    case Image::average: return Region::e_conv_bias;
    case Image::gradient: return Region::g_conv_bias;
  }
  return Region::t_temp;
}

/// The region that holds the images of a region of parameters.
constexpr Region image_of(Region parameters, Image image) {
  const int within = static_cast<int>(parameters) - static_cast<int>(parameter_range.first);
  return static_cast<Region>(static_cast<int>(first_region(image)) + within);
}
constexpr RegionRange image_of(RegionRange parameters, Image image) {
  return {image_of(parameters.first, image), image_of(parameters.last, image)};
}

/// The copies of all weights in the step's precision.
inline constexpr RegionRange working_range{Region::a_fc_weight, Region::a_deep_conv};

/// Weights and all that has their shapes in fp32.
constexpr bool is_weight_or_image(Region region) {
  if (is_weight(region)) return true;
  for (const Image image : {Image::moment1, Image::moment2, Image::average, Image::gradient}) {
    if (image_of(weight_range, image).contains(region)) return true;
  }
  return false;
}

constexpr std::string_view name_of(Region region) {
  constexpr std::string_view names[] = {
      "w_conv_bias",   "w_bn_bias",      "w_bn_weight",  "w_fc_bias",    "w_fc_weight",   "w_first_conv", "w_deep_conv",
      "w_eq_bias",     "w_eq_scale",     "a_fc_weight",  "a_first_conv", "a_deep_conv",   "b_mean",       "b_variance",
      "s_scalar_fp32", "s_scalar_int32", "n_square_sum", "m_conv_bias",  "m_bn_bias",     "m_bn_weight",  "m_fc_bias",
      "m_fc_weight",   "m_first_conv",   "m_deep_conv",  "v_conv_bias",  "v_bn_bias",     "v_bn_weight",  "v_fc_bias",
      "v_fc_weight",   "v_first_conv",   "v_deep_conv",  "e_conv_bias",  "e_bn_bias",     "e_bn_weight",  "e_fc_bias",
      "e_fc_weight",   "e_first_conv",   "e_deep_conv",  "g_conv_bias",  "g_bn_bias",     "g_bn_weight",  "g_fc_bias",
      "g_fc_weight",   "g_first_conv",   "g_deep_conv",  "r_result",     "r_accumulated", "i_a_label",    "i_a_data",
      "i_b_label",     "i_b_data",       "f_feature",    "f_gradient",   "t_temp",
  };
  static_assert(sizeof(names) / sizeof(names[0]) == region_count);
  return names[static_cast<int>(region)];
}

constexpr std::string_view name_of(const RegionRange& range) {
  return range == weight_range ? "weights" : range == bias_range ? "biases" : "regions";
}

static_assert(image_of(parameter_range.last, Image::moment1) == Region::m_deep_conv);
static_assert(image_of(parameter_range.last, Image::moment2) == Region::v_deep_conv);
static_assert(image_of(parameter_range.last, Image::average) == Region::e_deep_conv);
static_assert(image_of(parameter_range.last, Image::gradient) == Region::g_deep_conv);

}  // namespace tr
