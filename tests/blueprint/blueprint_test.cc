#include "tr/blueprint/blueprint.h"

#include <doctest/doctest.h>

#include <array>
#include <concepts>

namespace tr {

TEST_CASE("seq and repeat nest and keep the order") {
  constexpr auto blueprint = seq(flatten(), repeat<2>(fc(5), seq(relu(), fc(6))), fc(10));
  static_assert(blueprint.size() == 8);
  const std::array<LayerKind, 8> kinds{LayerKind::flatten, LayerKind::fc,   LayerKind::relu, LayerKind::fc,
                                       LayerKind::fc,      LayerKind::relu, LayerKind::fc,   LayerKind::fc};
  for (int i = 0; i < 8; ++i) CHECK(blueprint.layers[i].kind == kinds[i]);
  CHECK(blueprint.layers[4].fc.out == 5);
  CHECK(blueprint.layers[6].fc.out == 6);
}

TEST_CASE("a blueprint's type depends on its length alone") {
  static_assert(std::same_as<decltype(seq(fc(3), relu())), decltype(seq(relu(), seq(flatten())))>);
  static_assert(std::same_as<decltype(repeat<3>(fc(3))), BluePrint<3>>);
  static_assert(seq().size() == 0);
  constexpr auto nested = seq(seq(), flatten(), seq(seq(fc(4).bias(false))));
  static_assert(nested.size() == 2);
  CHECK_FALSE(nested.layers[1].fc.has_bias);
}

}  // namespace tr
