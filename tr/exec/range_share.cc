#include "tr/exec/range_share.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "tr/dist/slice.h"

namespace tr {
namespace {

// Shares start where a cache line starts in the weights and in a copy of half their size.
constexpr std::int64_t share_unit = static_cast<std::int64_t>(alignment) / 2;

constexpr auto float_bytes = static_cast<std::int64_t>(sizeof(float));

/// Where a range's chunks begin among those of all parameters.
int first_chunk_of(const RegionRange& range, const Plan& plan) {
  return range == weight_range ? chunks_of(plan.tensors, bias_range).size() : 0;
}

}  // namespace

RangeShare::RangeShare(const RegionRange& range, const Plan& plan, const Arenas& arenas, int rank)
    : range_(range), plan_(&plan), arenas_(&arenas), rank_(rank) {}

std::vector<Piece> RangeShare::chunks() const {
  const FlatList<Chunk> chunks = chunks_of(plan_->tensors, range_);
  const Slice own = slice_of(chunks.size(), rank_, arenas_->ranks());
  const int before = first_chunk_of(range_, *plan_);
  std::vector<Piece> pieces;
  for (std::int64_t i = own.first; i < own.first + own.count; ++i) {
    const Chunk& chunk = chunks[static_cast<int>(i)];
    const std::int64_t tensor_offset =
        plan_->tensors[chunk.tensor].tensor.offset - plan_->memory.offset_of(range_.first);
    pieces.push_back({.first = tensor_offset / float_bytes + chunk.first,
                      .count = chunk.count,
                      .first_chunk = before + static_cast<int>(i),
                      .chunks = 1});
  }
  return pieces;
}

std::vector<Piece> RangeShare::pieces() const {
  if (!plan_->spec.norms) {
    const std::int64_t count = plan_->memory.bytes_of(range_) / float_bytes;
    const Slice units = slice_of((count + share_unit - 1) / share_unit, rank_, arenas_->ranks());
    const std::int64_t first = units.first * share_unit;
    return {{.first = first, .count = std::min(units.count * share_unit, count - first)}};
  }
  // Each chunk first stands for all chunks of its tensor; neighbours of one tensor then become one piece.
  const FlatList<Chunk> all = chunks_of(plan_->tensors, range_);
  const int before = first_chunk_of(range_, *plan_);
  std::vector<Piece> pieces;
  int last_tensor = -1;
  for (const Piece& chunk : chunks()) {
    const int own = chunk.first_chunk - before;
    const int tensor = all[own].tensor;
    if (tensor == last_tensor) {
      pieces.back().count += chunk.count;
      continue;
    }
    last_tensor = tensor;
    int first = own;
    while (first > 0 && all[first - 1].tensor == tensor) --first;
    int end = own;
    while (end < all.size() && all[end].tensor == tensor) ++end;
    pieces.push_back(
        {.first = chunk.first, .count = chunk.count, .first_chunk = before + first, .chunks = end - first});
  }
  return pieces;
}

float* RangeShare::at(Region region, int owner, const Piece& piece) const {
  const auto base = arena_of(region) == Arena::shared ? arenas_->shared() : arenas_->local(owner);
  return reinterpret_cast<float*>(base.data() + plan_->memory.offset_of(region)) + piece.first;
}

cpu::UpdateShare RangeShare::update_of(const Piece& piece) const {
  const PlanSpec& spec = plan_->spec;
  cpu::UpdateShare share;
  share.weight = at(range_.first, rank_, piece);
  share.count = piece.count;
  share.decay = range_ == weight_range;
  if (spec.moments > 0) share.moment1 = at(image_of(range_.first, Image::moment1), rank_, piece);
  if (spec.moments > 1) share.moment2 = at(image_of(range_.first, Image::moment2), rank_, piece);
  if (spec.average) share.average = at(image_of(range_.first, Image::average), rank_, piece);
  if (range_ == weight_range && spec.precision == Precision::bf16) {
    auto* copies = arenas_->shared().data() + plan_->memory.offset_of(working_range.first);
    share.working = reinterpret_cast<Bf16*>(copies) + piece.first;
  }
  return share;
}

std::vector<const float*> RangeShare::gradients_of(const Piece& piece) const {
  std::vector<const float*> gradients;
  for (int owner = 0; owner < arenas_->ranks(); ++owner) {
    gradients.push_back(at(image_of(range_.first, Image::gradient), owner, piece));
  }
  return gradients;
}

float* RangeShare::own_gradient_of(const Piece& piece) const {
  return at(image_of(range_.first, Image::gradient), rank_, piece);
}

Norms::Norms(const Plan& plan, const Arenas& arenas)
    : sums_(arenas.at<const double>(plan.tensors[plan.fixed.square_sums].tensor, 0)),
      chunks_(plan.tensors[plan.fixed.square_sums].tensor.shape.n) {}

double Norms::root_of(int first, int count, int which) const {
  double sum = 0.0;
  for (int i = first; i < first + count; ++i) sum += sums_[2 * i + which];
  return std::sqrt(sum);
}

}  // namespace tr
