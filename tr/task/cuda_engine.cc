#include "tr/task/cuda_engine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "kernels/cuda/collective.h"
#include "kernels/cuda/device.h"
#include "tr/base/bf16.h"
#include "tr/base/fp16.h"
#include "tr/data/pipeline.h"
#include "tr/dist/rank_pool.h"
#include "tr/exec/cuda_executor.h"
#include "tr/exec/inspect.h"
#include "tr/task/interrupt.h"

namespace tr {
namespace {

template <class T>
bool all_finite(const std::vector<std::byte>& bytes) {
  const std::span<const T> values(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
  return std::all_of(values.begin(), values.end(), [](T value) {
    if constexpr (std::is_same_v<T, float>) {
      return std::isfinite(value);
    } else {
      return std::isfinite(to_float(value));
    }
  });
}

bool is_finite(const DTensor& tensor, const CudaArenas& arenas) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.bytes()));
  arenas.download(tensor, bytes);
  switch (tensor.dtype) {
    case DType::fp32: return all_finite<float>(bytes);
    case DType::bf16: return all_finite<Bf16>(bytes);
    case DType::fp16: return all_finite<Fp16>(bytes);
    default: return true;
  }
}

/// Among the weights and the input, which are all that outlives a step; empty if these are finite.
std::string first_non_finite(const Plan& plan, const CudaArenas& arenas, int slot) {
  for (const PlanTensor& t : plan.tensors) {
    const bool input = t.tensor.id == plan.fixed.data[static_cast<std::size_t>(slot)];
    if ((is_parameter(t.tensor.region) || input) && !is_finite(t.tensor, arenas)) return describe(t);
  }
  return {};
}

class CudaEngine final : public GpuEngine {
 public:
  CudaEngine(const TaskSpec& spec, const TrainingSettings& settings, const Options& options);

  const RunPlans& plans() const override { return run_; }
  std::vector<std::int64_t> annex_bytes() const override;
  std::uint64_t weights_hash() const override {
    return tr::weights_hash(plan(0), download_shared(plan(0), *arenas_.front()));
  }
  std::string device() const override { return device_; }
  void run(const RunParts& parts, TrainingResult& result) override;

  int ranks() const { return static_cast<int>(run_.plans.size()); }
  const Plan& plan(int rank) const { return run_.plans[static_cast<std::size_t>(rank)]; }
  const CudaArenas& arenas(int rank) const { return *arenas_[static_cast<std::size_t>(rank)]; }
  CudaExecutor& executor(int rank) { return *executors_[static_cast<std::size_t>(rank)]; }
  RankPool& pool() { return *pool_; }

 private:
  void prepare_ranks(const UpdateRule& rule, const Options& options);

  RunPlans run_;
  std::string device_;
  std::vector<std::unique_ptr<CudaArenas>> arenas_;
  std::unique_ptr<cuda::DeviceGroup> group_;
  std::vector<std::unique_ptr<CudaExecutor>> executors_;
  // Last, so that its threads end before what they use.
  std::unique_ptr<RankPool> pool_;
};

CudaEngine::CudaEngine(const TaskSpec& spec, const TrainingSettings& settings, const Options& options) {
  // Before the data, which takes longer.
  for (int device = options.gpus - 1; device >= 0; --device) device_ = cuda::require_device(device, 0).name;
  run_ = make_run_plans(spec, settings, options, options.gpus);
  std::vector<int> devices;
  for (int rank = 0; rank < ranks(); ++rank) {
    devices.push_back(rank);
    arenas_.push_back(std::make_unique<CudaArenas>(plan(rank).memory, rank));
  }
  if (ranks() > 1) group_ = std::make_unique<cuda::DeviceGroup>(devices);
  pool_ = std::make_unique<RankPool>(ranks(), InterruptGuard::block_on_this_thread);
  prepare_ranks(settings.update_rule(), options);
}

void CudaEngine::prepare_ranks(const UpdateRule& rule, const Options& options) {
  executors_.resize(run_.plans.size());
  init_all(plan(0), arenas(0), options.seed);
  pool_->run([&](ThreadCommunicator& communicator) {
    const int rank = communicator.rank();
    auto& executor = executors_[static_cast<std::size_t>(rank)];
    executor = std::make_unique<CudaExecutor>(plan(rank), arenas(rank), rule, CudaSettings{.graph = options.graph},
                                              group_.get(), rank);
    for (const Variant& variant : plan(rank).atlas.variants) executor->prepare(variant);
    executor->finish();
  });
  if (group_ == nullptr) return;
  // Not before all are prepared: who waits for the others here would wait for good if one of them had failed.
  pool_->run(
      [&](ThreadCommunicator& communicator) { arenas(communicator.rank()).share(*group_, communicator.rank()); });
}

std::vector<std::int64_t> CudaEngine::annex_bytes() const {
  std::vector<std::int64_t> bytes;
  for (const auto& executor : executors_) bytes.push_back(executor->annex_bytes());
  return bytes;
}

/// As TrainingRun, but that a step runs while the next batch is filled, and its result is looked at when the slot is
/// needed again, or at the end of a phase.
class CudaRun {
 public:
  CudaRun(CudaEngine& engine, const RunParts& parts, TrainingResult& result)
      : engine_(engine),
        inputs_(inputs_of(engine)),
        pipeline_(parts.pipeline, parts.source, inputs_),
        books_(parts, result),
        findings_(static_cast<std::size_t>(engine.ranks())) {}

  void run();

 private:
  /// The steps of a rank that are under way, by slot.
  struct Batch {
    std::int64_t number = 0;
    Ticket ticket;
  };
  using Pending = std::array<std::optional<Batch>, CudaExecutor::slots>;

  static std::vector<RankInput> inputs_of(CudaEngine& engine);
  void walk(ThreadCommunicator& ranks);
  bool take_batch(std::int64_t number, const Ticket& ticket, Pending& pending, ThreadCommunicator& ranks);
  void start(std::int64_t number, const Ticket& ticket, Pending& pending, ThreadCommunicator& ranks);
  bool finish(std::int64_t number, Pending& pending, ThreadCommunicator& ranks);
  void end_phase(std::int64_t number, const Ticket& ticket, ThreadCommunicator& ranks);
  void fail(StepStatus status, const Batch& batch, ThreadCommunicator& ranks);
  static int slot_of(std::int64_t number) { return static_cast<int>(number % CudaExecutor::slots); }

  CudaEngine& engine_;
  std::vector<RankInput> inputs_;
  BatchPipeline pipeline_;
  RunBooks books_;
  /// One text a rank, written between two meeting points.
  std::vector<std::string> findings_;
};

std::vector<RankInput> CudaRun::inputs_of(CudaEngine& engine) {
  std::vector<RankInput> inputs;
  for (int rank = 0; rank < engine.ranks(); ++rank) {
    RankInput input;
    for (int slot = 0; slot < CudaExecutor::slots; ++slot) {
      input.images[slot] = engine.executor(rank).images(slot);
      input.labels[slot] = engine.executor(rank).labels(slot);
    }
    inputs.push_back(input);
  }
  return inputs;
}

void CudaRun::run() {
  engine_.pool().run([this](ThreadCommunicator& ranks) {
    try {
      walk(ranks);
    } catch (...) {
      // A rank that waits for a batch would not notice that another has failed.
      pipeline_.stop();
      throw;
    }
  });
  pipeline_.stop();
}

void CudaRun::walk(ThreadCommunicator& ranks) {
  Pending pending;
  for (std::int64_t number = 0; pipeline_.wait(number, ranks.rank()); ++number) {
    if (!take_batch(number, pipeline_.stream().at(number), pending, ranks)) return;
  }
}

bool CudaRun::take_batch(std::int64_t number, const Ticket& ticket, Pending& pending, ThreadCommunicator& ranks) {
  if (!finish(number, pending, ranks)) return false;
  start(number, ticket, pending, ranks);
  const bool ends = books_.ends_phase(ticket);
  if (ends || !books_.goes_on_after(number)) {
    // The older one first.
    if (!finish(number + 1, pending, ranks) || !finish(number, pending, ranks)) return false;
  }
  if (ends) end_phase(number, ticket, ranks);
  return books_.goes_on_after(number);
}

void CudaRun::start(std::int64_t number, const Ticket& ticket, Pending& pending, ThreadCommunicator& ranks) {
  CudaExecutor& executor = engine_.executor(ranks.rank());
  const int slot = slot_of(number);
  if (ticket.batch == 0) {
    executor.reset_accumulated();
    if (books_.is_averaged(ticket)) executor.load_working_copies(WeightSource::average);
  }
  if (ranks.rank() == 0) books_.begin_batch(number, ticket);
  // All have to hear of the rate, and of it if this is the last batch.
  ranks.meet();
  const GraphKind kind = ticket.training ? GraphKind::train : GraphKind::evaluate;
  executor.start(variant_of(engine_.plan(0), kind, ticket.rows), slot, books_.rate(number));
  pending[static_cast<std::size_t>(slot)] = Batch{number, ticket};
  executor.wait_for_input(slot);
  pipeline_.release(number);
}

/// Takes the result of the step on the slot of batch `number`, if there is one. False if it failed.
bool CudaRun::finish(std::int64_t number, Pending& pending, ThreadCommunicator& ranks) {
  const int slot = slot_of(number);
  const std::optional<Batch> batch = std::exchange(pending[static_cast<std::size_t>(slot)], std::nullopt);
  if (!batch) return true;
  const CudaStep step = engine_.executor(ranks.rank()).wait(slot);
  if (step.status != StepStatus::ok) {
    fail(step.status, *batch, ranks);
    return false;
  }
  if (ranks.rank() == 0) books_.took_step(batch->ticket, step.metrics[Metric::loss]);
  return true;
}

void CudaRun::end_phase(std::int64_t number, const Ticket& ticket, ThreadCommunicator& ranks) {
  CudaExecutor& executor = engine_.executor(ranks.rank());
  const Metrics sums = executor.accumulated();
  if (ranks.rank() == 0) books_.end_phase(number, ticket, sums);
  if (books_.is_averaged(ticket)) executor.load_working_copies(WeightSource::current);
  ranks.meet();
}

// Every rank has the same sums, so that all come here with the same step.
void CudaRun::fail(StepStatus status, const Batch& batch, ThreadCommunicator& ranks) {
  const int rank = ranks.rank();
  findings_[static_cast<std::size_t>(rank)] =
      first_non_finite(engine_.plan(rank), engine_.arenas(rank), slot_of(batch.number));
  ranks.meet();
  if (rank == 0) books_.fail(status, batch.number, batch.ticket, first_finding(findings_));
}

void CudaEngine::run(const RunParts& parts, TrainingResult& result) { CudaRun(*this, parts, result).run(); }

}  // namespace

std::unique_ptr<GpuEngine> make_cuda_engine(const TaskSpec& spec, const TrainingSettings& settings,
                                            const Options& options) {
  return std::make_unique<CudaEngine>(spec, settings, options);
}

}  // namespace tr
