#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/cpu/adam.h"
#include "kernels/cpu/lars.h"
#include "kernels/cpu/reduce_gradients.h"
#include "kernels/cpu/sgd.h"
#include "kernels/cuda/adam.h"
#include "kernels/cuda/lars.h"
#include "kernels/cuda/norms.h"
#include "kernels/cuda/sgd.h"
#include "tests/kernels/cuda/testing.h"

namespace {

using namespace tr;
using namespace tr::cuda::testing;
using cuda::FloatType;

/// The values of all scalars, and what is switched on.
struct Setting {
  std::size_t count = 0;
  std::int32_t step = 1;
  bool decay = false;
  bool decoupled = false;
  bool nesterov = false;
  bool averaged = false;
  float clip_value = 0.0F;
  float momentum = 0.9F;
  std::size_t offset = 0;
  float bad = 0.0F;
};

constexpr float lr = 0.01F, dampening = 0.1F, weight_decay = 0.05F, beta1 = 0.9F, beta2 = 0.999F, eps = 1e-8F;
constexpr float correction1 = 0.19F, correction2 = 0.002F, average_decay = 0.99F, gradient_scale = 0.5F;
constexpr float loss_scale = 1024.0F;

/// A range on the host, as the CPU's kernels take it, and the same on the device.
class Both {
 public:
  explicit Both(const Setting& s)
      : weight(random_floats(s.count, 1)),
        moment1(random_floats(s.count, 2, 0.1F)),
        moment2(random_floats(s.count, 3, 0.1F)),
        average(random_floats(s.count, 4)),
        gradient(random_floats(s.count, 5, 0.1F)),
        working(s.count),
        setting(s),
        d_weight(simulated, weight, s.offset),
        d_moment1(simulated, moment1, s.offset),
        d_moment2(simulated, squared(moment2), s.offset),
        d_average(simulated, average, s.offset),
        d_gradient(simulated, with_bad(s), s.offset),
        d_working(simulated, FloatType::bf16, std::vector<float>(s.count), s.offset) {}

  cpu::UpdateShare share(int moments) {
    cpu::UpdateShare share;
    share.weight = weight.data();
    share.moment1 = moments > 0 ? moment1.data() : nullptr;
    share.moment2 = moments > 1 ? moment2.data() : nullptr;
    share.average = setting.averaged ? average.data() : nullptr;
    share.working = working.data();
    share.gradients = {&gradients, 1};
    share.count = static_cast<std::int64_t>(setting.count);
    share.average_decay = setting.step == 1 ? 0.0 : static_cast<double>(average_decay);
    share.clip_value = setting.clip_value;
    share.gradient_scale = gradient_scale;
    share.decay = setting.decay;
    return share;
  }
  cuda::UpdateRange range(int moments) const {
    cuda::UpdateRange range;
    range.weight = d_weight.data();
    range.moment1 = moments > 0 ? d_moment1.data() : nullptr;
    range.moment2 = moments > 1 ? d_moment2.data() : nullptr;
    range.average = setting.averaged ? d_average.data() : nullptr;
    range.working = d_working.values();
    range.gradient = d_gradient.data();
    range.count = static_cast<std::int64_t>(setting.count);
    range.decay = setting.decay;
    range.clip_value = setting.clip_value;
    range.step = d_step.data();
    range.average_decay = scalar(7);
    range.gradient_scale = scalar(8);
    range.loss_scale = scalar(9);
    range.skip = d_skip.data();
    range.nonfinite = d_nonfinite.data();
    return range;
  }
  /// lr, momentum, dampening, weight_decay, beta1, beta2, eps, average_decay, gradient_scale, loss_scale, corrections.
  const float* scalar(std::size_t i) const { return d_scalars.data() + i; }

  void check_agreement(bool finite) {
    CHECK(all_near(d_weight.get(), weight, 1e-6, 1e-12));
    CHECK(all_near(d_moment1.get(), moment1, 1e-6, 1e-12));
    CHECK(all_near(d_moment2.get(), moment2, 1e-6, 1e-12));
    CHECK(all_near(d_average.get(), average, 1e-6, 1e-12));
    CHECK(all_same(d_working.get(), rounded(d_weight.get(), FloatType::bf16)));
    CHECK(d_nonfinite.value() == (finite ? 0 : 1));
  }

  Simulated simulated;
  std::vector<float> weight, moment1, moment2, average, gradient;
  std::vector<Bf16> working;
  Setting setting;
  OnDevice<float> d_weight, d_moment1, d_moment2, d_average, d_gradient;
  Floats d_working;
  OnDevice<float> d_scalars{simulated,
                            {lr, setting.momentum, dampening, weight_decay, beta1, beta2, eps, average_decay,
                             gradient_scale, loss_scale, correction1, correction2}};
  OnDevice<std::int32_t> d_step{simulated, setting.step};
  OnDevice<std::int32_t> d_skip{simulated, 0};
  OnDevice<std::int32_t> d_nonfinite{simulated, 0};
  const float* gradients = gradient.data();

 private:
  static std::vector<float>& squared(std::vector<float>& values) {
    for (float& v : values) v *= v;
    return values;
  }
  /// The device's gradients carry the loss scale, a power of two.
  std::vector<float> with_bad(const Setting& s) {
    if (s.bad != 0.0F) gradient[s.count / 2] = s.bad;
    std::vector<float> scaled = gradient;
    for (float& v : scaled) v *= loss_scale;
    return scaled;
  }
};

template <class F>
void for_each_setting(F f) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{1024}, std::size_t{2500}}) {
    for (unsigned bits = 0; bits < 32; ++bits) {
      Setting s{.count = count};
      s.decay = (bits & 1) != 0;
      s.decoupled = (bits & 2) != 0;
      s.nesterov = s.step == 1 && (bits & 4) != 0;
      s.averaged = (bits & 4) != 0;
      s.step = (bits & 8) != 0 ? 2 : 1;
      s.clip_value = (bits & 16) != 0 ? 0.05F : 0.0F;
      s.momentum = bits % 5 == 4 ? 0.0F : 0.9F;
      s.offset = bits % 3 == 2 ? 1 : 0;
      s.bad = bits == 31 ? INFINITY : 0.0F;
      f(s);
    }
  }
}

/// The range in pieces of three tensors.
std::vector<cuda::Chunk> chunks_of(std::size_t count) {
  const auto n = static_cast<std::int64_t>(count);
  const std::int64_t ends[] = {0, n / 3, n / 2, n};
  std::vector<cuda::Chunk> chunks;
  for (std::int32_t tensor = 0; tensor < 3; ++tensor) {
    for (std::int64_t first = ends[tensor]; first < ends[tensor + 1]; first += 1100) {
      chunks.push_back({first, std::min<std::int64_t>(1100, ends[tensor + 1] - first), tensor});
    }
  }
  return chunks;
}

std::int64_t largest_of(const std::vector<cuda::Chunk>& chunks) {
  std::int64_t largest = 0;
  for (const cuda::Chunk& chunk : chunks) largest = std::max(largest, chunk.count);
  return largest;
}

/// Chunks on the device, as bytes: they are no numbers that could be watched.
class DeviceChunks {
 public:
  DeviceChunks(const Simulated& simulated, const std::vector<cuda::Chunk>& chunks)
      : bytes_(simulated, bytes_of(chunks)),
        count_(static_cast<std::int64_t>(chunks.size())),
        largest_(largest_of(chunks)) {}
  cuda::Chunks get() const { return {reinterpret_cast<const cuda::Chunk*>(bytes_.data()), count_, largest_}; }

 private:
  static std::vector<std::int64_t> bytes_of(const std::vector<cuda::Chunk>& chunks) {
    std::vector<std::int64_t> words;
    for (const cuda::Chunk& chunk : chunks) words.insert(words.end(), {chunk.first, chunk.count, chunk.tensor});
    return words;
  }
  static_assert(sizeof(cuda::Chunk) == 3 * sizeof(std::int64_t));

  OnDevice<std::int64_t> bytes_;
  std::int64_t count_;
  std::int64_t largest_;
};

TEST_CASE("a step of SGD agrees with the CPU") {
  for_each_setting([](const Setting& s) {
    Both both(s);
    cuda::sgd_update(
        {both.range(1), {both.scalar(0), both.scalar(1), both.scalar(2), both.scalar(3)}, s.nesterov, s.decoupled},
        both.simulated.stream());
    const bool finite =
        cpu::sgd_update(both.share(1), {lr, s.momentum, dampening, weight_decay, s.nesterov, s.decoupled, s.step == 1});
    both.check_agreement(finite);
  });
}

TEST_CASE("a step of Adam and AdamW agrees with the CPU") {
  for_each_setting([](const Setting& s) {
    Both both(s);
    cuda::adam_update({both.range(2),
                       {both.scalar(0), both.scalar(4), both.scalar(5), both.scalar(6), both.scalar(3), both.scalar(10),
                        both.scalar(11)},
                       s.decoupled},
                      both.simulated.stream());
    const bool finite =
        cpu::adam_update(both.share(2), {lr, beta1, beta2, eps, weight_decay, correction1, correction2, s.decoupled});
    both.check_agreement(finite);
  });
}

TEST_CASE("a step of LARS agrees with the CPU, each tensor with its ratio") {
  for_each_setting([](const Setting& s) {
    Both both(s);
    const std::vector<float> ratios{0.5F, 2.0F, 0.25F};
    const std::vector<cuda::Chunk> chunks = chunks_of(s.count);
    const DeviceChunks d_chunks(both.simulated, chunks);
    const OnDevice<float> d_ratios(both.simulated, ratios);
    cuda::lars_update(
        {both.range(1), {both.scalar(0), both.scalar(1), both.scalar(3)}, d_chunks.get(), d_ratios.data()},
        both.simulated.stream());
    bool finite = true;
    for (const cuda::Chunk& chunk : chunks) {
      cpu::UpdateShare piece = both.share(1);
      const float* gradient = both.gradients + chunk.first;
      piece.weight += chunk.first;
      piece.moment1 += chunk.first;
      if (piece.average != nullptr) piece.average += chunk.first;
      piece.working += chunk.first;
      piece.gradients = {&gradient, 1};
      piece.count = chunk.count;
      const auto ratio = static_cast<double>(ratios[static_cast<std::size_t>(chunk.tensor)]);
      finite = cpu::lars_update(piece, {lr, s.momentum, weight_decay, ratio}) && finite;
    }
    both.check_agreement(finite);
  });
}

TEST_CASE("a skipped step writes nothing, not even that a gradient is not finite") {
  Both both({.count = 2500, .step = 2, .averaged = true, .bad = NAN});
  const std::vector<float> weight = both.weight;
  cuda::UpdateRange range = both.range(2);
  const OnDevice<std::int32_t> skip(both.simulated, 1);
  range.skip = skip.data();
  const DeviceChunks chunks(both.simulated, chunks_of(2500));
  const cudaStream_t stream = both.simulated.stream();
  cuda::sgd_update({range, {both.scalar(0), both.scalar(1), both.scalar(2), both.scalar(3)}}, stream);
  cuda::adam_update({range,
                     {both.scalar(0), both.scalar(4), both.scalar(5), both.scalar(6), both.scalar(3), both.scalar(10),
                      both.scalar(11)}},
                    stream);
  cuda::lars_update({range, {both.scalar(0), both.scalar(1), both.scalar(3)}, chunks.get()}, stream);
  CHECK(all_same(both.d_weight.get(), both.weight));
  CHECK(all_same(both.d_moment1.get(), both.moment1));
  CHECK(all_same(both.d_moment2.get(), both.moment2));
  CHECK(all_same(both.d_average.get(), both.average));
  CHECK(all_same(both.d_working.get(), std::vector<float>(2500)));
  CHECK(both.d_nonfinite.value() == 0);
}

TEST_CASE("norms, clip factor and LARS ratios agree with sums of the CPU's kernel") {
  for_each_setting([](const Setting& s) {
    Both both(s);
    const std::vector<cuda::Chunk> chunks = chunks_of(s.count);
    const DeviceChunks d_chunks(both.simulated, chunks);
    const OnDevice<double> sums(both.simulated, std::vector<double>(2 * chunks.size()));
    auto* typed = reinterpret_cast<cuda::SquareSum*>(sums.data());
    std::vector<std::int32_t> first_chunk;
    for (std::int32_t tensor = 0; tensor < 4; ++tensor) {
      first_chunk.push_back(static_cast<std::int32_t>(
          std::count_if(chunks.begin(), chunks.end(), [&](const cuda::Chunk& c) { return c.tensor < tensor; })));
    }
    const OnDevice<std::int32_t> d_first(both.simulated, first_chunk);
    const OnDevice<float> factor(both.simulated, 7.0F);
    const OnDevice<float> ratios(both.simulated, std::vector<float>(3));
    const cudaStream_t stream = both.simulated.stream();
    cuda::square_sums({both.d_gradient.data(), both.d_weight.data(), d_chunks.get(), s.clip_value, both.scalar(9),
                       typed, both.d_nonfinite.data()},
                      stream);
    cuda::lars_ratios({typed, d_chunks.get(), d_first.data(), 3, 0.001, 1e-8, both.scalar(3), nullptr, ratios.data()},
                      stream);
    double total = 0.0;
    double of_gradient[3] = {};
    double of_weight[3] = {};
    bool finite = true;
    std::vector<float> scratch(s.count);
    const std::vector<double> found = sums.get();
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const float* gradient = both.gradients + chunks[i].first;
      const cpu::SquareSums expected = cpu::reduce_gradients(
          {&gradient, 1}, scratch.data(), both.weight.data() + chunks[i].first, s.clip_value, chunks[i].count);
      finite = finite && expected.finite;
      CHECK(near(found[2 * i], expected.gradient, 1e-13, 0.0));
      CHECK(near(found[2 * i + 1], expected.weight, 1e-13, 0.0));
      total += expected.gradient;
      of_gradient[chunks[i].tensor] += expected.gradient;
      of_weight[chunks[i].tensor] += expected.weight;
    }
    CHECK(both.d_nonfinite.value() == (finite ? 0 : 1));
    const std::vector<float> found_ratios = ratios.get();
    for (std::size_t t = 0; t < 3; ++t) {
      const double g = std::sqrt(of_gradient[t]);
      const double w = std::sqrt(of_weight[t]);
      const double ratio = g == 0.0 || w == 0.0 ? 1.0 : 0.001 * w / (g + static_cast<double>(weight_decay) * w + 1e-8);
      CHECK(near(found_ratios[t], ratio, 1e-6, 0.0));
    }
    cuda::clip_factor({typed, static_cast<std::int64_t>(chunks.size()), 0.5F, factor.data(), both.d_nonfinite.data()},
                      stream);
    const bool usual = std::isfinite(total);
    CHECK(near(factor.value(), usual ? std::min(1.0, 0.5 / (std::sqrt(total) + 1e-6)) : 1.0, 1e-6, 0.0));
    CHECK(both.d_nonfinite.value() == (finite && usual ? 0 : 1));
  });
}

}  // namespace
