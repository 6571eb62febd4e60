#include "tr/task/simple_task.h"

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <vector>

#include "tr/base/error.h"
#include "tr/dist/rank_pool.h"
#include "tr/exec/cpu_executor.h"
#include "tr/exec/cpu_rank.h"
#include "tr/exec/initialize.h"
#include "tr/task/simple_backend.h"

namespace tr {
namespace {

class CpuSimpleBackend final : public SimpleBackend {
 public:
  CpuSimpleBackend(const Plan& plan, const SimpleTaskConfig& config);

  void write(const DTensor& tensor, std::span<const std::byte> from, int rank) override {
    std::memcpy(arenas_.address(tensor, rank), from.data(), from.size());
  }
  void read(const DTensor& tensor, std::span<std::byte> to, int rank) const override {
    std::memcpy(to.data(), arenas_.address(tensor, rank), to.size());
  }
  void weights_changed() override { refresh_working_copies(plan_, arenas_); }
  StepStatus run(int times) override;

 private:
  const Plan& plan_;
  Arenas arenas_;
  std::vector<std::unique_ptr<CpuExecutor>> executors_;
  // Last, so that its threads end before what they use.
  RankPool pool_;
};

CpuSimpleBackend::CpuSimpleBackend(const Plan& plan, const SimpleTaskConfig& config)
    : plan_(plan),
      arenas_(std::vector<MemoryPlan>(static_cast<std::size_t>(config.ranks), plan.memory)),
      executors_(static_cast<std::size_t>(config.ranks)),
      pool_(config.ranks, set_up_rank_thread) {
  pool_.run([&](ThreadCommunicator& ranks) {
    auto& executor = executors_[static_cast<std::size_t>(ranks.rank())];
    executor = std::make_unique<CpuExecutor>(plan, arenas_, ranks.rank(), config.rule.optimizer);
    executor->prepare({});
    executor->finish();
  });
  init_all(plan, arenas_, 0);
}

StepStatus CpuSimpleBackend::run(int times) {
  StepStatus status = StepStatus::ok;
  pool_.run([&](ThreadCommunicator& ranks) {
    CpuExecutor& executor = *executors_[static_cast<std::size_t>(ranks.rank())];
    for (int i = 0; i < times; ++i) {
      const StepStatus stopped = executor.run(0, 0, ranks);
      ranks.meet();
      const StepStatus agreed = stopped == StepStatus::ok ? executor.status(0) : stopped;
      ranks.meet();
      if (ranks.rank() == 0) status = agreed;
      if (agreed != StepStatus::ok) return;
    }
  });
  return status;
}

std::unique_ptr<SimpleBackend> make_backend(const Plan& plan, const SimpleTaskConfig& config) {
  if (config.device == Device::cpu) return std::make_unique<CpuSimpleBackend>(plan, config);
  if (make_cuda_simple_backend == nullptr) throw DeviceError(built_without_cuda);
  return make_cuda_simple_backend(plan, config);
}

std::string text_of(const Shape& s) { return fmt::format("{}x{}x{}x{}", s.n, s.h, s.w, s.c); }

}  // namespace

class SimpleTask::Impl {
 public:
  explicit Impl(const SimpleTaskConfig& config);

  int tensor(Region region, Shape shape, DType dtype);
  void node(const Node& node);
  void update();
  void compile();
  void set(int id, const Tensor& value);
  void set(int id, const Tensor& value, int rank);
  Tensor fetch(int id, int rank) const;
  StepStatus run(int times);
  const Plan& plan() const { return plan_; }

 private:
  enum class Phase { planning, compiling, compiled };

  void require_compiled(const char* call) const;
  void require_planning(const char* call) const;
  const DTensor& checked(int id) const;
  const DTensor& checked(int id, int rank) const;
  void require_working_copies() const;
  [[noreturn]] void report_illegal_label() const;

  SimpleTaskConfig config_;
  Phase phase_ = Phase::planning;
  Plan plan_;
  std::unique_ptr<SimpleBackend> backend_;
};

SimpleTask::Impl::Impl(const SimpleTaskConfig& config) : config_(config) {
  if (config.ranks < 1) value_error("ranks", config.ranks, "1 or more");
  validate(config.rule.optimizer);
  plan_.spec = with_update({.precision = config.precision, .share_memory = config.share_memory}, config.rule);
  GraphBuilder declare(plan_.tensors, plan_.atlas.graphs[0].nodes, config.precision, 1);
  plan_.fixed = detail::declare_results(declare);
}

void SimpleTask::Impl::require_compiled(const char* call) const {
  if (phase_ == Phase::planning) throw StateError(fmt::format("{}() before compile()", call));
  if (phase_ == Phase::compiling) throw StateError(fmt::format("{}() on a task whose compile() failed", call));
}

void SimpleTask::Impl::require_planning(const char* call) const {
  if (phase_ != Phase::planning) throw StateError(fmt::format("{}() after compile(): the graph is fixed", call));
}

const DTensor& SimpleTask::Impl::checked(int id) const {
  if (id < 0 || id >= plan_.tensors.size()) value_error("the tensor id", id, "an id that tensor() or scalar() gave");
  return plan_.tensors[id].tensor;
}

const DTensor& SimpleTask::Impl::checked(int id, int rank) const {
  if (rank < 0 || rank >= config_.ranks) value_error("rank", rank, "the ranks of the task, counted from 0");
  return checked(id);
}

int SimpleTask::Impl::tensor(Region region, Shape shape, DType dtype) {
  require_planning("tensor");
  if (shape.n < 0 || shape.h < 0 || shape.w < 0 || shape.c < 0) {
    throw ShapeError(fmt::format("a tensor of {}: no dimension is negative", text_of(shape)));
  }
  const int id = plan_.tensors.size();
  return plan_.tensors.push({.tensor = {.id = id, .shape = shape, .dtype = dtype, .region = region}});
}

void SimpleTask::Impl::node(const Node& node) {
  require_planning("node");
  for (const Operands& ids : {node.in, node.out}) {
    for (int id : ids) {
      if (id != -1) checked(id);
    }
  }
  plan_.atlas.graphs[0].nodes.push(node);
}

void SimpleTask::Impl::update() {
  require_planning("update");
  detail::declare_update(plan_.tensors, plan_.spec, plan_.fixed);
  GraphBuilder graph(plan_.tensors, plan_.atlas.graphs[0].nodes, config_.precision, 1);
  detail::append_update(graph, plan_.fixed);
}

void SimpleTask::Impl::compile() {
  require_planning("compile");
  phase_ = Phase::compiling;
  const int declared = plan_.tensors.size();
  derive_inits(plan_, Initializer());
  bind_settings(plan_, CrossEntropyLoss(), config_.rule);
  plan_.transients = {TensorSpan{0, declared}, TensorSpan{declared, declared}};
  detail::mark_lifetimes(plan_.atlas.graphs[0].nodes, plan_.tensors);
  plan_.memory = place(plan_.tensors, plan_.transients, config_.share_memory);
  plan_.atlas.graphs[0].edges = build_edges(plan_.atlas.graphs[0].nodes, plan_.tensors.size());
  append_reuse_edges(plan_.atlas.graphs[0].nodes, plan_.tensors, plan_.transients[0], plan_.atlas.graphs[0].edges);
  require_working_copies();
  backend_ = make_backend(plan_, config_);
  phase_ = Phase::compiled;
}

// One range operation writes them all, at half the offset of the weights.
void SimpleTask::Impl::require_working_copies() const {
  if (plan_.spec.precision == Precision::fp32) return;
  const std::int64_t weights = plan_.memory.bytes_of(weight_range);
  const std::int64_t copies = plan_.memory.bytes_of(working_range);
  if (weights == 2 * copies) return;
  throw ShapeError(
      fmt::format("in bf16 every weight needs a working copy of its shape, in the same order: there are "
                  "{} bytes of weights and {} of copies",
                  weights, copies));
}

void SimpleTask::Impl::set(int id, const Tensor& value) {
  for (int rank = 0; rank < config_.ranks; ++rank) set(id, value, rank);
}

void SimpleTask::Impl::set(int id, const Tensor& value, int rank) {
  require_compiled("set");
  const DTensor& tensor = checked(id, rank);
  if (value.shape() != tensor.shape) {
    throw ShapeError(
        fmt::format("tensor {} is {}, the value is {}", id, text_of(tensor.shape), text_of(value.shape())));
  }
  if (value.dtype() != tensor.dtype) {
    throw ValueError(
        fmt::format("tensor {} is {}, the value is {}", id, name_of(tensor.dtype), name_of(value.dtype())));
  }
  if (tensor.bytes() > 0) {
    backend_->write(tensor, value.bytes().first(static_cast<std::size_t>(tensor.bytes())), rank);
  }
  if (is_weight(tensor.region)) backend_->weights_changed();
}

Tensor SimpleTask::Impl::fetch(int id, int rank) const {
  require_compiled("fetch");
  const DTensor& tensor = checked(id, rank);
  Tensor value(tensor.shape, tensor.dtype);
  if (tensor.bytes() > 0) {
    backend_->read(tensor, value.bytes().first(static_cast<std::size_t>(tensor.bytes())), rank);
  }
  return value;
}

StepStatus SimpleTask::Impl::run(int times) {
  require_compiled("run");
  const StepStatus status = backend_->run(times);
  if (status == StepStatus::illegal_label) report_illegal_label();
  return status;
}

void SimpleTask::Impl::report_illegal_label() const {
  for (const Node& node : plan_.atlas.graphs[0].nodes) {
    if (node.op != OpKind::softmax_ce && node.op != OpKind::softmax_ce_evaluate) continue;
    const int classes = plan_.tensors[node.in[0]].tensor.shape.c;
    for (int rank = 0; rank < config_.ranks; ++rank) {
      const Tensor labels = fetch(node.in[1], rank);
      for (std::size_t i = 0; i < labels.values<std::int32_t>().size(); ++i) {
        const std::int32_t label = labels.values<std::int32_t>()[i];
        if (label >= 0 && label < classes) continue;
        throw ValueError(fmt::format("rank {}, sample {}: label {} is not in [0, {})", rank, i, label, classes));
      }
    }
  }
  throw Error("internal error: an illegal label was counted and is not there");
}

SimpleTask::SimpleTask(const SimpleTaskConfig& config) : impl_(std::make_unique<Impl>(config)) {}
SimpleTask::~SimpleTask() = default;

int SimpleTask::tensor(Region region, Shape shape, DType dtype) { return impl_->tensor(region, shape, dtype); }
void SimpleTask::node(const Node& node) { impl_->node(node); }
void SimpleTask::update() { impl_->update(); }
void SimpleTask::compile() { impl_->compile(); }
void SimpleTask::set(int id, const Tensor& value) { impl_->set(id, value); }
void SimpleTask::set(int id, const Tensor& value, int rank) { impl_->set(id, value, rank); }
Tensor SimpleTask::fetch(int id, int rank) const { return impl_->fetch(id, rank); }
StepStatus SimpleTask::run(int times) { return impl_->run(times); }
const Plan& SimpleTask::plan() const { return impl_->plan(); }

void SimpleTask::set(Scalar which, double value) {
  const float rounded = static_cast<float>(value);
  set(scalar(which), Tensor::of<float>({}, std::span<const float>(&rounded, 1)));
}

}  // namespace tr
