#include "tr/exec/cuda_step.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/cuda/range.h"
#include "tr/exec/update.h"

namespace tr {
namespace {

class StepMaker {
 public:
  explicit StepMaker(const CudaStepParts& parts)
      : parts_(parts), kind_(parts.ops->variant().kind), judged_(!has_update()) {}

  CudaSchedule make() {
    const bool trains = has_update();
    if (trains) add_rate();
    const int nodes = plan().atlas[kind_].nodes.size();
    for (int i = 0; i < nodes; ++i) add_node(i);
    if (trains) parts_.update->add_loss_scale(schedule_);
    add_results(trains ? Stream::update : Stream::compute);
    schedule_.seal();
    return std::move(schedule_);
  }

 private:
  const Plan& plan() const { return *parts_.plan; }
  bool has_update() const {
    const FlatList<Node>& nodes = plan().atlas[kind_].nodes;
    return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.op == OpKind::update; });
  }
  void add_bound(int node) { schedule_.add(parts_.ops->bind(node, parts_.slot, parts_.workspaces)); }
  /// Once a step, all of them together.
  void sum_gradients() {
    if (std::exchange(summed_, true)) return;
    parts_.update->add_sum_of_gradients(schedule_);
    parts_.update->add_overflow_check(schedule_);
  }
  void judge() {
    if (!std::exchange(judged_, true)) parts_.update->add_judgement(schedule_, parts_.slot);
  }
  void add_node(int i);
  void add_metrics(int i);
  void add_update(const Node& node);
  void add_rate();
  void add_results(Stream stream);

  CudaStepParts parts_;
  GraphKind kind_;
  bool judged_;
  bool summed_ = false;
  CudaSchedule schedule_;
};

void StepMaker::add_node(int i) {
  const Node& node = plan().atlas[kind_].nodes[i];
  switch (node.op) {
    // What ranks meet for is done by the collectives.
    case OpKind::meet: return;
    case OpKind::advance_step: return parts_.update->add_advance(schedule_);
    case OpKind::accumulate_metrics: return add_metrics(i);
    case OpKind::reduce_gradients:
      require_complete(node, plan());
      sum_gradients();
      return parts_.update->add_square_sums(schedule_, node);
    case OpKind::update: return add_update(node);
    default: return add_bound(i);
  }
}

void StepMaker::add_metrics(int i) {
  add_bound(i);
  parts_.update->add_sum_of_results(schedule_, judged_ ? Stream::compute : Stream::update, parts_.slot);
  // Known early, while the backward pass still runs.
  if (!parts_.update->judges_gradients()) judge();
}

void StepMaker::add_update(const Node& node) {
  require_complete(node, plan());
  sum_gradients();
  judge();
  parts_.update->add_update(schedule_, node);
}

void StepMaker::add_rate() {
  const std::byte* from = parts_.rate;
  std::byte* to = parts_.arenas->address(plan().tensors[plan().fixed[Scalar::learning_rate]].tensor);
  CudaTask task{.name = "copy of the learning rate", .stream = Stream::transfer, .accesses = {}, .issue = {}};
  task.reads(from, sizeof(float));
  task.writes(to, sizeof(float));
  task.issue = [from, to](cudaStream_t stream) { cuda::copy(from, to, sizeof(float), stream); };
  schedule_.add(std::move(task));
}

void StepMaker::add_results(Stream stream) {
  const std::byte* from = parts_.arenas->address(Region::r_result);
  std::byte* to = parts_.results;
  const std::int64_t bytes = plan().memory.region_bytes[static_cast<std::size_t>(Region::r_result)];
  CudaTask task{.name = "copy of the results", .stream = stream, .accesses = {}, .issue = {}};
  task.reads(from, bytes);
  task.writes(to, bytes);
  task.issue = [from, to, bytes](cudaStream_t on) { cuda::copy(from, to, bytes, on); };
  schedule_.add(std::move(task));
}

}  // namespace

CudaSchedule make_step(const CudaStepParts& parts) { return StepMaker(parts).make(); }

}  // namespace tr
