#pragma once

#include <array>

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

/// The parts one after another. `seq()` holds nothing, which only a model as a whole must not.
template <BluePrintPart... Parts>
constexpr auto seq(const Parts&... parts) {
  BluePrint<(detail::length<Parts> + ... + 0)> result;
  [[maybe_unused]] int at = 0;
  (detail::append(result, at, parts), ...);
  return result;
}

/// The parts in sequence, `Times` times over; every repetition has parameters of its own.
template <int Times, BluePrintPart... Parts>
constexpr auto repeat(const Parts&... parts) {
  static_assert(Times >= 1, "repeat<Times>(…) takes a positive number of repetitions");
  constexpr int length = (detail::length<Parts> + ... + 0);
  const BluePrint<length> body = seq(parts...);
  BluePrint<Times * length> result;
  int at = 0;
  for (int i = 0; i < Times; ++i) detail::append(result, at, body);
  return result;
}

}  // namespace tr
