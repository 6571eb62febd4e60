// For the CUDA backend's own files.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/collective.h"
#include "kernels/cuda/norms.h"
#include "kernels/cuda/update_range.h"
#include "tr/algo/update_rule.h"
#include "tr/exec/cuda_annex.h"
#include "tr/exec/cuda_arenas.h"
#include "tr/exec/cuda_schedule.h"
#include "tr/plan/plan.h"

namespace tr {

/// A rank's part in a group of GPUs; `group` is null where it is alone.
struct CudaRank {
  const cuda::DeviceGroup* group = nullptr;
  int rank = 0;
};

/// Binds what stands between the gradients of a step and its end: sums over the GPUs, norms, the judgement whether the
/// step counts, and the update. Every GPU updates all parameters, from the same sums and so to the same bits.
class CudaUpdate {
 public:
  /// Reserves what it needs in `annex`. All must outlive this.
  CudaUpdate(const Plan& plan, const CudaArenas& arenas, const UpdateRule& rule, CudaRank rank, CudaAnnex& annex);
  /// Once the annex is allocated.
  void upload_tables() const;

  /// Whether the step can only be judged when its gradients are known.
  bool judges_gradients() const { return plan_->spec.norms || scales_loss(); }

  /// Each appends its tasks. Sums are taken where there are several GPUs.
  void add_sum_of_results(CudaSchedule& schedule, Stream stream, int slot) const;
  void add_sum_of_gradients(CudaSchedule& schedule) const;
  /// Whether a gradient has overflowed, where no norm is taken that would tell.
  void add_overflow_check(CudaSchedule& schedule) const;
  /// Of a `reduce_gradients` node.
  void add_square_sums(CudaSchedule& schedule, const Node& node) const;
  /// Whether this step counts.
  void add_judgement(CudaSchedule& schedule, int slot) const;
  /// The number of the next step, if this one counts.
  void add_advance(CudaSchedule& schedule) const;
  /// What fp16's next step multiplies its loss by; behind the updates.
  void add_loss_scale(CudaSchedule& schedule) const;
  /// Of an `update` node.
  void add_update(CudaSchedule& schedule, const Node& node) const;

  /// Later steps are no longer skipped because of an earlier one.
  void forget_failure(cudaStream_t stream) const;

 private:
  /// The chunks of a range, by their place in the annex.
  struct Table {
    std::vector<cuda::Chunk> chunks;
    std::vector<std::int32_t> first_chunk;
    std::int64_t largest = 0;
    std::int64_t chunks_at = 0;
    std::int64_t first_chunk_at = 0;
  };
  enum Flag : std::uint8_t { skip, halted, gradient_not_finite, overflow, flag_count };

  bool scales_loss() const { return plan_->spec.precision == Precision::fp16; }

  Table table_of(const RegionRange& range, CudaAnnex& annex) const;
  const Table& table(const RegionRange& range) const { return range == weight_range ? weights_ : biases_; }
  cuda::Chunks chunks(const RegionRange& range) const;
  cuda::SquareSum* square_sums(const RegionRange& range) const;
  std::int32_t* flag(Flag which) const { return annex_->at<std::int32_t>(flags_at_) + which; }
  /// Where a gradient that is not finite is noted: in fp16 it only skips the step.
  std::int32_t* gradient_flag() const { return flag(scales_loss() ? overflow : gradient_not_finite); }
  float* loss_scale() const { return scales_loss() ? scalar(Scalar::loss_scale) : nullptr; }
  float* gradient_scale() const;
  float* parameters(const RegionRange& range, Image image) const;
  std::int64_t bytes_of(const RegionRange& range) const { return plan_->memory.bytes_of(range); }
  template <class T = float>
  T* scalar(Scalar which) const {
    return arenas_->at<T>(plan_->tensors[plan_->fixed[which]].tensor);
  }
  std::int32_t* not_finite(int which) const;

  void add_clip_factor(CudaSchedule& schedule) const;
  void add_ratios(CudaSchedule& schedule, const LARS& lars) const;
  cuda::UpdateRange range_of(const Node& node) const;
  void declare_update(CudaTask& task, const Node& node, const cuda::UpdateRange& range) const;
  void issue(CudaTask& task, const SGD& sgd, const Node& node) const;
  template <class Derived>
  void issue(CudaTask& task, const AdamBase<Derived>& adam, const Node& node) const;
  void issue(CudaTask& task, const LARS& lars, const Node& node) const;

  const Plan* plan_;
  const CudaArenas* arenas_;
  UpdateRule rule_;
  CudaRank rank_;
  const CudaAnnex* annex_;
  std::int64_t flags_at_;
  Table biases_;
  Table weights_;
  std::int64_t gradient_scale_at_ = 0;
  std::int64_t ratios_at_ = 0;
};

}  // namespace tr
