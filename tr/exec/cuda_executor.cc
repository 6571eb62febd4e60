#include "tr/exec/cuda_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/cuda/collective.h"
#include "kernels/cuda/fc.h"
#include "kernels/cuda/range.h"
#include "tr/base/error.h"
#include "tr/exec/cuda_annex.h"
#include "tr/exec/cuda_ops.h"
#include "tr/exec/cuda_schedule.h"
#include "tr/exec/cuda_step.h"
#include "tr/exec/cuda_update.h"
#include "tr/exec/cuda_working_copies.h"

namespace tr {
namespace {

constexpr std::array input_regions{RegionRange{Region::i_a_label, Region::i_a_data},
                                   RegionRange{Region::i_b_label, Region::i_b_data}};

constexpr auto metrics_bytes = static_cast<std::int64_t>(sizeof(Metrics::sums));

/// Ends a capture whatever happens, since a stream that is captured is of no other use.
CudaGraph captured(cudaStream_t stream, const CudaSchedule& schedule, const CudaStreams& streams) {
  constexpr std::string_view what = "capturing a step";
  cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), what);
  cudaGraph_t graph = nullptr;
  try {
    schedule.issue(streams);
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(stream, &graph));
    const CudaGraph unfinished(graph);
    throw;
  }
  cuda::check(cudaStreamEndCapture(stream, &graph), what);
  return CudaGraph(graph);
}

}  // namespace

class CudaExecutor::Impl {
 public:
  Impl(const Plan& plan, const CudaArenas& arenas, const UpdateRule& rule, CudaSettings settings, CudaRank rank);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  int prepare(const Variant& variant);
  void finish();
  std::int64_t annex_bytes() const { return annex_.size(); }
  std::byte* input(int id, int slot) const;
  void start(int variant, int slot, float rate);
  void wait_for_input(int slot);
  CudaStep wait(int slot);
  void forget_failure();
  void load_working_copies(WeightSource source);
  Metrics accumulated();
  void reset_accumulated();
  const Plan& plan() const { return *plan_; }

 private:
  /// A step on one slot, ready to run.
  struct Step {
    CudaSchedule schedule;
    CudaGraphExec graph;
  };
  struct Prepared {
    explicit Prepared(CudaOps bound) : ops(std::move(bound)) {}
    CudaOps ops;
    std::array<Step, slots> steps;
  };
  /// The pinned memory of a slot, and what marks its uses.
  struct Slot {
    PinnedBuffer input;
    PinnedBuffer rate;
    PinnedBuffer results;
    CudaEvent copied;
    CudaEvent done;
    /// Of the step that was started and not yet waited for; −1 for none.
    int variant = -1;
  };

  void make_slots();
  CudaWorkspaces allocate();
  void capture(Step& step);
  void copy_input(const CudaOps& ops, int slot);
  StepStatus status(const CudaOps& ops, int slot, const Metrics& metrics) const;
  Slot& at(int slot) { return slots_[static_cast<std::size_t>(slot)]; }
  const Slot& at(int slot) const { return slots_[static_cast<std::size_t>(slot)]; }
  const DTensor& tensor(int id) const { return plan_->tensors[id].tensor; }

  const Plan* plan_;
  const CudaArenas* arenas_;
  CudaSettings settings_;
  CudaRank rank_;
  CudaStreams streams_;
  cuda::MatmulLibrary library_;
  CudaAnnex annex_;
  CudaUpdate update_;
  std::int64_t sums_at_;
  PinnedBuffer sums_;
  std::array<Slot, slots> slots_;
  std::vector<std::unique_ptr<Prepared>> variants_;
  StepStatus failure_ = StepStatus::ok;
};

CudaExecutor::Impl::Impl(const Plan& plan, const CudaArenas& arenas, const UpdateRule& rule, CudaSettings settings,
                         CudaRank rank)
    : plan_(&plan),
      arenas_(&arenas),
      settings_(settings),
      rank_(rank),
      update_(plan, arenas, rule, rank, annex_),
      sums_at_(annex_.reserve(metrics_bytes)),
      sums_(static_cast<std::size_t>(metrics_bytes)) {
  make_slots();
}

// Nothing may be freed while the device still uses it.
CudaExecutor::Impl::~Impl() {
  static_cast<void>(cudaSetDevice(arenas_->device()));
  for (const Stream stream : {Stream::compute, Stream::transfer, Stream::update}) {
    static_cast<void>(cudaStreamSynchronize(streams_[stream]));
  }
}

void CudaExecutor::Impl::make_slots() {
  const auto results = plan_->memory.region_bytes[static_cast<std::size_t>(Region::r_result)];
  for (int s = 0; s < slots; ++s) {
    Slot& slot = at(s);
    slot.input =
        PinnedBuffer(static_cast<std::size_t>(plan_->memory.bytes_of(input_regions[static_cast<std::size_t>(s)])));
    slot.rate = PinnedBuffer(sizeof(float));
    slot.results = PinnedBuffer(static_cast<std::size_t>(results));
    slot.copied = make_cuda_event();
    slot.done = make_cuda_event();
  }
}

int CudaExecutor::Impl::prepare(const Variant& variant) {
  arenas_->make_current();
  variants_.push_back(std::make_unique<Prepared>(CudaOps(*plan_, *arenas_, variant, library_)));
  return static_cast<int>(variants_.size()) - 1;
}

CudaWorkspaces CudaExecutor::Impl::allocate() {
  std::array<std::int64_t, stream_count> places{};
  for (const Stream stream : {Stream::compute, Stream::update}) {
    std::int64_t bytes = 0;
    for (const auto& variant : variants_) bytes = std::max(bytes, variant->ops.workspace_bytes(stream));
    places[static_cast<std::size_t>(stream)] = annex_.reserve(bytes);
  }
  annex_.allocate(arenas_->device());
  CudaWorkspaces workspaces{};
  for (std::size_t s = 0; s < places.size(); ++s) workspaces[s] = annex_.at<void>(places[s]);
  return workspaces;
}

void CudaExecutor::Impl::finish() {
  arenas_->make_current();
  const CudaWorkspaces workspaces = allocate();
  update_.upload_tables();
  for (const auto& variant : variants_) {
    for (int slot = 0; slot < slots; ++slot) {
      Step& step = variant->steps[static_cast<std::size_t>(slot)];
      step.schedule = make_step({.plan = plan_,
                                 .arenas = arenas_,
                                 .ops = &variant->ops,
                                 .update = &update_,
                                 .slot = slot,
                                 .workspaces = workspaces,
                                 .rate = at(slot).rate.data(),
                                 .results = at(slot).results.data()});
      if (settings_.graph) capture(step);
    }
  }
}

void CudaExecutor::Impl::capture(Step& step) {
  cudaStream_t compute = streams_[Stream::compute];
  const CudaGraph graph = captured(compute, step.schedule, streams_);
  cudaGraphExec_t exec = nullptr;
  cuda::check(cudaGraphInstantiate(&exec, graph.get(), 0), "instantiating a step");
  step.graph = CudaGraphExec(exec);
  cuda::check(cudaGraphUpload(exec, compute), "uploading a step");
}

std::byte* CudaExecutor::Impl::input(int id, int slot) const {
  if (id < 0) return nullptr;
  const Region first = input_regions[static_cast<std::size_t>(slot)].first;
  return at(slot).input.data() + (tensor(id).offset - plan_->memory.offset_of(first));
}

// Labels and images of a slot lie side by side, so that one copy takes both: up to the last row that the step reads.
void CudaExecutor::Impl::copy_input(const CudaOps& ops, int slot) {
  Slot& from = at(slot);
  if (from.input.size() == 0) return;
  cudaStream_t transfer = streams_[Stream::transfer];
  const CudaOperand data = ops.operand(plan_->fixed.data[0], slot);
  std::byte* to = arenas_->address(input_regions[static_cast<std::size_t>(slot)].first);
  const std::int64_t bytes = data.bytes() == 0 ? 0 : data.data + data.bytes() - to;
  cuda::copy(from.input.data(), to, bytes, transfer);
  cuda::check(cudaEventRecord(from.copied.get(), transfer), "copying a batch");
  cuda::check(cudaStreamWaitEvent(streams_[Stream::compute], from.copied.get(), 0), "copying a batch");
}

void CudaExecutor::Impl::start(int variant, int slot, float rate) {
  Slot& used = at(slot);
  if (used.variant >= 0)
    throw StateError(fmt::format("start() on slot {}, whose last step nobody has waited for", slot));
  arenas_->make_current();
  const Prepared& what = *variants_[static_cast<std::size_t>(variant)];
  const Step& step = what.steps[static_cast<std::size_t>(slot)];
  std::memcpy(used.rate.data(), &rate, sizeof(rate));
  copy_input(what.ops, slot);
  cudaStream_t compute = streams_[Stream::compute];
  if (settings_.graph) {
    cuda::check(cudaGraphLaunch(step.graph.get(), compute), "starting a step");
  } else {
    step.schedule.issue(streams_);
  }
  cuda::check(cudaEventRecord(used.done.get(), compute), "starting a step");
  used.variant = variant;
}

void CudaExecutor::Impl::wait_for_input(int slot) {
  cuda::check(cudaEventSynchronize(at(slot).copied.get()), "waiting for a batch to be copied");
}

CudaStep CudaExecutor::Impl::wait(int slot) {
  Slot& used = at(slot);
  if (used.variant < 0) throw StateError(fmt::format("wait() on slot {}, on which no step was started", slot));
  arenas_->make_current();
  cuda::check(cudaEventSynchronize(used.done.get()), "waiting for a step");
  const int variant = std::exchange(used.variant, -1);
  if (rank_.group != nullptr) rank_.group->require_healthy(rank_.rank, "waiting for a step");
  const std::int64_t place =
      tensor(plan_->fixed.result[static_cast<std::size_t>(slot)]).offset - plan_->memory.offset_of(Region::r_result);
  CudaStep step;
  std::memcpy(step.metrics.sums.data(), used.results.data() + place, sizeof(step.metrics.sums));
  const CudaOps& ops = variants_[static_cast<std::size_t>(variant)]->ops;
  step.status = status(ops, slot, step.metrics);
  if (ops.variant().kind != GraphKind::train) return step;
  // What a step that was skipped because of an earlier one says of itself does not matter.
  if (failure_ == StepStatus::ok) failure_ = step.status;
  step.status = failure_;
  return step;
}

StepStatus CudaExecutor::Impl::status(const CudaOps& ops, int slot, const Metrics& metrics) const {
  if (metrics[Metric::illegal_labels] > 0.0) return StepStatus::illegal_label;
  if (!std::isfinite(metrics[Metric::loss])) return StepStatus::loss_not_finite;
  if (ops.variant().kind != GraphKind::train) return StepStatus::ok;
  for (const int id : plan_->fixed.not_finite) {
    std::int32_t flag = 0;
    std::memcpy(&flag, at(slot).results.data() + (tensor(id).offset - plan_->memory.offset_of(Region::r_result)),
                sizeof(flag));
    if (flag != 0) return StepStatus::update_not_finite;
  }
  return StepStatus::ok;
}

void CudaExecutor::Impl::forget_failure() {
  arenas_->make_current();
  update_.forget_failure(streams_[Stream::compute]);
  failure_ = StepStatus::ok;
}

void CudaExecutor::Impl::load_working_copies(WeightSource source) {
  arenas_->make_current();
  cudaStream_t compute = streams_[Stream::compute];
  make_working_copies(*plan_, *arenas_, source, compute);
  cuda::check(cudaStreamSynchronize(compute), "making the working copies");
}

Metrics CudaExecutor::Impl::accumulated() {
  constexpr std::string_view what = "sum of the accumulated metrics";
  arenas_->make_current();
  cudaStream_t compute = streams_[Stream::compute];
  const double* sums = arenas_->at<const double>(tensor(plan_->fixed.accumulated));
  if (rank_.group != nullptr) {
    auto* total = annex_.at<double>(sums_at_);
    rank_.group->all_reduce(
        {.rank = rank_.rank, .from = sums, .to = total, .count = metric_count, .type = cuda::CollectiveType::fp64},
        what, compute);
    sums = total;
  }
  cuda::copy(sums, sums_.data(), metrics_bytes, compute);
  cuda::check(cudaStreamSynchronize(compute), what);
  Metrics metrics;
  std::memcpy(metrics.sums.data(), sums_.data(), sizeof(metrics.sums));
  return metrics;
}

void CudaExecutor::Impl::reset_accumulated() {
  arenas_->make_current();
  const DTensor& sums = tensor(plan_->fixed.accumulated);
  cuda::clear(arenas_->address(sums), sums.bytes(), streams_[Stream::compute]);
}

CudaExecutor::CudaExecutor(const Plan& plan, const CudaArenas& arenas, const UpdateRule& rule, CudaSettings settings,
                           const cuda::DeviceGroup* group, int rank) {
  arenas.make_current();
  impl_ = std::make_unique<Impl>(plan, arenas, rule, settings, CudaRank{group, rank});
}

CudaExecutor::~CudaExecutor() = default;
CudaExecutor::CudaExecutor(CudaExecutor&&) noexcept = default;
CudaExecutor& CudaExecutor::operator=(CudaExecutor&&) noexcept = default;

int CudaExecutor::prepare(const Variant& variant) { return impl_->prepare(variant); }
void CudaExecutor::finish() { impl_->finish(); }
std::int64_t CudaExecutor::annex_bytes() const { return impl_->annex_bytes(); }
std::byte* CudaExecutor::images(int slot) const {
  return impl_->input(plan().fixed.data[static_cast<std::size_t>(slot)], slot);
}
std::int32_t* CudaExecutor::labels(int slot) const {
  return reinterpret_cast<std::int32_t*>(impl_->input(plan().fixed.labels[static_cast<std::size_t>(slot)], slot));
}
void CudaExecutor::start(int variant, int slot, float rate) { impl_->start(variant, slot, rate); }
void CudaExecutor::wait_for_input(int slot) { impl_->wait_for_input(slot); }
CudaStep CudaExecutor::wait(int slot) { return impl_->wait(slot); }
void CudaExecutor::forget_failure() { impl_->forget_failure(); }
void CudaExecutor::load_working_copies(WeightSource source) { impl_->load_working_copies(source); }
Metrics CudaExecutor::accumulated() { return impl_->accumulated(); }
void CudaExecutor::reset_accumulated() { impl_->reset_accumulated(); }
const Plan& CudaExecutor::plan() const { return impl_->plan(); }

}  // namespace tr
