// For the CUDA backend's own files.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/bias.h"
#include "kernels/cuda/fc.h"
#include "tr/exec/cuda_arenas.h"
#include "tr/exec/cuda_schedule.h"
#include "tr/plan/plan.h"

namespace tr {

/// A tensor as the device sees it; `data` is null where an optional operand is absent.
struct CudaOperand {
  std::byte* data = nullptr;
  Shape shape{};
  DType dtype = DType::fp32;

  std::int64_t bytes() const { return shape.size() * static_cast<std::int64_t>(bytes_of(dtype)); }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
  cuda::Values values() const;
};

/// Memory that the tasks of one stream use one after another, at each stream's place.
using CudaWorkspaces = std::array<void*, stream_count>;

/// "fc_forward of layer 1": what errors and the stand-in call a node.
std::string describe(const Node& node);

/// Binds the nodes of one variant that compute on tensors: all but the update and what belongs to it.
class CudaOps {
 public:
  /// Chooses the algorithms of the matrix products on the current device. The library must outlive this.
  CudaOps(const Plan& plan, const CudaArenas& arenas, const Variant& variant, const cuda::MatmulLibrary& library);

  /// What only the update waits for runs on its stream.
  Stream stream_of(const Node& node) const;
  /// The bytes that the nodes on a stream need at once.
  std::int64_t workspace_bytes(Stream stream) const { return workspace_bytes_[static_cast<std::size_t>(stream)]; }
  /// Binds node `i` of the graph. The task refers to this object and to `plan`.
  CudaTask bind(int i, int slot, const CudaWorkspaces& workspaces) const;
  CudaOperand operand(int id, int slot) const;
  const Variant& variant() const { return variant_; }

 private:
  struct Places {
    std::array<CudaOperand, 6> in;
    std::array<CudaOperand, 6> out;
    std::int64_t total_rows = 0;
    void* workspace = nullptr;
  };

  /// Null where the loss is not scaled.
  const float* loss_scale() const;
  const Node& node(int i) const { return plan_->atlas[variant_.kind].nodes[i]; }
  Places places_of(const Node& node, int slot) const;
  void prepare(int i, const cuda::MatmulLibrary& library);
  void issue_fc_forward(CudaTask& task, int i, const Places& at) const;
  void issue_product(CudaTask& task, int i, const cuda::FcOperands& operands, void* workspace) const;

  const Plan* plan_;
  const CudaArenas* arenas_;
  Variant variant_;
  std::array<std::int64_t, stream_count> workspace_bytes_{};
  /// By node.
  std::vector<std::optional<cuda::FcPlan>> products_;
  std::vector<std::int64_t> node_workspace_;
};

}  // namespace tr
