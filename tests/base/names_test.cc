#include <doctest/doctest.h>

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
    CHECK(is_parameter(region) == (kind == 'w'));
    CHECK(is_moment(region) == (kind == 'm' || kind == 'v'));
    CHECK(is_input(region) == (kind == 'i'));
    CHECK(is_transient(region) == (kind == 'f' || kind == 't'));
    CHECK((arena_of(region) == Arena::shared) == (kind == 'w' || kind == 'a' || kind == 's' || is_moment(region)));
  }
}

}  // namespace tr
