#include <cstring>
#include <memory>
#include <vector>

#include "kernels/cuda/collective.h"
#include "tr/dist/rank_pool.h"
#include "tr/exec/cuda_executor.h"
#include "tr/task/simple_backend.h"

namespace tr {
namespace {

/// Inputs are set in the device's memory, so that no batch comes from the host.
class CudaSimpleBackend final : public SimpleBackend {
 public:
  CudaSimpleBackend(const Plan& plan, const SimpleTaskConfig& config);

  void write(const DTensor& tensor, std::span<const std::byte> from, int rank) override {
    if (tensor.arena() == Arena::local) return arenas(rank).upload(tensor, from);
    for (const auto& each : arenas_) each->upload(tensor, from);
    if (tensor.id == plan_.fixed[Scalar::learning_rate]) std::memcpy(&rate_, from.data(), sizeof(rate_));
  }
  void read(const DTensor& tensor, std::span<std::byte> to, int rank) const override {
    arenas(rank).download(tensor, to);
  }
  void weights_changed() override {
    for (const auto& executor : executors_) executor->load_working_copies(WeightSource::current);
  }
  StepStatus run(int times) override;

 private:
  const CudaArenas& arenas(int rank) const { return *arenas_[static_cast<std::size_t>(rank)]; }
  StepStatus run_on(CudaExecutor& executor, int times) const;

  const Plan& plan_;
  float rate_ = 0.0F;
  std::vector<std::unique_ptr<CudaArenas>> arenas_;
  std::unique_ptr<cuda::DeviceGroup> group_;
  std::vector<std::unique_ptr<CudaExecutor>> executors_;
  // Last, so that its threads end before what they use.
  std::unique_ptr<RankPool> pool_;
};

CudaSimpleBackend::CudaSimpleBackend(const Plan& plan, const SimpleTaskConfig& config) : plan_(plan) {
  std::vector<int> devices;
  for (int rank = 0; rank < config.ranks; ++rank) {
    devices.push_back(rank);
    arenas_.push_back(std::make_unique<CudaArenas>(plan.memory, rank));
    init_all(plan, *arenas_.back(), 0);
  }
  if (config.ranks > 1) group_ = std::make_unique<cuda::DeviceGroup>(devices);
  pool_ = std::make_unique<RankPool>(config.ranks, [] {});
  executors_.resize(devices.size());
  pool_->run([&](ThreadCommunicator& ranks) {
    auto& executor = executors_[static_cast<std::size_t>(ranks.rank())];
    executor = std::make_unique<CudaExecutor>(plan, arenas(ranks.rank()), config.rule, CudaSettings{}, group_.get(),
                                              ranks.rank());
    executor->prepare({});
    executor->finish();
  });
}

StepStatus CudaSimpleBackend::run(int times) {
  std::vector<StepStatus> status(executors_.size());
  pool_->run([&](ThreadCommunicator& ranks) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    status[rank] = run_on(*executors_[rank], times);
  });
  return status.front();
}

StepStatus CudaSimpleBackend::run_on(CudaExecutor& executor, int times) const {
  executor.forget_failure();
  for (int i = 0; i < times; ++i) {
    executor.start(0, 0, rate_);
    const StepStatus status = executor.wait(0).status;
    if (status != StepStatus::ok) return status;
  }
  return StepStatus::ok;
}

}  // namespace

std::unique_ptr<SimpleBackend> make_cuda_simple_backend(const Plan& plan, const SimpleTaskConfig& config) {
  return std::make_unique<CudaSimpleBackend>(plan, config);
}

}  // namespace tr
