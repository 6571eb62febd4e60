#include "tr/exec/cuda_update.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include "kernels/cuda/adam.h"
#include "kernels/cuda/advance_step.h"
#include "kernels/cuda/judge_step.h"
#include "kernels/cuda/lars.h"
#include "kernels/cuda/loss_scale.h"
#include "kernels/cuda/range.h"
#include "kernels/cuda/sgd.h"
#include "tr/exec/cuda_ops.h"
#include "tr/exec/cuda_working_copies.h"
#include "tr/op/softmax_ce.h"
#include "tr/plan/chunks.h"

namespace tr {
namespace {

constexpr auto float_bytes = static_cast<std::int64_t>(sizeof(float));
constexpr auto flag_bytes = static_cast<std::int64_t>(sizeof(std::int32_t));

static_assert(first_loss_scale == cuda::first_loss_scale);

constexpr RegionRange all_gradients = image_of(parameter_range, Image::gradient);

template <class T>
std::int64_t bytes_in(const std::vector<T>& values) {
  return static_cast<std::int64_t>(values.size() * sizeof(T));
}

}  // namespace

CudaUpdate::CudaUpdate(const Plan& plan, const CudaArenas& arenas, const UpdateRule& rule, CudaRank rank,
                       CudaAnnex& annex)
    : plan_(&plan),
      arenas_(&arenas),
      rule_(rule),
      rank_(rank),
      annex_(&annex),
      flags_at_(annex.reserve(flag_count * flag_bytes)) {
  if (!plan.spec.norms) return;
  gradient_scale_at_ = annex.reserve(float_bytes);
  biases_ = table_of(bias_range, annex);
  weights_ = table_of(weight_range, annex);
  ratios_at_ = annex.reserve(static_cast<std::int64_t>(weights_.first_chunk.size()) * float_bytes);
}

CudaUpdate::Table CudaUpdate::table_of(const RegionRange& range, CudaAnnex& annex) const {
  Table table;
  int last_tensor = -1;
  for (const Chunk& chunk : chunks_of(plan_->tensors, range)) {
    if (chunk.tensor != last_tensor) table.first_chunk.push_back(static_cast<std::int32_t>(table.chunks.size()));
    last_tensor = chunk.tensor;
    const std::int64_t offset = plan_->tensors[chunk.tensor].tensor.offset - plan_->memory.offset_of(range.first);
    table.chunks.push_back({.first = offset / float_bytes + chunk.first,
                            .count = chunk.count,
                            .tensor = static_cast<std::int32_t>(table.first_chunk.size()) - 1});
    table.largest = std::max(table.largest, chunk.count);
  }
  table.first_chunk.push_back(static_cast<std::int32_t>(table.chunks.size()));
  table.chunks_at = annex.reserve(bytes_in(table.chunks));
  table.first_chunk_at = annex.reserve(bytes_in(table.first_chunk));
  return table;
}

void CudaUpdate::upload_tables() const {
  for (const Table* table : {&biases_, &weights_}) {
    annex_->upload(table->chunks_at, std::as_bytes(std::span(table->chunks)));
    annex_->upload(table->first_chunk_at, std::as_bytes(std::span(table->first_chunk)));
  }
}

cuda::Chunks CudaUpdate::chunks(const RegionRange& range) const {
  const Table& of = table(range);
  return {annex_->at<const cuda::Chunk>(of.chunks_at), static_cast<std::int64_t>(of.chunks.size()), of.largest};
}

/// Those of the biases stand before those of the weights.
cuda::SquareSum* CudaUpdate::square_sums(const RegionRange& range) const {
  auto* sums = arenas_->at<cuda::SquareSum>(plan_->tensors[plan_->fixed.square_sums].tensor);
  return range == weight_range ? sums + biases_.chunks.size() : sums;
}

float* CudaUpdate::gradient_scale() const {
  return rule_.clipping.norm() > 0.0 ? annex_->at<float>(gradient_scale_at_) : nullptr;
}

float* CudaUpdate::parameters(const RegionRange& range, Image image) const {
  return arenas_->at<float>(image_of(range.first, image));
}

std::int32_t* CudaUpdate::not_finite(int which) const {
  return arenas_->at<std::int32_t>(plan_->tensors[plan_->fixed.not_finite[static_cast<std::size_t>(which)]].tensor);
}

void CudaUpdate::add_sum_of_results(CudaSchedule& schedule, Stream stream, int slot) const {
  if (rank_.group == nullptr) return;
  const DTensor& result = plan_->tensors[plan_->fixed.in_slot(plan_->fixed.result[0], slot)].tensor;
  auto* sums = arenas_->at<double>(result);
  CudaTask task{.name = "sum of the results", .stream = stream, .accesses = {}, .issue = {}};
  task.writes(sums, result.bytes());
  task.issue = [rank = rank_, sums](cudaStream_t on) {
    rank.group->all_reduce(
        {.rank = rank.rank, .from = sums, .to = sums, .count = metric_count, .type = cuda::CollectiveType::fp64},
        "sum of the results", on);
  };
  schedule.add(std::move(task));
}

void CudaUpdate::add_sum_of_gradients(CudaSchedule& schedule) const {
  const std::int64_t bytes = bytes_of(all_gradients);
  if (rank_.group == nullptr || bytes == 0) return;
  auto* gradients = arenas_->at<float>(all_gradients.first);
  CudaTask task{.name = "sum of the gradients", .stream = Stream::update, .accesses = {}, .issue = {}};
  task.writes(gradients, bytes);
  task.issue = [rank = rank_, gradients, count = bytes / float_bytes](cudaStream_t on) {
    rank.group->all_reduce({.rank = rank.rank, .from = gradients, .to = gradients, .count = count},
                           "sum of the gradients", on);
  };
  schedule.add(std::move(task));
}

void CudaUpdate::add_overflow_check(CudaSchedule& schedule) const {
  if (!scales_loss() || plan_->spec.norms) return;
  const float* gradients = arenas_->at<const float>(all_gradients.first);
  const std::int64_t bytes = bytes_of(all_gradients);
  CudaTask task{.name = "overflow check", .stream = Stream::update, .accesses = {}, .issue = {}};
  task.reads(gradients, bytes);
  task.writes(flag(overflow), flag_bytes);
  task.issue = [gradients, count = bytes / float_bytes, found = flag(overflow)](cudaStream_t on) {
    cuda::find_nonfinite({gradients, cuda::FloatType::fp32}, count, found, on);
  };
  schedule.add(std::move(task));
}

void CudaUpdate::add_loss_scale(CudaSchedule& schedule) const {
  if (!scales_loss()) return;
  const cuda::LossScale adjusted{.scale = loss_scale(),
                                 .clean_steps = scalar<std::int32_t>(Scalar::clean_steps),
                                 .skipped_steps = scalar<std::int32_t>(Scalar::skipped_steps),
                                 .overflow = flag(overflow),
                                 .halted = flag(halted)};
  CudaTask task{.name = "adjust_loss_scale", .stream = Stream::update, .accesses = {}, .issue = {}};
  task.writes(adjusted.scale, float_bytes);
  for (const std::int32_t* each : {adjusted.clean_steps, adjusted.skipped_steps, adjusted.overflow}) {
    task.writes(each, flag_bytes);
  }
  task.reads(adjusted.halted, flag_bytes);
  task.issue = [adjusted](cudaStream_t on) { cuda::adjust_loss_scale(adjusted, on); };
  schedule.add(std::move(task));
}

void CudaUpdate::add_square_sums(CudaSchedule& schedule, const Node& node) const {
  const cuda::SquareSums squares{.gradient = parameters(node.range, Image::gradient),
                                 .weight = arenas_->at<const float>(node.range.first),
                                 .chunks = chunks(node.range),
                                 .clip_value = static_cast<float>(rule_.clipping.value()),
                                 .loss_scale = loss_scale(),
                                 .sums = square_sums(node.range),
                                 .nonfinite = gradient_flag()};
  CudaTask task{.name = describe(node), .stream = Stream::update, .accesses = {}, .issue = {}};
  task.reads(squares.gradient, bytes_of(node.range));
  task.reads(squares.weight, bytes_of(node.range));
  task.reads(squares.chunks.table, bytes_in(table(node.range).chunks));
  task.writes(squares.sums, squares.chunks.count * static_cast<std::int64_t>(sizeof(cuda::SquareSum)));
  task.writes(squares.nonfinite, flag_bytes);
  if (squares.loss_scale != nullptr) task.reads(squares.loss_scale, float_bytes);
  task.issue = [squares](cudaStream_t on) { cuda::square_sums(squares, on); };
  schedule.add(std::move(task));
}

void CudaUpdate::add_clip_factor(CudaSchedule& schedule) const {
  const cuda::ClipFactor clip{.sums = square_sums(bias_range),
                              .chunks = static_cast<std::int64_t>(biases_.chunks.size() + weights_.chunks.size()),
                              .max_norm = static_cast<float>(rule_.clipping.norm()),
                              .gradient_scale = gradient_scale(),
                              .nonfinite = gradient_flag()};
  CudaTask task{.name = "clip_factor", .stream = Stream::update, .accesses = {}, .issue = {}};
  task.reads(clip.sums, clip.chunks * static_cast<std::int64_t>(sizeof(cuda::SquareSum)));
  task.writes(clip.gradient_scale, float_bytes);
  task.writes(clip.nonfinite, flag_bytes);
  task.issue = [clip](cudaStream_t on) { cuda::clip_factor(clip, on); };
  schedule.add(std::move(task));
}

void CudaUpdate::add_ratios(CudaSchedule& schedule, const LARS& lars) const {
  const cuda::LarsRatios ratios{.sums = square_sums(weight_range),
                                .chunks = chunks(weight_range),
                                .first_chunk = annex_->at<const std::int32_t>(weights_.first_chunk_at),
                                .tensors = static_cast<std::int64_t>(weights_.first_chunk.size()) - 1,
                                .trust = static_cast<float>(lars.trust_coefficient()),
                                .eps = static_cast<float>(lars.eps()),
                                .weight_decay = scalar(Scalar::weight_decay),
                                .gradient_scale = gradient_scale(),
                                .ratios = annex_->at<float>(ratios_at_)};
  CudaTask task{.name = "lars_ratios", .stream = Stream::update, .accesses = {}, .issue = {}};
  task.reads(ratios.sums, ratios.chunks.count * static_cast<std::int64_t>(sizeof(cuda::SquareSum)));
  task.reads(ratios.first_chunk, bytes_in(weights_.first_chunk));
  task.reads(ratios.weight_decay, float_bytes);
  if (ratios.gradient_scale != nullptr) task.reads(ratios.gradient_scale, float_bytes);
  task.writes(ratios.ratios, ratios.tensors * float_bytes);
  task.issue = [ratios](cudaStream_t on) { cuda::lars_ratios(ratios, on); };
  schedule.add(std::move(task));
}

void CudaUpdate::add_judgement(CudaSchedule& schedule, int slot) const {
  if (rule_.clipping.norm() > 0.0) add_clip_factor(schedule);
  if (const auto* lars = std::get_if<LARS>(&rule_.optimizer)) add_ratios(schedule, *lars);
  const DTensor& result = plan_->tensors[plan_->fixed.in_slot(plan_->fixed.result[0], slot)].tensor;
  const cuda::JudgeStep judge{.result = arenas_->at<const double>(result),
                              .not_finite = {not_finite(0), not_finite(1)},
                              .gradient_not_finite = plan_->spec.norms ? flag(gradient_not_finite) : nullptr,
                              .overflow = scales_loss() ? flag(overflow) : nullptr,
                              .halted = flag(halted),
                              .skip = flag(skip)};
  CudaTask task{.name = "judge_step", .stream = Stream::update, .accesses = {}, .issue = {}};
  task.reads(judge.result, result.bytes());
  for (std::int32_t* each : judge.not_finite) task.writes(each, flag_bytes);
  task.writes(flag(skip), flag_count * flag_bytes);
  task.issue = [judge](cudaStream_t on) { cuda::judge_step(judge, on); };
  schedule.add(std::move(task));
}

void CudaUpdate::add_advance(CudaSchedule& schedule) const {
  const cuda::AdvanceStep advance{.beta1 = scalar(Scalar::beta1),
                                  .beta2 = scalar(Scalar::beta2),
                                  .step = scalar<std::int32_t>(Scalar::step),
                                  .bias_correction1 = scalar(Scalar::bias_correction1),
                                  .bias_correction2 = scalar(Scalar::bias_correction2),
                                  .skip = flag(skip)};
  CudaTask task{.name = "advance_step", .stream = Stream::update, .accesses = {}, .issue = {}};
  task.reads(advance.beta1, float_bytes);
  task.reads(advance.beta2, float_bytes);
  task.reads(advance.skip, flag_bytes);
  task.writes(advance.step, flag_bytes);
  task.writes(advance.bias_correction1, float_bytes);
  task.writes(advance.bias_correction2, float_bytes);
  task.issue = [advance](cudaStream_t on) { cuda::advance_step(advance, on); };
  schedule.add(std::move(task));
}

cuda::UpdateRange CudaUpdate::range_of(const Node& node) const {
  const PlanSpec& spec = plan_->spec;
  const RegionRange& range = node.range;
  cuda::UpdateRange update{.weight = arenas_->at<float>(range.first),
                           .gradient = parameters(range, Image::gradient),
                           .count = bytes_of(range) / float_bytes,
                           .decay = range == weight_range,
                           .clip_value = static_cast<float>(rule_.clipping.value()),
                           .step = scalar<std::int32_t>(Scalar::step),
                           .average_decay = scalar(Scalar::ema_decay),
                           .gradient_scale = gradient_scale(),
                           .loss_scale = loss_scale(),
                           .skip = flag(skip),
                           .nonfinite = not_finite(range == weight_range ? 1 : 0)};
  if (spec.moments > 0) update.moment1 = parameters(range, Image::moment1);
  if (spec.moments > 1) update.moment2 = parameters(range, Image::moment2);
  if (spec.average) update.average = parameters(range, Image::average);
  if (range == weight_range) update.working = working_copies(*plan_, *arenas_);
  return update;
}

void CudaUpdate::declare_update(CudaTask& task, const Node& node, const cuda::UpdateRange& range) const {
  const std::int64_t bytes = bytes_of(node.range);
  for (const float* written : {range.weight, range.moment1, range.moment2, range.average}) {
    if (written != nullptr) task.writes(written, bytes);
  }
  if (range.working.data != nullptr) task.writes(range.working.data, bytes_of(working_range));
  task.reads(range.gradient, bytes);
  task.reads(range.skip, flag_bytes);
  task.writes(range.nonfinite, flag_bytes);
  if (range.gradient_scale != nullptr) task.reads(range.gradient_scale, float_bytes);
  for (const Region region : {Region::s_scalar_fp32, Region::s_scalar_int32}) {
    task.reads(arenas_->address(region), plan_->memory.region_bytes[static_cast<std::size_t>(region)]);
  }
  if (!uses_layer_norms(rule_.optimizer)) return;
  task.reads(chunks(node.range).table, bytes_in(table(node.range).chunks));
  if (node.range == weight_range) {
    task.reads(annex_->at<float>(ratios_at_), static_cast<std::int64_t>(weights_.first_chunk.size() - 1) * float_bytes);
  }
}

void CudaUpdate::issue(CudaTask& task, const SGD& sgd, const Node& node) const {
  const cuda::SgdUpdate update{.range = range_of(node),
                               .scalars = {.lr = scalar(Scalar::learning_rate),
                                           .momentum = scalar(Scalar::momentum),
                                           .dampening = scalar(Scalar::dampening),
                                           .weight_decay = scalar(Scalar::weight_decay)},
                               .nesterov = sgd.is_nesterov(),
                               .decoupled = sgd.is_decoupled()};
  task.issue = [update](cudaStream_t on) { cuda::sgd_update(update, on); };
}

template <class Derived>
void CudaUpdate::issue(CudaTask& task, const AdamBase<Derived>&, const Node& node) const {
  const cuda::AdamUpdate update{.range = range_of(node),
                                .scalars = {.lr = scalar(Scalar::learning_rate),
                                            .beta1 = scalar(Scalar::beta1),
                                            .beta2 = scalar(Scalar::beta2),
                                            .eps = scalar(Scalar::epsilon),
                                            .weight_decay = scalar(Scalar::weight_decay),
                                            .bias_correction1 = scalar(Scalar::bias_correction1),
                                            .bias_correction2 = scalar(Scalar::bias_correction2)},
                                .decoupled = Derived::is_decoupled()};
  task.issue = [update](cudaStream_t on) { cuda::adam_update(update, on); };
}

void CudaUpdate::issue(CudaTask& task, const LARS&, const Node& node) const {
  const cuda::LarsUpdate update{.range = range_of(node),
                                .scalars = {.lr = scalar(Scalar::learning_rate),
                                            .momentum = scalar(Scalar::momentum),
                                            .weight_decay = scalar(Scalar::weight_decay)},
                                .chunks = chunks(node.range),
                                .ratios = node.range == weight_range ? annex_->at<const float>(ratios_at_) : nullptr};
  task.issue = [update](cudaStream_t on) { cuda::lars_update(update, on); };
}

void CudaUpdate::add_update(CudaSchedule& schedule, const Node& node) const {
  CudaTask task{.name = std::string(name_of(node.op)) + " of " + std::string(name_of(node.range)),
                .stream = Stream::update,
                .accesses = {},
                .issue = {}};
  declare_update(task, node, range_of(node));
  std::visit([&](const auto& optimizer) { issue(task, optimizer, node); }, rule_.optimizer);
  schedule.add(std::move(task));
}

void CudaUpdate::forget_failure(cudaStream_t stream) const {
  cuda::clear(flag(skip), flag_count * flag_bytes, stream);
  for (const int which : {0, 1}) cuda::clear(not_finite(which), flag_bytes, stream);
}

}  // namespace tr
