#include "tr/plan/arch.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "tr/blueprint/blueprint.h"

namespace tr {
namespace {

template <int N>
std::string reason(const BluePrint<N>& blueprint, Shape sample = {1, 28, 28, 1}, int rows = 1) {
  constexpr int classes = 10;
  ArchPlan arch;
  TextBuilder error;
  build_arch({blueprint.layers, sample, classes}, {.train_rows = rows}, arch, error);
  return std::string(error.view());
}

template <int N>
ArchPlan arch_of(const BluePrint<N>& blueprint, bool fuse = true) {
  ArchPlan arch;
  TextBuilder error;
  build_arch({blueprint.layers, {1, 28, 28, 1}, 10}, {.fuse = fuse}, arch, error);
  REQUIRE(error.empty());
  return arch;
}

}  // namespace

TEST_CASE("a model that can be built has no reason against it") { CHECK(reason(seq(flatten(), fc(10))) == ""); }

TEST_CASE("the reason names the layer's position, the layer and the numbers at odds") {
  CHECK(reason(seq()) == "the blueprint is an empty seq(): a model needs at least one layer");
  CHECK(reason(seq(flatten(), fc(0), fc(10))) == "layer 1, fc(out=0): a width of 0 is not positive");
  CHECK(reason(seq(flatten(), fc(-3), fc(10))) == "layer 1, fc(out=-3): a width of -3 is not positive");
  CHECK(reason(seq(fc(10))) == "layer 0, fc(out=10): its input 28x28x1 is not flat; put flatten() before it");
  CHECK(reason(seq(flatten(), relu(), fc(11))) ==
        "layer 2, fc(out=11): its output 11 differs from the data set's 10 classes");
  CHECK(reason(seq(relu())) == "layer 0, relu(): its output 28x28x1 differs from the data set's 10 classes");
}

TEST_CASE("sizes that would overflow are refused, not wrapped") {
  constexpr int huge = std::numeric_limits<int>::max();
  CHECK(reason(seq(flatten(), fc(huge), fc(huge), fc(10))) ==
        "layer 1, fc(out=2147483647): its weight of 784 x 2147483647 elements is too large");
  CHECK(reason(seq(flatten(), fc(10)), {1, huge, huge, huge}) ==
        "the data set's sample of 2147483647x2147483647x2147483647 values is too large");
  CHECK(reason(seq(flatten(), fc(10)), {1, 28, 0, 1}) ==
        "the data set's sample of 28x0x1 values has a dimension that is not positive");
  CHECK(reason(seq(flatten(), fc(2000), fc(10)), {1, 28, 28, 1}, 2000000000) ==
        "layer 0, flatten(): a batch of 2000000000 rows x 784 values is too large");
}

TEST_CASE("an activation is merged into the fully connected layer before it, and only there") {
  const ArchPlan arch = arch_of(seq(flatten(), relu(), fc(7), relu(), relu(), fc(10)));
  REQUIRE(arch.size() == 5);
  CHECK(arch[1].record.kind == LayerKind::relu);
  CHECK(arch[2].site.activation == Activation::relu);
  CHECK(arch[3].record.kind == LayerKind::relu);
  CHECK(arch[3].site.layer == 4);
  CHECK(arch[4].site.activation == Activation::none);
  CHECK(arch_of(seq(flatten(), fc(7), relu(), fc(10)), false).size() == 4);
}

TEST_CASE("the gradient travels only to where a layer before has parameters") {
  const ArchPlan arch = arch_of(seq(relu(), flatten(), fc(7), relu(), fc(10)));
  CHECK_FALSE(arch[0].site.needs_data_gradient);
  CHECK_FALSE(arch[2].site.needs_data_gradient);
  CHECK(arch[3].site.needs_data_gradient);
  CHECK(arch[3].site.feeds_loss);
  CHECK_FALSE(arch[2].site.feeds_loss);
}

TEST_CASE("the layer that makes the logits feeds the loss, whatever only hands them on") {
  CHECK(arch_of(seq(flatten(), fc(10), flatten()))[1].site.feeds_loss);
  CHECK_FALSE(arch_of(seq(flatten(), fc(10), flatten()))[2].site.feeds_loss);
  const ArchPlan two = arch_of(seq(flatten(), fc(10), relu(), relu()));
  CHECK_FALSE(two[1].site.feeds_loss);
  CHECK(two[2].site.feeds_loss);
}

}  // namespace tr
