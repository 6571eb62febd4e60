#include "tr/op/fc.h"

#include <doctest/doctest.h>

#include "tests/op/layer_probe.h"

namespace tr {
namespace {

constexpr Site flat_site{.layer = 3, .in = {8, 1, 1, 20}, .out = {}, .needs_data_gradient = true};

}  // namespace

TEST_CASE("fc: text, shape, parameters and operations") {
  CHECK(described(fc(7)) == "fc(out=7)");
  CHECK(described(fc(7).bias(false)) == "fc(out=7, bias=false)");
  CHECK(objection(fc(7), {1, 1, 1, 20}) == "");
  CHECK(objection(fc(0), {1, 1, 1, 20}) == "a width of 0 is not positive");
  CHECK(objection(fc(7), {1, 2, 1, 20}) == "its input 2x1x20 is not flat; put flatten() before it");
  CHECK(fc(7).output({8, 1, 1, 20}) == Shape{8, 1, 1, 7});
  CHECK(fc(7).parameter_count({1, 1, 1, 20}) == 147);
  CHECK(fc(7).bias(false).parameter_count({1, 1, 1, 20}) == 140);
  CHECK(fc(7).forward_flops({1, 1, 1, 20}) == 280);
}

TEST_CASE("fc in fp32 has masters alone, and its gradient is written in place") {
  const LayerProbe probe(fc(7), flat_site, Precision::fp32, DType::fp32);
  CHECK(probe[probe.ids.weight].shape == Shape{7, 1, 1, 20});
  CHECK(probe.ids.working_weight == -1);
  CHECK(probe.nodes[0].out == operands(probe.ids.output));
  // No activation: dz is dy, and only the bias needs a pass over it.
  CHECK(probe.nodes[1].op == OpKind::fc_backward_bias);
  CHECK(probe.nodes[1].out == operands(-1, probe.ids.bias_gradient));
  CHECK(probe.nodes[2].op == OpKind::fc_backward_weight);
  CHECK(probe.nodes[3].op == OpKind::fc_backward_data);
  CHECK(probe[probe.data_gradient].shape == Shape{8, 1, 1, 20});
}

TEST_CASE(
    "fc in bf16 multiplies working copies, keeps the product in fp32 until it is rounded, and converts a gradient") {
  const LayerProbe probe(fc(7), flat_site, Precision::bf16, DType::fp32);
  CHECK(probe[probe.ids.working_weight].dtype == DType::bf16);
  CHECK(probe.nodes[0].in[1] == probe.ids.working_weight);
  CHECK(probe[probe.nodes[0].out[1]].dtype == DType::fp32);
  CHECK(probe[probe.ids.output].dtype == DType::bf16);
  const int dz = probe.nodes[1].out[0];
  CHECK(probe[dz].dtype == DType::bf16);
  CHECK(probe.nodes[2].in == operands(probe.ids.input, dz));
  CHECK(probe[probe.data_gradient].dtype == DType::fp32);
}

TEST_CASE("what feeds the loss stays fp32 in every precision") {
  Site site = flat_site;
  site.feeds_loss = true;
  const LayerProbe probe(fc(7), site, Precision::bf16, DType::bf16);
  CHECK(probe[probe.ids.output].dtype == DType::fp32);
  CHECK(probe.nodes[0].out[1] == -1);
}

TEST_CASE("a fused activation is undone in the pass that sums the bias gradient, and keeps the output alive") {
  Site site = flat_site;
  site.activation = Activation::relu;
  const LayerProbe probe(fc(7), site, Precision::fp32, DType::fp32);
  CHECK(fc(7).keeps_output(site));
  CHECK_FALSE(fc(7).keeps_output(flat_site));
  CHECK(probe.nodes[0].attributes.activation == Activation::relu);
  CHECK(probe.nodes[1].in[1] == probe.ids.output);
  CHECK(probe.nodes[1].out[0] == probe.nodes[1].in[0]);
}

TEST_CASE("nothing is computed that nobody needs") {
  Site first = flat_site;
  first.needs_data_gradient = false;
  const LayerProbe probe(fc(7).bias(false), first, Precision::fp32, DType::fp32);
  CHECK(probe.data_gradient == -1);
  CHECK(probe.count(OpKind::fc_backward_data) == 0);
  CHECK(probe.count(OpKind::fc_backward_bias) == 0);
  CHECK(probe.count(OpKind::fc_backward_weight) == 1);
}

}  // namespace tr
