#include "tr/exec/update.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "kernels/cpu/adamw.h"
#include "kernels/cpu/sgd.h"
#include "tr/base/error.h"
#include "tr/dist/slice.h"

namespace tr {
namespace {

// Shares start where a cache line starts in the weights and in a copy of half their size.
constexpr std::int64_t share_unit = static_cast<std::int64_t>(alignment) / 2;

struct Range {
  cpu::UpdateShare share;
  std::vector<const float*> gradients;
};

std::byte* region_base(const Plan& plan, const Arenas& arenas, Region region, int rank) {
  const auto base = arena_of(region) == Arena::shared ? arenas.shared() : arenas.local(rank);
  return base.data() + plan.memory.offset_of(region);
}

Range share_of(const RegionRange& regions, const Plan& plan, const Arenas& arenas, int rank) {
  const Region first_region = regions.first;
  const std::int64_t count = plan.memory.bytes_of(regions) / static_cast<std::int64_t>(sizeof(float));
  const Slice units = slice_of((count + share_unit - 1) / share_unit, rank, arenas.ranks());
  const std::int64_t first = units.first * share_unit;
  const auto floats = [&](Region r, int owner) {
    return reinterpret_cast<float*>(region_base(plan, arenas, r, owner)) + first;
  };
  Range range;
  range.share.weight = floats(first_region, rank);
  range.share.count = std::min(units.count * share_unit, count - first);
  range.share.decay = regions == weight_range;
  if (plan.spec.moments > 0) range.share.moment1 = floats(image_of(first_region, Image::moment1), rank);
  if (plan.spec.moments > 1) range.share.moment2 = floats(image_of(first_region, Image::moment2), rank);
  if (regions == weight_range && plan.spec.precision == Precision::bf16) {
    range.share.working = reinterpret_cast<Bf16*>(region_base(plan, arenas, working_range.first, rank)) + first;
  }
  for (int owner = 0; owner < arenas.ranks(); ++owner) {
    range.gradients.push_back(floats(image_of(first_region, Image::gradient), owner));
  }
  return range;
}

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

bool apply(const SGD& sgd, const cpu::UpdateShare& share, const Scalars& scalars) {
  return cpu::sgd_update(share, {.lr = scalars[Scalar::learning_rate],
                                 .momentum = scalars[Scalar::momentum],
                                 .dampening = scalars[Scalar::dampening],
                                 .weight_decay = scalars[Scalar::weight_decay],
                                 .nesterov = sgd.is_nesterov(),
                                 .decoupled = sgd.is_decoupled(),
                                 .first_step = scalars.step() == 1});
}

bool apply(const AdamW&, const cpu::UpdateShare& share, const Scalars& scalars) {
  return cpu::adamw_update(share, {.lr = scalars[Scalar::learning_rate],
                                   .beta1 = scalars[Scalar::beta1],
                                   .beta2 = scalars[Scalar::beta2],
                                   .eps = scalars[Scalar::epsilon],
                                   .weight_decay = scalars[Scalar::weight_decay],
                                   .bias_correction1 = scalars[Scalar::bias_correction1],
                                   .bias_correction2 = scalars[Scalar::bias_correction2]});
}

void require_complete(const Node& node, const Plan& plan) {
  if (node.range != bias_range && node.range != weight_range) {
    throw ValueError("an update node covers a range of parameters, bias_range or weight_range");
  }
  if (node.out[0] < 0) throw ValueError("an update node has its flag, an int32 tensor, as its output");
  for (int r = static_cast<int>(node.range.first); r <= static_cast<int>(node.range.last); ++r) {
    const Region region = static_cast<Region>(r);
    const Region gradient = image_of(region, Image::gradient);
    const auto bytes = [&](Region which) { return plan.memory.region_bytes[static_cast<int>(which)]; };
    if (bytes(region) == bytes(gradient)) continue;
    throw ShapeError(fmt::format("{} has {} bytes and {} has {}: every parameter needs a gradient of its shape",
                                 name_of(region), bytes(region), name_of(gradient), bytes(gradient)));
  }
}

}  // namespace

cpu::Kernel bind_update(const Node& node, const Plan& plan, const Arenas& arenas, int rank,
                        const AnyOptimizer& optimizer) {
  require_complete(node, plan);
  Range range = share_of(node.range, plan, arenas, rank);
  auto* flag = arenas.at<std::int32_t>(plan.tensors[node.out[0]].tensor, rank);
  const Scalars scalars(plan, arenas);
  return std::visit(
      [&](const auto& o) -> cpu::Kernel {
        return [o, range, scalars, flag] {
          cpu::UpdateShare share = range.share;
          share.gradients = range.gradients;
          *flag = apply(o, share, scalars) ? 0 : 1;
        };
      },
      optimizer);
}

}  // namespace tr
