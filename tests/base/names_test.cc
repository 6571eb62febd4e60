#include <doctest/doctest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "tr/base/region.h"
#include "tr/base/type_name.h"

namespace tr {
namespace {

struct Local {};

template <class T>
struct Of {};

static_assert(type_name<int>() == "int");
static_assert(type_name<Local>() == "Local");
static_assert(name_of(Region::w_fc_bias) == "w_fc_bias");
static_assert(name_of(Region::t_temp) == "t_temp");

}  // namespace

TEST_CASE("a type is named without its namespaces") {
  CHECK(type_name<Of<Local>>().substr(0, 3) == "Of<");
  CHECK(type_name<std::vector<int>>().substr(0, 6) == "vector");
}

TEST_CASE("every region is of one kind") {
  for (int r = 0; r < region_count; ++r) {
    const Region region = static_cast<Region>(r);
    CAPTURE(name_of(region));
    const char kind = name_of(region)[0];
    CHECK(is_parameter(region) == (kind == 'w' && name_of(region).substr(0, 4) != "w_eq"));
    CHECK(is_average(region) == (kind == 'e'));
    CHECK(is_gradient(region) == (kind == 'g'));
    CHECK(is_moment(region) == (kind == 'm' || kind == 'v'));
    CHECK(is_input(region) == (kind == 'i'));
    CHECK(is_transient(region) == (kind == 'f' || kind == 't'));
    CHECK((arena_of(region) == Arena::shared) == (std::string_view("wabsnmve").find(kind) != std::string_view::npos));
  }
}

TEST_CASE("an image's region is named as its parameter's behind the first letter") {
  for (const auto& [image, letter] : {std::pair(Image::moment1, 'm'), std::pair(Image::moment2, 'v'),
                                      std::pair(Image::average, 'e'), std::pair(Image::gradient, 'g')}) {
    for (int r = 0; r < parameter_region_count; ++r) {
      const Region parameters = static_cast<Region>(static_cast<int>(parameter_range.first) + r);
      const std::string_view name = name_of(image_of(parameters, image));
      CHECK(name[0] == letter);
      CHECK(name.substr(1) == name_of(parameters).substr(1));
    }
  }
}

}  // namespace tr
