#include "tr/algo/loss.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>
#include <type_traits>

namespace tr {
namespace {

static_assert(CrossEntropyLoss().label_smoothing() == 0.0);
static_assert(CrossEntropyLoss().label_smoothing(0.1).label_smoothing() == 0.1);

/// Whether this smoothing, in thousandths, can be part of a constant expression.
template <int thousandths>
concept Constant = requires {
  typename std::bool_constant<(CrossEntropyLoss().label_smoothing(thousandths / 1000.0), true)>;
};
static_assert(Constant<0> && Constant<200>);
static_assert(!Constant<-1> && !Constant<201>, "a bad constant must not compile");

TEST_CASE("smoothing may be anything from 0 to 0.2, given as float or as double") {
  for (double epsilon : {0.0, -0.0, 1e-300, 0.1, 0.2}) {
    CHECK(CrossEntropyLoss().label_smoothing(epsilon).label_smoothing() == epsilon);
  }
  CHECK_NOTHROW(CrossEntropyLoss().label_smoothing(0.2F));
}

TEST_CASE("smoothing outside its range is rejected and leaves the setting alone") {
  CrossEntropyLoss loss;
  loss.label_smoothing(0.05);
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (double epsilon : {-1e-9, 0.2000001, 1.0, inf, -inf, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(loss.label_smoothing(epsilon), ValueError);
  }
  CHECK_THROWS_WITH(loss.label_smoothing(-0.5), "label_smoothing is -0.5, legal is 0 to 0.2");
  CHECK(loss.label_smoothing() == 0.05);
}

}  // namespace
}  // namespace tr
