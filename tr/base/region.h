#pragma once

#include <cstdint>
#include <string_view>

namespace tr {

/// The semantic class of a tensor. Tensors of one region lie side by side and regions follow each other in the order of
/// this list, so that one range operation covers a whole class. First letter: w weight, a working copy in the step's
/// precision, s scalar, m and v first and second moment, g gradient, r result, i input (slots a and b), f activation, t
/// temporary.
enum class Region : std::uint8_t {
  // The shared arena: once per memory space. What the optimizer asks for comes last, since only a run knows it.
  w_fc_bias,
  w_fc_weight,
  a_fc_weight,
  s_scalar_fp32,
  s_scalar_int32,
  m_fc_bias,
  m_fc_weight,
  v_fc_bias,
  v_fc_weight,
  // The local arena: once per rank.
  g_fc_bias,
  g_fc_weight,
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

constexpr Arena arena_of(Region region) { return region < Region::g_fc_bias ? Arena::shared : Arena::local; }

constexpr bool is_bias(Region region) { return region == Region::w_fc_bias; }
constexpr bool is_weight(Region region) { return region == Region::w_fc_weight; }
constexpr bool is_parameter(Region region) { return is_bias(region) || is_weight(region); }
constexpr bool is_moment(Region region) { return region >= Region::m_fc_bias && region <= Region::v_fc_weight; }
constexpr bool is_input(Region region) { return region >= Region::i_a_label && region <= Region::i_b_data; }
constexpr bool is_transient(Region region) { return region >= Region::f_feature; }
/// Whether the first dimension counts the rows of the batch.
constexpr bool is_batched(Region region) { return is_input(region) || is_transient(region); }

constexpr std::string_view name_of(Region region) {
  constexpr std::string_view names[] = {
      "w_fc_bias", "w_fc_weight", "a_fc_weight", "s_scalar_fp32", "s_scalar_int32", "m_fc_bias",     "m_fc_weight",
      "v_fc_bias", "v_fc_weight", "g_fc_bias",   "g_fc_weight",   "r_result",       "r_accumulated", "i_a_label",
      "i_a_data",  "i_b_label",   "i_b_data",    "f_feature",     "f_gradient",     "t_temp",
  };
  static_assert(sizeof(names) / sizeof(names[0]) == region_count);
  return names[static_cast<int>(region)];
}

}  // namespace tr
