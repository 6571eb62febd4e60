#pragma once

#include <algorithm>
#include <cstdint>

#include "tr/base/flat_list.h"
#include "tr/base/text.h"
#include "tr/plan/spec.h"

namespace tr {

/// A layer of the ArchPlan: its record, where it stands, and the tensors made for it.
struct ArchLayer {
  LayerRecord record;
  Site site;
  LayerTensors tensors;
};

/// The flat list of layers after shape inference and fusion; what was fused away has no entry of its own.
using ArchPlan = FlatList<ArchLayer>;

namespace detail {

constexpr void begin_message(TextBuilder& error, int layer, const LayerRecord& record) {
  error << "layer " << layer << ", ";
  visit(record, [&](const auto& l) { l.describe(error); });
  error << ": ";
}

/// Any tensor has fewer elements than this, so that no sum of sizes in bytes comes near an overflow.
inline constexpr std::int64_t max_elements = std::int64_t{1} << 40;

constexpr void check_sample(const Shape& sample, TextBuilder& error) {
  const bool positive = sample.h > 0 && sample.w > 0 && sample.c > 0;
  // By division: the product of three large dimensions would overflow.
  if (positive && std::int64_t{sample.h} * sample.w <= INT32_MAX / sample.c) return;
  error << "the data set's sample of " << sample.h << "x" << sample.w << "x" << sample.c << " values "
        << (positive ? "is too large" : "has a dimension that is not positive");
}

constexpr void check_rows(const ArchPlan& arch, int rows, TextBuilder& error) {
  for (const ArchLayer& layer : arch) {
    const std::int64_t values = std::max(layer.site.in.sample_size(), layer.site.out.sample_size());
    if (rows * values < max_elements) continue;
    begin_message(error, layer.site.layer, layer.record);
    error << "a batch of " << rows << " rows x " << values << " values is too large";
    return;
  }
}

constexpr void infer_shapes(const ModelSpec& model, ArchPlan& arch, TextBuilder& error) {
  Shape shape = model.sample;
  for (int i = 0; i < static_cast<int>(model.layers.size()); ++i) {
    const LayerRecord& record = model.layers[i];
    TextBuilder why;
    visit(record, [&](const auto& layer) { layer.check(shape, why); });
    if (!why.empty()) {
      begin_message(error, i, record);
      error << why.view();
      return;
    }
    const Shape out = visit(record, [&](const auto& layer) { return layer.output(shape); });
    ArchLayer layer;
    layer.record = record;
    layer.site.layer = i;
    layer.site.in = shape;
    layer.site.out = out;
    arch.push(layer);
    shape = out;
  }
}

constexpr void check_classes(const ModelSpec& model, const ArchPlan& arch, TextBuilder& error) {
  const ArchLayer& last = arch[arch.size() - 1];
  if (last.site.out == Shape{1, 1, 1, model.classes}) return;
  begin_message(error, last.site.layer, last.record);
  append_sample_shape(error << "its output ", last.site.out)
      << " differs from the data set's " << model.classes << " classes";
}

/// fc + relu → one layer.
constexpr void fuse_activations(ArchPlan& arch) {
  ArchPlan fused;
  for (const ArchLayer& layer : arch) {
    ArchLayer* before = fused.size() > 0 ? &fused[fused.size() - 1] : nullptr;
    if (layer.record.kind == LayerKind::relu && before != nullptr && before->record.kind == LayerKind::fc &&
        before->site.activation == Activation::none) {
      before->site.activation = Activation::relu;
    } else {
      fused.push(layer);
    }
  }
  arch = static_cast<ArchPlan&&>(fused);
}

constexpr void mark_gradients(ArchPlan& arch) {
  bool parameters_before = false;
  for (ArchLayer& layer : arch) {
    layer.site.needs_data_gradient = parameters_before;
    parameters_before |= visit(layer.record, [&](const auto& l) { return l.parameter_count(layer.site.in) > 0; });
  }
  // The last layer that makes a tensor of its own; flatten() hands on its input.
  int last = arch.size() - 1;
  while (last > 0 && arch[last].record.kind == LayerKind::flatten) --last;
  arch[last].site.feeds_loss = true;
}

}  // namespace detail

/// BluePrint → ArchPlan. A model that cannot be built leaves its reason in `error`: layer, index and the numbers at
/// odds.
constexpr void build_arch(const ModelSpec& model, const PlanSpec& spec, ArchPlan& arch, TextBuilder& error) {
  if (model.layers.empty()) {
    error << "the blueprint is an empty seq(): a model needs at least one layer";
    return;
  }
  detail::check_sample(model.sample, error);
  if (!error.empty()) return;
  detail::infer_shapes(model, arch, error);
  if (!error.empty()) return;
  detail::check_classes(model, arch, error);
  if (!error.empty()) return;
  detail::check_rows(arch, std::max(spec.train_rows, spec.evaluate_rows), error);
  if (!error.empty()) return;
  if (spec.fuse) detail::fuse_activations(arch);
  detail::mark_gradients(arch);
}

}  // namespace tr
