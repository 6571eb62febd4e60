#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/collective.h"
#include "tests/cuda_sim/control.h"
#include "tr/base/bf16.h"
#include "tr/base/fp16.h"
#include "tr/dist/rank_pool.h"
#include "tr/dist/slice.h"
#include "tr/exec/cuda_executor.h"
#include "tr/exec/initialize.h"
#include "tr/plan/runtime.h"

namespace tr {

/// What the stand-in found, and which waits it saw to be of no use.
inline void check_findings() {
  for (const std::string& finding : cuda_sim::findings()) FAIL_CHECK(finding);
}
inline void check_waits() {
  for (const std::string& wait : cuda_sim::redundant_waits()) FAIL_CHECK("redundant: ", wait);
}

/// A planned model on some simulated GPUs, its steps ready to run on a batch of `rows`.
class CudaRig {
 public:
  struct Config {
    int ranks = 1;
    int rows = 0;
    /// Of a second training variant, as for the last batch of an epoch; 0 for none.
    int last_rows = 0;
    Precision precision = Precision::fp32;
    bool share_memory = true;
    bool fuse = true;
    bool graph = true;
    CrossEntropyLoss loss;
    AnyOptimizer optimizer = SGD().momentum(0.0);
    GradientClipping clipping;
    std::optional<EMA> ema;
  };
  /// What prepare() makes of the variants, in this order.
  static constexpr int train = 0;
  static constexpr int evaluate = 1;
  static constexpr int train_last = 2;

  CudaRig(const ModelSpec& model, const Config& config) : CudaRig(plans_of(model, config), config) {}

  /// Plans of one's own, one a rank.
  CudaRig(std::vector<Plan> plans, const Config& config) : config_(config), plans_(std::move(plans)) {
    std::vector<int> devices;
    for (int rank = 0; rank < config.ranks; ++rank) {
      devices.push_back(rank);
      bind_settings(plans_[static_cast<std::size_t>(rank)], config.loss, rule_of(config));
      arenas_.emplace_back(plan(rank).memory, rank);
    }
    if (config.ranks > 1) group_ = std::make_unique<cuda::DeviceGroup>(devices);
    pool_ = std::make_unique<RankPool>(config.ranks, [] {});
    executors_.resize(plans_.size());
    on_each_rank([&](int rank) {
      prepare(rank);
      // Other ranks than the first start with something else, which nobody must see.
      init_all(plan(rank), arenas(rank), std::uint64_t{1} + static_cast<unsigned>(rank));
      if (group_ != nullptr) arenas(rank).share(*group_, rank);
    });
  }

  static UpdateRule rule_of(const Config& config) { return {config.optimizer, config.clipping, config.ema}; }
  static std::vector<Plan> plans_of(const ModelSpec& model, const Config& config) {
    std::vector<Plan> plans;
    for (int rank = 0; rank < config.ranks; ++rank) {
      const int rows = rows_of(rank, config.rows, config.ranks);
      plans.push_back(make_plan(model, with_update({.precision = config.precision,
                                                    .train_rows = rows,
                                                    .evaluate_rows = rows,
                                                    .fuse = config.fuse,
                                                    .share_memory = config.share_memory},
                                                   rule_of(config))));
    }
    return plans;
  }

  template <class F>
  void on_each_rank(F&& f) {
    pool_->run([&](ThreadCommunicator& ranks) { f(ranks.rank()); });
  }

  void start(float rate, int slot = 0, int variant = train) {
    on_each_rank([&](int rank) { executor(rank).start(variant, slot, rate); });
  }
  CudaStep wait(int slot = 0) {
    std::vector<CudaStep> steps(plans_.size());
    on_each_rank([&](int rank) { steps[static_cast<std::size_t>(rank)] = executor(rank).wait(slot); });
    return steps.front();
  }
  CudaStep step(float rate, int slot = 0, int variant = train) {
    start(rate, slot, variant);
    return wait(slot);
  }

  static int rows_of(int rank, int rows, int ranks) { return static_cast<int>(slice_of(rows, rank, ranks).count); }
  int rows_of(int rank, int rows) const { return rows_of(rank, rows, config_.ranks); }
  const Plan& plan(int rank = 0) const { return plans_[static_cast<std::size_t>(rank)]; }
  const CudaArenas& arenas(int rank = 0) const { return arenas_[static_cast<std::size_t>(rank)]; }
  CudaExecutor& executor(int rank = 0) { return *executors_[static_cast<std::size_t>(rank)]; }

  template <class T = float>
  std::vector<T> values(int id, int rank = 0) const {
    const DTensor& tensor = plan(rank).tensors[id].tensor;
    std::vector<T> values(static_cast<std::size_t>(tensor.shape.size()));
    arenas(rank).download(tensor, std::as_writable_bytes(std::span(values)));
    return values;
  }
  /// On every rank.
  template <class T>
  void set(int id, const std::vector<T>& values) {
    for (int rank = 0; rank < config_.ranks; ++rank) {
      arenas(rank).upload(plan(rank).tensors[id].tensor, std::as_bytes(std::span(values)));
    }
  }
  /// Every parameter, moment, average, working copy and scalar.
  std::vector<std::byte> state(int rank = 0) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(plan(rank).memory.shared_bytes));
    arenas(rank).download_shared(bytes);
    return bytes;
  }
  /// How many steps were taken.
  std::int32_t steps() const { return values<std::int32_t>(plan().fixed[Scalar::step])[0] - 1; }

  /// Puts a batch of `rows` rows into the pinned memory of a slot: image(sample, feature) and label(sample).
  template <class Image, class Label>
  void fill(Image image, Label label, int slot = 0, int rows = 0) {
    if (rows == 0) rows = config_.rows;
    for (int rank = 0; rank < config_.ranks; ++rank) {
      const Slice slice = slice_of(rows, rank, config_.ranks);
      const DTensor& data = plan().tensors[plan().fixed.data[0]].tensor;
      const std::int64_t features = data.shape.sample_size();
      executor(rank).wait_for_input(slot);
      cuda_sim::host_writes(executor(rank).labels(slot), static_cast<std::size_t>(slice.count) * sizeof(std::int32_t));
      cuda_sim::host_writes(executor(rank).images(slot),
                            static_cast<std::size_t>(slice.count * features) * bytes_of(data.dtype));
      for (std::int64_t i = 0; i < slice.count; ++i) {
        const int sample = static_cast<int>(slice.first + i);
        executor(rank).labels(slot)[i] = label(sample);
        for (std::int64_t c = 0; c < features; ++c) {
          const auto x = static_cast<float>(image(sample, static_cast<int>(c)));
          const std::int64_t at = i * features + c;
          put(x, executor(rank).images(slot), at);
        }
      }
    }
  }

 private:
  void put(float x, std::byte* images, std::int64_t at) const {
    switch (config_.precision) {
      case Precision::fp32: reinterpret_cast<float*>(images)[at] = x; return;
      case Precision::bf16: reinterpret_cast<Bf16*>(images)[at] = to_bf16(x); return;
      case Precision::fp16: reinterpret_cast<Fp16*>(images)[at] = to_fp16(x); return;
    }
  }
  void prepare(int rank) {
    auto& executor = executors_[static_cast<std::size_t>(rank)];
    executor = std::make_unique<CudaExecutor>(plan(rank), arenas(rank), rule_of(config_),
                                              CudaSettings{.graph = config_.graph}, group_.get(), rank);
    const int rows = rows_of(rank, config_.rows);
    executor->prepare({.kind = GraphKind::train, .rows = rows, .total_rows = config_.rows});
    executor->prepare({.kind = GraphKind::evaluate,
                       .rows = rows,
                       .total_rows = config_.rows,
                       .averaged = config_.ema && config_.ema->evaluates()});
    if (config_.last_rows > 0) {
      executor->prepare(
          {.kind = GraphKind::train, .rows = rows_of(rank, config_.last_rows), .total_rows = config_.last_rows});
    }
    executor->finish();
  }

  Config config_;
  std::vector<Plan> plans_;
  std::vector<CudaArenas> arenas_;
  std::unique_ptr<cuda::DeviceGroup> group_;
  std::vector<std::unique_ptr<CudaExecutor>> executors_;
  std::unique_ptr<RankPool> pool_;
};

}  // namespace tr
