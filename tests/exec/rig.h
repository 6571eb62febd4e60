#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tests/exec/precisions.h"
#include "tr/dist/rank_pool.h"
#include "tr/dist/slice.h"
#include "tr/exec/cpu_executor.h"
#include "tr/exec/cpu_rank.h"
#include "tr/exec/initialize.h"
#include "tr/plan/runtime.h"

namespace tr {

/// A planned model on some ranks, its training step ready to run on a batch of `rows`, in any order of its nodes.
class Rig {
 public:
  struct Config {
    int ranks = 1;
    int rows = 0;
    Precision precision = Precision::fp32;
    bool share_memory = true;
    bool fuse = true;
    CrossEntropyLoss loss;
    AnyOptimizer optimizer = SGD().momentum(0.0);
    GradientClipping clipping;
    std::optional<EMA> ema;
    std::vector<int> order;
  };

  Rig(const ModelSpec& model, const Config& config) : config_(config) {
    const UpdateRule rule{config.optimizer, config.clipping, config.ema};
    std::vector<MemoryPlan> layouts;
    for (int rank = 0; rank < config.ranks; ++rank) {
      const int rows = rows_of(rank);
      plans_.push_back(make_plan(model, with_update({.precision = config.precision,
                                                     .train_rows = rows,
                                                     .evaluate_rows = rows,
                                                     .fuse = config.fuse,
                                                     .share_memory = config.share_memory},
                                                    rule)));
      bind_settings(plans_.back(), config.loss, rule);
      layouts.push_back(plans_.back().memory);
    }
    arenas_ = std::make_unique<Arenas>(layouts);
    pool_ = std::make_unique<RankPool>(config.ranks, set_up_rank_thread);
    executors_.resize(plans_.size());
    pool_->run([&](ThreadCommunicator& ranks) { prepare(ranks.rank()); });
    init_all(plans_.front(), *arenas_, 1);
  }

  StepStatus step() {
    std::vector<StepStatus> status(plans_.size());
    pool_->run([&](ThreadCommunicator& ranks) {
      const auto rank = static_cast<std::size_t>(ranks.rank());
      status[rank] = executors_[rank]->run(0, 0, ranks);
    });
    return status.front();
  }

  int rows_of(int rank) const { return static_cast<int>(slice_of(config_.rows, rank, config_.ranks).count); }
  const Plan& plan(int rank = 0) const { return plans_[static_cast<std::size_t>(rank)]; }
  const CpuExecutor& executor(int rank = 0) const { return *executors_[static_cast<std::size_t>(rank)]; }

  template <class T>
  std::span<T> values(int id, int rank = 0) const {
    const DTensor& tensor = plan(rank).tensors[id].tensor;
    return {arenas_->at<T>(tensor, rank), static_cast<std::size_t>(tensor.shape.size())};
  }
  void set(Scalar scalar, float value) { values<float>(plan().fixed[scalar])[0] = value; }
  /// After the masters were set by hand.
  void weights_changed() { refresh_working_copies(plan(), *arenas_); }

 private:
  void prepare(int rank) {
    auto& executor = executors_[static_cast<std::size_t>(rank)];
    executor = std::make_unique<CpuExecutor>(plan(rank), *arenas_, rank, config_.optimizer);
    executor->prepare({.kind = GraphKind::train, .rows = rows_of(rank), .total_rows = config_.rows}, config_.order);
    executor->finish();
  }

  Config config_;
  std::vector<Plan> plans_;
  std::unique_ptr<Arenas> arenas_;
  std::vector<std::unique_ptr<CpuExecutor>> executors_;
  std::unique_ptr<RankPool> pool_;
};

}  // namespace tr
