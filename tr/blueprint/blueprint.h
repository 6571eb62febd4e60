#pragma once

#include <array>
#include <concepts>
#include <type_traits>

#include "tr/op/list.h"

namespace tr {

/// A declarative model: layers in order, as plain records. Its type depends on its length alone, so nesting costs the
/// compiler nothing.
template <int N>
struct BluePrint {
  std::array<LayerRecord, N> layers{};

  static constexpr int size() { return N; }
};

namespace detail {

template <class Part>
inline constexpr int length = 1;
template <int N>
inline constexpr int length<BluePrint<N>> = N;

template <int N>
constexpr void append(BluePrint<N>& to, int& at, const LayerRecord& layer) {
  to.layers[at++] = layer;
}
template <int N, int M>
constexpr void append(BluePrint<N>& to, int& at, const BluePrint<M>& part) {
  for (const LayerRecord& layer : part.layers) to.layers[at++] = layer;
}

}  // namespace detail

/// Whatever may stand inside `seq` and `repeat`: a layer, or a blueprint made of layers.
template <class T>
concept BluePrintPart = Layer<T> || requires(const T part) {
  []<int N>(const BluePrint<N>&) {}(part);
};

namespace detail {

/// What a wrong part makes of the whole, so that the compiler complains of that part alone.
struct NoBluePrint {};

template <class Part>
constexpr bool is_part() {
  static_assert(!std::is_function_v<Part>, "a layer is made by a call: write tr::flatten(), not tr::flatten");
  static_assert(std::is_function_v<Part> || std::same_as<Part, NoBluePrint> || BluePrintPart<Part>,
                "seq() and repeat() take layers, such as tr::fc(10), and what seq() and repeat() give");
  return BluePrintPart<Part>;
}

}  // namespace detail

/// The parts one after another, each a BluePrintPart. `seq()` holds nothing, which only a model as a whole must not.
template <class... Parts>
constexpr auto seq(const Parts&... parts) {
  if constexpr ((detail::is_part<Parts>() && ...)) {
    BluePrint<(detail::length<Parts> + ... + 0)> result;
    [[maybe_unused]] int at = 0;
    (detail::append(result, at, parts), ...);
    return result;
  } else {
    return detail::NoBluePrint{};
  }
}

/// The parts in sequence, `Times` times over; every repetition has parameters of its own.
template <int Times, class... Parts>
constexpr auto repeat(const Parts&... parts) {
  static_assert(Times >= 1, "repeat<Times>(…) takes a positive number of repetitions");
  if constexpr ((detail::is_part<Parts>() && ...)) {
    constexpr int length = (detail::length<Parts> + ... + 0);
    const BluePrint<length> body = seq(parts...);
    BluePrint<Times * length> result;
    int at = 0;
    for (int i = 0; i < Times; ++i) detail::append(result, at, body);
    return result;
  } else {
    return detail::NoBluePrint{};
  }
}

}  // namespace tr
