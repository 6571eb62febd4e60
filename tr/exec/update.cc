#include "tr/exec/update.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <variant>
#include <vector>

#include "kernels/cpu/adam.h"
#include "kernels/cpu/lars.h"
#include "kernels/cpu/reduce_gradients.h"
#include "kernels/cpu/sgd.h"
#include "tr/algo/clipping.h"
#include "tr/base/error.h"
#include "tr/exec/range_share.h"

namespace tr {
namespace {

/// Reads the current value of a scalar.
class Scalars {
 public:
  Scalars(const Plan& plan, const Arenas& arenas) {
    for (int i = 0; i < scalar_count; ++i) {
      address_[i] = arenas.address(plan.tensors[plan.fixed.scalars[i]].tensor, 0);
    }
  }
  float operator[](Scalar scalar) const { return *reinterpret_cast<const float*>(address_[static_cast<int>(scalar)]); }
  std::int32_t step() const { return *reinterpret_cast<const std::int32_t*>(address_[static_cast<int>(Scalar::step)]); }

 private:
  std::array<const std::byte*, scalar_count> address_{};
};

/// A piece with what its update needs at every step.
struct BoundPiece {
  Piece piece;
  cpu::UpdateShare share;
  std::vector<const float*> gradients;
};

bool apply(const SGD& sgd, const cpu::UpdateShare& share, const Scalars& scalars, double /*ratio*/) {
  return cpu::sgd_update(share, {.lr = scalars[Scalar::learning_rate],
                                 .momentum = scalars[Scalar::momentum],
                                 .dampening = scalars[Scalar::dampening],
                                 .weight_decay = scalars[Scalar::weight_decay],
                                 .nesterov = sgd.is_nesterov(),
                                 .decoupled = sgd.is_decoupled(),
                                 .first_step = scalars.step() == 1});
}

template <class Derived>
bool apply(const AdamBase<Derived>&, const cpu::UpdateShare& share, const Scalars& scalars, double /*ratio*/) {
  return cpu::adam_update(share, {.lr = scalars[Scalar::learning_rate],
                                  .beta1 = scalars[Scalar::beta1],
                                  .beta2 = scalars[Scalar::beta2],
                                  .eps = scalars[Scalar::epsilon],
                                  .weight_decay = scalars[Scalar::weight_decay],
                                  .bias_correction1 = scalars[Scalar::bias_correction1],
                                  .bias_correction2 = scalars[Scalar::bias_correction2],
                                  .decoupled = Derived::is_decoupled()});
}

bool apply(const LARS&, const cpu::UpdateShare& share, const Scalars& scalars, double ratio) {
  return cpu::lars_update(share, {.lr = scalars[Scalar::learning_rate],
                                  .momentum = scalars[Scalar::momentum],
                                  .weight_decay = scalars[Scalar::weight_decay],
                                  .ratio = ratio});
}

/// What all gradients are multiplied by; nothing where their norm is of no use.
std::optional<float> factor_of(const Norms& norms, const Scalars& scalars) {
  const double norm = norms.gradient();
  const double limit = scalars[Scalar::clip_norm];
  if (limit > 0.0) return clip_factor(norm, limit);
  return std::isfinite(norm) ? std::optional(1.0F) : std::nullopt;
}

/// One rank's update of a range.
template <class O>
class Update {
 public:
  Update(const O& optimizer, const RangeShare& share, const Plan& plan, const Arenas& arenas)
      : optimizer_(optimizer), scalars_(plan, arenas) {
    if (plan.spec.norms) norms_.emplace(plan, arenas);
    for (const Piece& piece : share.pieces()) {
      BoundPiece bound{.piece = piece, .share = share.update_of(piece), .gradients = share.gradients_of(piece)};
      // With norms the sum over the ranks lies in this rank's own gradient, clipped by value.
      if (norms_) bound.gradients = {share.own_gradient_of(piece)};
      pieces_.push_back(std::move(bound));
    }
  }

  /// False when a gradient or a weight is not finite.
  bool operator()() const {
    const float factor = norms_ ? factor_of(*norms_, scalars_).value_or(0.0F) : 1.0F;
    // As PyTorch's average: the first step is taken as it is.
    const double average_decay = scalars_.step() == 1 ? 0.0 : static_cast<double>(scalars_[Scalar::ema_decay]);
    bool finite = true;
    for (const BoundPiece& bound : pieces_) {
      cpu::UpdateShare share = bound.share;
      share.gradients = bound.gradients;
      share.gradient_scale = factor;
      share.clip_value = norms_ ? 0.0F : scalars_[Scalar::clip_value];
      share.average_decay = average_decay;
      finite &= apply(optimizer_, share, scalars_, ratio_of(bound, factor));
    }
    return finite;
  }

 private:
  /// Weights alone have a ratio: biases and what normalises take steps of plain momentum.
  double ratio_of(const BoundPiece& bound, double factor) const {
    if (!O::uses_layer_norms() || !bound.share.decay) return 1.0;
    return lars_ratio(norms_->weight(bound.piece), factor * norms_->gradient(bound.piece),
                      scalars_[Scalar::trust_coefficient], scalars_[Scalar::weight_decay], scalars_[Scalar::epsilon]);
  }

  O optimizer_;
  Scalars scalars_;
  std::optional<Norms> norms_;
  std::vector<BoundPiece> pieces_;
};

void require_images(const RegionRange& range, Image kind, const Plan& plan) {
  for (int r = static_cast<int>(range.first); r <= static_cast<int>(range.last); ++r) {
    const Region region = static_cast<Region>(r);
    const Region image = image_of(region, kind);
    const auto bytes = [&](Region which) { return plan.memory.region_bytes[static_cast<int>(which)]; };
    if (bytes(region) == bytes(image)) continue;
    throw ShapeError(fmt::format("{} has {} bytes and {} has {}: every parameter needs one of its shape there",
                                 name_of(region), bytes(region), name_of(image), bytes(image)));
  }
}

}  // namespace

void require_complete(const Node& node, const Plan& plan) {
  if (node.range != bias_range && node.range != weight_range) {
    throw ValueError(fmt::format("{} covers a range of parameters, bias_range or weight_range", name_of(node.op)));
  }
  if (node.out[0] < 0) {
    throw ValueError(fmt::format("{} has an output: {}", name_of(node.op),
                                 node.op == OpKind::update ? "its flag, an int32 tensor" : "the sums of squares"));
  }
  require_images(node.range, Image::gradient, plan);
  if (plan.spec.moments > 0) require_images(node.range, Image::moment1, plan);
  if (plan.spec.moments > 1) require_images(node.range, Image::moment2, plan);
  if (plan.spec.average) require_images(node.range, Image::average, plan);
  if (plan.spec.norms && plan.fixed.square_sums < 0) {
    throw ValueError(fmt::format("{} needs norms and the plan has no sums of squares", name_of(node.op)));
  }
}

cpu::Kernel bind_update(const Node& node, const Plan& plan, const Arenas& arenas, int rank,
                        const AnyOptimizer& optimizer) {
  require_complete(node, plan);
  auto* flag = arenas.at<std::int32_t>(plan.tensors[node.out[0]].tensor, rank);
  const RangeShare share(node.range, plan, arenas, rank);
  return std::visit(
      [&](const auto& o) -> cpu::Kernel {
        return [update = Update(o, share, plan, arenas), flag] { *flag = update() ? 0 : 1; };
      },
      optimizer);
}

cpu::Kernel bind_reduce_gradients(const Node& node, const Plan& plan, const Arenas& arenas, int rank,
                                  const AnyOptimizer& optimizer) {
  require_complete(node, plan);
  const bool weights = uses_layer_norms(optimizer) && node.range == weight_range;
  struct Sum {
    std::vector<const float*> gradients;
    float* own = nullptr;
    const float* weight = nullptr;
    std::int64_t count = 0;
    double* squares = nullptr;
  };
  const RangeShare share(node.range, plan, arenas, rank);
  auto* squares = arenas.at<double>(plan.tensors[node.out[0]].tensor, 0);
  std::vector<Sum> sums;
  for (const Piece& chunk : share.chunks()) {
    sums.push_back({.gradients = share.gradients_of(chunk),
                    .own = share.own_gradient_of(chunk),
                    .weight = weights ? share.update_of(chunk).weight : nullptr,
                    .count = chunk.count,
                    .squares = squares + std::ptrdiff_t{2} * chunk.first_chunk});
  }
  return [sums, scalars = Scalars(plan, arenas)] {
    for (const Sum& sum : sums) {
      const cpu::SquareSums found =
          cpu::reduce_gradients(sum.gradients, sum.own, sum.weight, scalars[Scalar::clip_value], sum.count);
      // A clipped infinity would pass for a number.
      sum.squares[0] = found.finite ? found.gradient : std::numeric_limits<double>::quiet_NaN();
      sum.squares[1] = found.weight;
    }
  };
}

StepStatus norm_status(const Plan& plan, const Arenas& arenas) {
  const Norms norms(plan, arenas);
  if (!std::isfinite(norms.gradient())) return StepStatus::update_not_finite;
  return factor_of(norms, Scalars(plan, arenas)) ? StepStatus::ok : StepStatus::norm_too_large;
}

}  // namespace tr
