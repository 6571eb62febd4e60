#include "kernels/cpu/softmax_ce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/operands.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/softmax_ce.cc"
// It has to come before all that is compiled once for each target.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

#include "kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tr::cpu::HWY_NAMESPACE {

using Full = hn::ScalableTag<float>;

/// One row of a batch: where it starts in the values, and its label.
struct Row {
  std::int64_t start = 0;
  std::int64_t label = 0;
};

/// Calls f(v, i, valid) for each vector of a row of `count` values, the last one filled up with -inf: its exponential
/// is 0 and it is nobody's maximum. A row of ten classes so costs one exponential and not ten.
template <class F>
HWY_INLINE void for_each_padded(ConstValues values, std::int64_t start, std::int64_t count, F f) {
  const Full d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  HWY_ALIGN float rest[hn::MaxLanes(Full())];
  for (std::int64_t i = 0; i < count; i += lanes) {
    const std::int64_t valid = std::min(lanes, count - i);
    auto v = hn::Undefined(d);
    if (valid == lanes) {
      v = load(d, values, start + i);
    } else {
      const hn::CappedTag<float, 1> one;
      hn::Store(hn::Set(d, -std::numeric_limits<float>::infinity()), d, rest);
      for (std::int64_t j = 0; j < valid; ++j) store(load(one, values, start + i + j), one, rest + j);
      v = hn::Load(d, rest);
    }
    f(v, i, valid);
  }
}

HWY_INLINE void store_part(hn::Vec<Full> v, std::int64_t valid, Values to, std::int64_t at) {
  const Full d;
  if (valid == static_cast<std::int64_t>(hn::Lanes(d))) return store(v, d, to, at);
  HWY_ALIGN float rest[hn::MaxLanes(Full())];
  hn::Store(v, d, rest);
  const hn::CappedTag<float, 1> one;
  for (std::int64_t j = 0; j < valid; ++j) store(load(one, rest + j), one, to, at + j);
}

/// The lane of the label in the vector that starts at i: -1 where it lies before, the number of lanes where behind.
HWY_INLINE std::int32_t label_lane(std::int64_t label, std::int64_t i) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Full()));
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(label - i, -1, lanes));
}

/// What one pass over a row finds out.
struct RowFacts {
  float maximum = 0.0F;
  float at_label = 0.0F;
  std::int32_t rank = 0;
  bool has_nan = false;
};

RowFacts look_at(const SoftmaxCeRows& batch, Row row) {
  const Full d;
  const hn::RebindToSigned<Full> index;
  const hn::CappedTag<float, 1> one;
  RowFacts facts;
  facts.at_label = hn::GetLane(load(one, batch.logits, row.start + row.label));
  const auto at_label = hn::Set(d, facts.at_label);
  auto maximum = hn::Set(d, -std::numeric_limits<float>::infinity());
  std::size_t rank = 0;
  for_each_padded(batch.logits, row.start, batch.classes, [&](auto z, std::int64_t i, std::int64_t) HWY_ATTR {
    maximum = hn::Max(maximum, z);
    facts.has_nan = facts.has_nan || !hn::AllFalse(d, hn::IsNaN(z));
    const auto before = hn::Lt(hn::Iota(index, 0), hn::Set(index, label_lane(row.label, i)));
    const auto beats_tie = hn::And(hn::Eq(z, at_label), hn::RebindMask(d, before));
    rank += hn::CountTrue(d, hn::Or(hn::Gt(z, at_label), beats_tie));
  });
  facts.maximum = hn::GetLane(hn::MaxOfLanes(d, maximum));
  facts.rank = static_cast<std::int32_t>(facts.has_nan ? static_cast<std::size_t>(batch.classes) : rank);
  return facts;
}

void fill_gradient(const SoftmaxCeRows& batch, Row row, float value) {
  if (!batch.d_logits) return;
  for_each_vector(batch.classes,
                  [&](auto d, std::int64_t i) HWY_ATTR { store(hn::Set(d, value), d, batch.d_logits, row.start + i); });
}

/// Σ exp(z - max) and the mean of max - z over the classes of a row.
struct RowSums {
  float exponentials = 0.0F;
  float mean_below = 0.0F;
};

RowSums sums_of(const SoftmaxCeRows& batch, Row row, float maximum) {
  const Full d;
  const auto top = hn::Set(d, maximum);
  auto exponentials = hn::Zero(d);
  auto below = hn::Zero(d);
  for_each_padded(batch.logits, row.start, batch.classes, [&](auto z, std::int64_t, std::int64_t valid) HWY_ATTR {
    const auto shifted = hn::Sub(z, top);
    exponentials = hn::Add(exponentials, hn::Exp(d, shifted));
    below = hn::Sub(below, hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(valid)), shifted));
  });
  return {hn::GetLane(hn::SumOfLanes(d, exponentials)),
          hn::GetLane(hn::SumOfLanes(d, below)) / static_cast<float>(batch.classes)};
}

float loss_of(const RowFacts& facts, const RowSums& sums, float smoothing) {
  const float log_sum = std::log(sums.exponentials);
  const float hard = log_sum + (facts.maximum - facts.at_label);
  // Without smoothing a class at -inf must not enter as 0·inf.
  return smoothing > 0.0F ? (1.0F - smoothing) * hard + smoothing * (log_sum + sums.mean_below) : hard;
}

void write_gradient(const SoftmaxCeRows& batch, Row row, float maximum, float exponentials) {
  const Full d;
  const hn::RebindToSigned<Full> index;
  const auto top = hn::Set(d, maximum);
  const auto inverse = hn::Set(d, 1.0F / exponentials);
  const auto scale = hn::Set(d, static_cast<float>(1.0 / static_cast<double>(batch.total_rows)));
  const auto others = hn::Set(d, batch.smoothing / static_cast<float>(batch.classes));
  const auto own = hn::Set(d, 1.0F - batch.smoothing);
  for_each_padded(batch.logits, row.start, batch.classes, [&](auto z, std::int64_t i, std::int64_t valid) HWY_ATTR {
    const auto softmax = hn::Mul(hn::Exp(d, hn::Sub(z, top)), inverse);
    const auto is_label = hn::RebindMask(d, hn::Eq(hn::Iota(index, 0), hn::Set(index, label_lane(row.label, i))));
    const auto target = hn::Add(others, hn::IfThenElseZero(is_label, own));
    store_part(hn::Mul(hn::Sub(softmax, target), scale), valid, batch.d_logits, row.start + i);
  });
}

void softmax_ce(const SoftmaxCeRows& batch) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::int64_t r = 0; r < batch.rows; ++r) {
    const Row row{row_start(r, batch.classes), batch.labels[r]};
    if (row.label < 0 || row.label >= batch.classes) {
      batch.row_loss[r] = nan;
      batch.row_rank[r] = illegal_label_rank;
      fill_gradient(batch, row, 0.0F);
      continue;
    }
    const RowFacts facts = look_at(batch, row);
    batch.row_rank[r] = facts.rank;
    // Highway's exponential turns NaN into 0, so such a row must not reach it.
    if (facts.has_nan || !std::isfinite(facts.maximum)) {
      batch.row_loss[r] = nan;
      fill_gradient(batch, row, nan);
      continue;
    }
    const RowSums sums = sums_of(batch, row, facts.maximum);
    batch.row_loss[r] = loss_of(facts, sums, batch.smoothing);
    if (batch.d_logits) write_gradient(batch, row, facts.maximum, sums.exponentials);
  }
}

}  // namespace tr::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tr::cpu {

HWY_EXPORT(softmax_ce);

void softmax_ce(const SoftmaxCeRows& batch) { HWY_DYNAMIC_DISPATCH(softmax_ce)(batch); }

namespace {

Kernel make_rows(const Operation& operation, Values d_logits) {
  const Operand& logits = operation.in[0];
  const Operand& labels = operation.in[1];
  const Operand& smoothing = operation.in[2];
  const Operand& row_loss = operation.out[1];
  const Operand& row_rank = operation.out[2];
  require(operation, logits, "logits", {DType::fp32, DType::bf16});
  require(operation, labels, "labels", {DType::int32});
  require(operation, smoothing, "smoothing", {DType::fp32});
  require(operation, row_loss, "row_loss", {DType::fp32});
  require(operation, row_rank, "row_rank", {DType::int32});
  const int rows = logits.shape.n;
  require_shape(operation, labels, "labels", rows, 1);
  require_shape(operation, row_loss, "row_loss", rows, 1);
  require_shape(operation, row_rank, "row_rank", rows, 1);
  SoftmaxCeRows batch{.logits = const_values(logits),
                      .labels = labels.as<const std::int32_t>(),
                      .rows = rows,
                      .classes = logits.shape.sample_size(),
                      .total_rows = operation.attributes.total_rows > 0 ? operation.attributes.total_rows : rows,
                      .d_logits = d_logits,
                      .row_loss = row_loss.as<float>(),
                      .row_rank = row_rank.as<std::int32_t>()};
  return [batch, smoothing = smoothing.as<const float>()]() mutable {
    batch.smoothing = *smoothing;
    softmax_ce(batch);
  };
}

}  // namespace

Kernel make_softmax_ce(const Operation& operation, Scratch&) {
  const Operand& logits = operation.in[0];
  const Operand& d_logits = operation.out[0];
  require(operation, d_logits, "d_logits", {DType::fp32, DType::bf16});
  require_shape(operation, d_logits, "d_logits", logits.shape.n, logits.shape.sample_size());
  return make_rows(operation, values(d_logits));
}

Kernel make_softmax_ce_evaluate(const Operation& operation, Scratch&) { return make_rows(operation, {}); }

}  // namespace tr::cpu
#endif
