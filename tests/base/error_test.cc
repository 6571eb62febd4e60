#include "tr/base/error.h"

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

namespace tr {
namespace {

template <class Specific>
void check_caught_as_error() {
  static_assert(std::is_base_of_v<Error, Specific>);
  CHECK_THROWS_WITH_AS(throw Specific("what was wrong"), "what was wrong", Error);
}

TEST_CASE("every error of the library is caught as Error and as std::runtime_error") {
  static_assert(std::is_base_of_v<std::runtime_error, Error>);
  check_caught_as_error<ValueError>();
  check_caught_as_error<ShapeError>();
  check_caught_as_error<StateError>();
  check_caught_as_error<DataError>();
  check_caught_as_error<DeviceError>();
  check_caught_as_error<CheckpointError>();
}

TEST_CASE("a value error names the parameter, the value and what is legal") {
  CHECK_THROWS_WITH_AS(value_error("label_smoothing", 0.25, "0 to 0.2"), "label_smoothing is 0.25, legal is 0 to 0.2",
                       ValueError);
  CHECK_THROWS_WITH_AS(value_error("epochs", -3, "1 or more"), "epochs is -3, legal is 1 or more", ValueError);
}

}  // namespace
}  // namespace tr
