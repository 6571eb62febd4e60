#include "kernels/cpu/list.h"

#include <fmt/format.h>

#include "kernels/cpu/fc.h"
#include "kernels/cpu/metrics.h"
#include "kernels/cpu/relu.h"
#include "kernels/cpu/softmax_ce.h"
#include "tr/base/error.h"

namespace tr::cpu {
namespace {

struct Entry {
  OpKind kind;
  Kernel (*make)(const Operation&, Scratch&);
};

/// The list of operations; a new one is one line.
constexpr Entry entries[] = {
    {OpKind::fc_forward, make_fc_forward},
    {OpKind::fc_backward_bias, make_fc_backward_bias},
    {OpKind::fc_backward_weight, make_fc_backward_weight},
    {OpKind::fc_backward_data, make_fc_backward_data},
    {OpKind::relu_forward, make_relu_forward},
    {OpKind::relu_backward, make_relu_backward},
    {OpKind::softmax_ce, make_softmax_ce},
    {OpKind::softmax_ce_evaluate, make_softmax_ce_evaluate},
    {OpKind::accumulate_metrics, make_accumulate_metrics},
};

}  // namespace

Kernel make_kernel(const Operation& operation, Scratch& scratch) {
  for (const Entry& entry : entries) {
    if (entry.kind == operation.kind) return entry.make(operation, scratch);
  }
  throw DeviceError(fmt::format("the CPU has no kernel for {}", name_of(operation.kind)));
}

}  // namespace tr::cpu
