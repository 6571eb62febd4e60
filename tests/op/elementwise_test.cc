#include <doctest/doctest.h>

#include "tests/op/layer_probe.h"
#include "tr/op/flatten.h"
#include "tr/op/relu.h"

namespace tr {

TEST_CASE("flatten is a matter of shapes: no node, no tensor") {
  CHECK(described(flatten()) == "flatten()");
  CHECK(flatten().output({8, 4, 3, 2}) == Shape{8, 1, 1, 24});
  CHECK(objection(flatten(), {1, 1 << 16, 1 << 15, 1}) ==
        "a sample of more than 2147483647 values cannot be flattened");
  const LayerProbe probe(flatten(), {.layer = 0, .in = {8, 4, 3, 2}, .out = {}}, Precision::fp32, DType::fp32);
  CHECK(probe.nodes.size() == 0);
  CHECK(probe.ids.output == probe.ids.input);
}

TEST_CASE("relu keeps shape and type, and passes its gradient in place") {
  const Site site{.layer = 1, .in = {8, 4, 3, 2}, .out = {}, .needs_data_gradient = true};
  for (Precision precision : {Precision::fp32, Precision::bf16}) {
    const LayerProbe probe(relu(), site, precision, DType::fp32);
    CHECK(probe[probe.ids.output].shape == Shape{8, 4, 3, 2});
    CHECK(probe[probe.ids.output].dtype == probe[probe.ids.input].dtype);
    CHECK(probe.nodes[1].op == OpKind::relu_backward);
    CHECK(probe.nodes[1].in[1] == probe.ids.output);
    CHECK(probe.nodes[1].out[0] == probe.nodes[1].in[0]);
    CHECK(probe.data_gradient == probe.nodes[1].in[0]);
  }
  CHECK(relu().keeps_output(site));
}

TEST_CASE("relu has no backward pass where no parameter waits for it") {
  const Site site{.layer = 0, .in = {8, 1, 1, 5}, .out = {}};
  const LayerProbe probe(relu(), site, Precision::fp32, DType::fp32);
  CHECK(probe.count(OpKind::relu_backward) == 0);
  CHECK(probe.data_gradient == -1);
  CHECK_FALSE(relu().keeps_output(site));
}

}  // namespace tr
