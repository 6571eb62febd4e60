#include "tr/exec/cuda_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/cuda/metrics.h"
#include "kernels/cuda/relu.h"
#include "kernels/cuda/softmax_ce.h"
#include "tr/base/error.h"
#include "tr/exec/cuda_working_copies.h"

namespace tr {
namespace {

/// What a matrix product may use; NVIDIA advises as much for the newest GPUs.
constexpr std::int64_t workspace_limit = std::int64_t{32} << 20;

/// Bias and activation inside the product would save a pass over its result. But the library's ReLU turns a NaN into 0,
/// which would hide a step that has gone wrong, and its bias has the output's type, which here is fp32 always: so it
/// adds a bias where nothing follows, and bias_forward() does the rest.
bool product_adds_bias(const Node& node, const CudaOperand& bias, const CudaOperand& z) {
  return bias.data != nullptr && z.data == nullptr && node.attributes.activation == Activation::none;
}

cuda::BiasBackward bias_backward_of(const std::array<CudaOperand, 6>& in, const std::array<CudaOperand, 6>& out) {
  return {.dy = in[0].values(),
          .y = in[1].values(),
          .rows = in[0].shape.n,
          .columns = in[0].shape.sample_size(),
          .dz = out[0].values(),
          .db = out[1].as<float>()};
}

bool is_product(OpKind op) {
  return op == OpKind::fc_forward || op == OpKind::fc_backward_weight || op == OpKind::fc_backward_data;
}

cuda::FcSpec spec_of(const Node& node, const std::array<CudaOperand, 6>& in, const std::array<CudaOperand, 6>& out) {
  cuda::FcSpec spec{.rows = in[0].shape.n, .input = float_type_of(in[0].dtype)};
  // The one operand that has the weight's shape.
  const CudaOperand& weight = node.op == OpKind::fc_backward_weight ? out[0] : in[1];
  spec.in = weight.shape.c;
  spec.out = weight.shape.n;
  if (node.op == OpKind::fc_backward_weight) spec.pass = cuda::FcPass::backward_weight;
  if (node.op == OpKind::fc_backward_data) spec.pass = cuda::FcPass::backward_data;
  const CudaOperand& result = node.op == OpKind::fc_forward && out[1].data != nullptr ? out[1] : out[0];
  spec.output = float_type_of(result.dtype);
  if (node.op == OpKind::fc_forward && product_adds_bias(node, in[2], out[1])) spec.bias = in[2].data;
  return spec;
}

}  // namespace

cuda::Values CudaOperand::values() const {
  if (data == nullptr) return {};
  return {data, float_type_of(dtype)};
}

std::string describe(const Node& node) {
  if (node.layer < 0) return std::string(name_of(node.op));
  return fmt::format("{} of layer {}", name_of(node.op), node.layer);
}

namespace {

/// The operands that a node cannot do without, as bits of their places.
struct Needs {
  unsigned in = 0;
  unsigned out = 0;
};

Needs needs_of(OpKind op) {
  switch (op) {
    case OpKind::fc_forward:
    case OpKind::fc_backward_weight:
    case OpKind::fc_backward_data:
    case OpKind::relu_backward: return {0b11, 0b1};
    case OpKind::fc_backward_bias: return {0b1, 0};
    case OpKind::relu_forward: return {0b1, 0b1};
    case OpKind::softmax_ce: return {0b111, 0b111};
    case OpKind::softmax_ce_evaluate: return {0b111, 0b110};
    case OpKind::accumulate_metrics: return {0b11, 0b11};
    case OpKind::advance_step: return {0b111, 0b111};
    case OpKind::update:
    case OpKind::reduce_gradients: return {0, 0b1};
    case OpKind::meet: break;
  }
  return {};
}

void require_operands(const Node& node) {
  const Needs needs = needs_of(node.op);
  for (std::size_t i = 0; i < node.in.size(); ++i) {
    const bool in = (needs.in >> i & 1U) != 0 && node.in[i] < 0;
    if (!in && ((needs.out >> i & 1U) == 0 || node.out[i] >= 0)) continue;
    throw ValueError(fmt::format("{} lacks its {} {}", describe(node), in ? "input" : "output", i));
  }
}

}  // namespace

CudaOps::CudaOps(const Plan& plan, const CudaArenas& arenas, const Variant& variant, const cuda::MatmulLibrary& library)
    : plan_(&plan), arenas_(&arenas), variant_(variant) {
  const int nodes = plan.atlas[variant.kind].nodes.size();
  products_.resize(static_cast<std::size_t>(nodes));
  node_workspace_.resize(static_cast<std::size_t>(nodes));
  for (int i = 0; i < nodes; ++i) prepare(i, library);
}

void CudaOps::prepare(int i, const cuda::MatmulLibrary& library) {
  require_operands(node(i));
  const Places at = places_of(node(i), 0);
  std::int64_t& bytes = node_workspace_[static_cast<std::size_t>(i)];
  if (is_product(node(i).op)) {
    auto& product = products_[static_cast<std::size_t>(i)];
    product.emplace(library, spec_of(node(i), at.in, at.out), workspace_limit, describe(node(i)));
    bytes = product->workspace_bytes();
  } else if (node(i).op == OpKind::fc_backward_bias) {
    bytes = cuda::bias_backward_workspace(bias_backward_of(at.in, at.out));
  }
  std::int64_t& most = workspace_bytes_[static_cast<std::size_t>(stream_of(node(i)))];
  most = std::max(most, bytes);
}

Stream CudaOps::stream_of(const Node& node) const {
  if (node.stream != Stream::compute) return node.stream;
  bool gradients_alone = false;
  for (const int id : node.out) {
    if (id < 0) continue;
    if (!is_gradient(plan_->tensors[id].tensor.region)) return Stream::compute;
    gradients_alone = true;
  }
  return gradients_alone ? Stream::update : Stream::compute;
}

const float* CudaOps::loss_scale() const {
  if (plan_->spec.precision != Precision::fp16) return nullptr;
  return arenas_->at<const float>(plan_->tensors[plan_->fixed[Scalar::loss_scale]].tensor);
}

CudaOperand CudaOps::operand(int id, int slot) const {
  if (id < 0) return {};
  const bool averaged = variant_.averaged && is_parameter(plan_->tensors[id].tensor.region);
  const int stands_for = averaged ? image_of(*plan_, id, Image::average) : plan_->fixed.in_slot(id, slot);
  const DTensor& tensor = plan_->tensors[stands_for].tensor;
  const bool planned = variant_.rows == Variant::as_planned || !is_batched(tensor.region);
  return {arenas_->address(tensor), planned ? tensor.shape : tensor.shape.with_rows(variant_.rows), tensor.dtype};
}

CudaOps::Places CudaOps::places_of(const Node& node, int slot) const {
  Places at;
  for (std::size_t i = 0; i < node.in.size(); ++i) {
    at.in[i] = operand(node.in[i], slot);
    at.out[i] = operand(node.out[i], slot);
  }
  at.total_rows = node.attributes.total_rows != 0 ? node.attributes.total_rows : variant_.total_rows;
  if (at.total_rows == 0) at.total_rows = at.in[0].shape.n;
  return at;
}

void CudaOps::issue_product(CudaTask& task, int i, const cuda::FcOperands& operands, void* workspace) const {
  const cuda::FcPlan& product = *products_[static_cast<std::size_t>(i)];
  task.issue = [&product, operands, workspace](cudaStream_t stream) { product.run(operands, workspace, stream); };
}

void CudaOps::issue_fc_forward(CudaTask& task, int i, const Places& at) const {
  const auto& [x, weight, bias, none1, none2, none3] = at.in;
  const CudaOperand& y = at.out[0];
  const CudaOperand& z = at.out[1];
  const CudaOperand& result = z.data != nullptr ? z : y;
  const cuda::FcOperands operands{.x = x.data, .weight = weight.data, .dz = nullptr, .result = result.data};
  issue_product(task, i, operands, at.workspace);
  const Activation activation = node(i).attributes.activation;
  const bool plain = bias.data == nullptr && activation == Activation::none && z.data == nullptr;
  if (plain || product_adds_bias(node(i), bias, z)) return;
  const cuda::BiasForward rest{.z = result.values(),
                               .bias = bias.as<const float>(),
                               .activation = activation,
                               .rows = y.shape.n,
                               .columns = y.shape.sample_size(),
                               .y = y.values()};
  task.issue = [product = std::move(task.issue), rest](cudaStream_t stream) {
    product(stream);
    cuda::bias_forward(rest, stream);
  };
}

namespace {

using Operands = std::array<CudaOperand, 6>;

void issue_bias_backward(CudaTask& task, const Operands& in, const Operands& out, void* workspace) {
  cuda::BiasBackward bias = bias_backward_of(in, out);
  bias.workspace = static_cast<float*>(workspace);
  task.issue = [bias](cudaStream_t stream) { cuda::bias_backward(bias, stream); };
}

void issue_relu_forward(CudaTask& task, const Operands& in, const Operands& out) {
  const cuda::ReluForward relu{.x = in[0].values(), .y = out[0].values(), .count = in[0].shape.size()};
  task.issue = [relu](cudaStream_t stream) { cuda::relu_forward(relu, stream); };
}

void issue_relu_backward(CudaTask& task, const Operands& in, const Operands& out) {
  const cuda::ReluBackward relu{
      .dy = in[0].values(), .y = in[1].values(), .dx = out[0].values(), .count = in[0].shape.size()};
  task.issue = [relu](cudaStream_t stream) { cuda::relu_backward(relu, stream); };
}

void issue_softmax_ce(CudaTask& task, const Operands& in, const Operands& out, std::int64_t total_rows,
                      const float* loss_scale) {
  const cuda::SoftmaxCe loss{.logits = in[0].values(),
                             .labels = in[1].as<const std::int32_t>(),
                             .rows = in[0].shape.n,
                             .classes = in[0].shape.sample_size(),
                             .smoothing = in[2].as<const float>(),
                             .total_rows = total_rows,
                             .loss_scale = loss_scale,
                             .d_logits = out[0].values(),
                             .row_loss = out[1].as<float>(),
                             .row_rank = out[2].as<std::int32_t>()};
  task.issue = [loss](cudaStream_t stream) { cuda::softmax_ce(loss, stream); };
}

void issue_metrics(CudaTask& task, const Operands& in, const Operands& out) {
  const cuda::MetricSums sums{.row_loss = in[0].as<const float>(),
                              .row_rank = in[1].as<const std::int32_t>(),
                              .rows = in[0].shape.n,
                              .result = out[0].as<double>(),
                              .accumulated = out[1].as<double>()};
  task.issue = [sums](cudaStream_t stream) { cuda::accumulate_metrics(sums, stream); };
}

}  // namespace

CudaTask CudaOps::bind(int i, int slot, const CudaWorkspaces& workspaces) const {
  const Node& what = node(i);
  CudaTask task{.name = describe(what), .stream = stream_of(what), .accesses = {}, .issue = {}};
  Places at = places_of(what, slot);
  at.workspace = workspaces[static_cast<std::size_t>(task.stream)];
  for (const CudaOperand& in : at.in) task.reads(in.data, in.bytes());
  for (const CudaOperand& out : at.out) task.writes(out.data, out.bytes());
  task.writes(at.workspace, node_workspace_[static_cast<std::size_t>(i)]);
  std::erase_if(task.accesses, [](const CudaAccess& access) { return access.data == nullptr || access.bytes == 0; });
  const auto& [first, second, third, none1, none2, none3] = at.in;
  switch (what.op) {
    case OpKind::fc_forward: issue_fc_forward(task, i, at); break;
    case OpKind::fc_backward_weight:
      issue_product(task, i, {.x = first.data, .weight = nullptr, .dz = second.data, .result = at.out[0].data},
                    at.workspace);
      break;
    case OpKind::fc_backward_data:
      issue_product(task, i, {.x = nullptr, .weight = second.data, .dz = first.data, .result = at.out[0].data},
                    at.workspace);
      break;
    case OpKind::fc_backward_bias: issue_bias_backward(task, at.in, at.out, at.workspace); break;
    case OpKind::relu_forward: issue_relu_forward(task, at.in, at.out); break;
    case OpKind::relu_backward: issue_relu_backward(task, at.in, at.out); break;
    case OpKind::softmax_ce:
      if (loss_scale() != nullptr) task.reads(loss_scale(), sizeof(float));
      issue_softmax_ce(task, at.in, at.out, at.total_rows, loss_scale());
      break;
    case OpKind::softmax_ce_evaluate: issue_softmax_ce(task, at.in, at.out, at.total_rows, nullptr); break;
    case OpKind::accumulate_metrics: issue_metrics(task, at.in, at.out); break;
    case OpKind::advance_step:
    case OpKind::meet:
    case OpKind::reduce_gradients:
    case OpKind::update: throw Error(fmt::format("internal error: {} is bound elsewhere", name_of(what.op)));
  }
  return task;
}

}  // namespace tr
