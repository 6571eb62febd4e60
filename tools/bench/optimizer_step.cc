// The optimizer's step beside a copy on the same threads: how much of the bandwidth that memory gives to a copy the
// kernels use, and whether moments that have faded away into denormal numbers make a step dearer. Prints two tables.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "kernels/cpu/adam.h"
#include "kernels/cpu/denormals.h"
#include "kernels/cpu/lars.h"
#include "kernels/cpu/reduce_gradients.h"
#include "kernels/cpu/sgd.h"
#include "tr/base/aligned.h"
#include "tr/base/clock.h"
#include "tr/dist/rank_pool.h"
#include "tr/dist/slice.h"
#include "tr/io/options.h"
#include "tr/io/report.h"

namespace tr::bench {
namespace {

/// The example's network and a ResNet-50.
constexpr std::array<std::int64_t, 2> model_sizes{1'500'000, 25'000'000};
/// What one timing aims at: much longer than a meeting of the ranks, short enough that the machine stays as it is.
constexpr double target_seconds = 0.03;
/// Of a float that is copied.
constexpr int copied_bytes = 2 * sizeof(float);

AlignedBuffer floats(std::int64_t count) { return AlignedBuffer(static_cast<std::size_t>(count) * sizeof(float)); }
float* at(const AlignedBuffer& buffer, std::int64_t first) { return reinterpret_cast<float*>(buffer.data()) + first; }

/// This rank's part of `count` numbers, whole cache lines of them.
Slice share_of(std::int64_t count, const ThreadCommunicator& ranks) {
  constexpr std::int64_t unit = 128;
  const Slice units = slice_of((count + unit - 1) / unit, ranks.rank(), ranks.size());
  return {units.first * unit, std::min(units.count * unit, count - units.first * unit)};
}

/// The parameters of a model with all that a step touches.
struct Memory {
  Memory(std::int64_t parameters, int ranks) : count(parameters) {
    for (int r = 0; r < ranks; ++r) gradients.push_back(floats(count));
  }

  std::int64_t count;
  AlignedBuffer weight = floats(count);
  AlignedBuffer moment1 = floats(count);
  AlignedBuffer moment2 = floats(count);
  AlignedBuffer average = floats(count);
  AlignedBuffer working = floats(count);
  std::vector<AlignedBuffer> gradients;
};

/// A rank's view of it.
class Rank {
 public:
  Rank(const Memory& memory, ThreadCommunicator& ranks) : memory_(&memory), ranks_(&ranks) {
    slice_ = share_of(memory.count, ranks);
    for (const AlignedBuffer& g : memory.gradients) gradients_.push_back(at(g, slice_.first));
  }

  cpu::UpdateShare share() const {
    return {.weight = at(memory_->weight, slice_.first),
            .moment1 = at(memory_->moment1, slice_.first),
            .moment2 = at(memory_->moment2, slice_.first),
            .gradients = gradients_,
            .count = slice_.count,
            .decay = true};
  }
  cpu::UpdateShare share_with_copies() const {
    cpu::UpdateShare share = this->share();
    share.average = at(memory_->average, slice_.first);
    share.average_decay = 0.999;
    share.working = reinterpret_cast<Bf16*>(memory_->working.data()) + slice_.first;
    return share;
  }
  /// What is left to update with after the gradients of all ranks have become one, and everybody knows the norms.
  cpu::UpdateShare reduced_share(bool with_weight_norm) {
    cpu::UpdateShare share = this->share();
    float* own = at(memory_->gradients[static_cast<std::size_t>(ranks_->rank())], slice_.first);
    cpu::reduce_gradients(gradients_, own, with_weight_norm ? share.weight : nullptr, 0.0F, slice_.count);
    ranks_->meet();
    reduced_ = own;
    share.gradients = {&reduced_, 1};
    return share;
  }
  void fill(float moment, float gradient) const {
    for (const AlignedBuffer* moments : {&memory_->moment1, &memory_->moment2}) {
      std::fill_n(at(*moments, slice_.first), slice_.count, moment);
    }
    for (const AlignedBuffer& g : memory_->gradients) std::fill_n(at(g, slice_.first), slice_.count, gradient);
  }

 private:
  const Memory* memory_;
  ThreadCommunicator* ranks_;
  Slice slice_;
  std::vector<const float*> gradients_;
  const float* reduced_ = nullptr;
};

struct Step {
  const char* name;
  /// For a parameter, besides the gradient of each rank, which is read: the bytes read and written, and how many there
  /// are to touch.
  int bytes;
  int footprint;
  void (*run)(Rank&);
};

void adam(const cpu::UpdateShare& share, bool decoupled) {
  cpu::adam_update(share, {.lr = 1e-6, .weight_decay = 0.01, .decoupled = decoupled});
}

constexpr std::array<Step, 6> steps{{
    {"SGD with momentum", 16, 8,
     [](Rank& rank) { cpu::sgd_update(rank.share(), {.lr = 1e-6, .momentum = 0.9, .weight_decay = 1e-4}); }},
    {"Adam", 24, 12, [](Rank& rank) { adam(rank.share(), false); }},
    {"AdamW", 24, 12, [](Rank& rank) { adam(rank.share(), true); }},
    {"AdamW, averaged, with a bf16 copy", 34, 18, [](Rank& rank) { adam(rank.share_with_copies(), true); }},
    {"AdamW, clipped by norm", 32, 12,
     [](Rank& rank) {
       cpu::UpdateShare share = rank.reduced_share(false);
       share.gradient_scale = 0.999F;
       adam(share, true);
     }},
    {"LARS", 28, 8,
     [](Rank& rank) {
       cpu::lars_update(rank.reduced_share(true), {.lr = 1e-6, .momentum = 0.9, .weight_decay = 1e-4, .ratio = 0.01});
     }},
}};

struct Spread {
  double median, least, most;
};

Spread spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2.0;
  return {median, values.front(), values.back()};
}

class Bench {
 public:
  Bench(int threads, int rounds) : pool_(threads, [] {}), rounds_(rounds) {}

  /// The bandwidth of each step as a part of that of a copy of as many bytes within as much memory.
  void compare_with_copy(std::int64_t parameters) {
    const Memory memory(parameters, pool_.size());
    fill(memory, 1e-3F, 1e-3F);
    for (const Step& step : steps) {
      const auto update = [&](ThreadCommunicator& ranks) {
        Rank rank(memory, ranks);
        step.run(rank);
      };
      const std::int64_t length = parameters * (step.footprint + gradient_bytes()) / copied_bytes;
      const AlignedBuffer from = floats(length);
      const AlignedBuffer to = floats(length);
      const auto copy = [&](ThreadCommunicator& ranks) {
        const Slice slice = share_of(length, ranks);
        std::int64_t left = slice.count * bytes_of(step) / (step.footprint + gradient_bytes());
        for (; left > 0; left -= slice.count) {
          const auto bytes = static_cast<std::size_t>(std::min(left, slice.count)) * sizeof(float);
          std::memcpy(at(to, slice.first), at(from, slice.first), bytes);
        }
      };
      print_ratio(step, parameters, alternate(copy, update));
    }
  }

  /// Steps of AdamW that start with moments of 1e-40, as long runs of zero gradients leave them, and of 1e-3.
  void compare_denormals(std::int64_t parameters) {
    const Memory memory(parameters, pool_.size());
    const int times = std::max(1, static_cast<int>(target_seconds / seconds_from(memory, 1e-3F, true, 1)));
    std::vector<double> flushed;
    std::vector<double> kept;
    for (int round = 0; round < rounds_; ++round) {
      const double normal = seconds_from(memory, 1e-3F, true, times);
      flushed.push_back(seconds_from(memory, 1e-40F, true, times) / normal);
      kept.push_back(seconds_from(memory, 1e-40F, false, times) / normal);
    }
    print_spread(fmt::format("{:<34}{:>12}{:>22}", "taken for 0, as on a rank's thread", parameters, ""), flushed);
    print_spread(fmt::format("{:<34}{:>12}{:>22}", "computed with", parameters, ""), kept);
  }

 private:
  using Job = std::function<void(ThreadCommunicator&)>;

  struct Timings {
    std::vector<double> copy_seconds;
    /// Of the copy over the update, round by round.
    std::vector<double> ratios;
  };

  static void print_spread(const std::string& row, const std::vector<double>& values) {
    const Spread s = spread(values);
    fmt::print("{}{:>8.2f}{:>8.2f}{:>8.2f}\n", row, s.median, s.least, s.most);
    std::fflush(stdout);
  }

  void print_ratio(const Step& step, std::int64_t parameters, const Timings& timings) const {
    const double copied = 1e-9 * static_cast<double>(parameters * bytes_of(step));
    const double copy_rate = copied / spread(timings.copy_seconds).median;
    print_spread(fmt::format("{:<34}{:>12}{:>8}{:>14.1f}", step.name, parameters, bytes_of(step), copy_rate),
                 timings.ratios);
  }

  int gradient_bytes() const { return static_cast<int>(sizeof(float)) * pool_.size(); }
  /// For each parameter, read and written.
  int bytes_of(const Step& step) const { return step.bytes + gradient_bytes(); }

  /// One after the other in each round, every other round the update first.
  Timings alternate(const Job& copy, const Job& update) {
    seconds(copy, 1);
    const int times = std::max(1, static_cast<int>(target_seconds / seconds(copy, 1)));
    seconds(update, times);
    Timings timings;
    for (int round = 0; round < rounds_; ++round) {
      const bool copy_first = round % 2 == 0;
      const double first = seconds(copy_first ? copy : update, times) / times;
      const double second = seconds(copy_first ? update : copy, times) / times;
      timings.copy_seconds.push_back(copy_first ? first : second);
      timings.ratios.push_back(copy_first ? first / second : second / first);
    }
    return timings;
  }

  void fill(const Memory& memory, float moment, float gradient) {
    pool_.run([&](ThreadCommunicator& ranks) { Rank(memory, ranks).fill(moment, gradient); });
  }

  /// Of that many first steps from these moments.
  double seconds_from(const Memory& memory, float moment, bool flush_denormals, int times) {
    const auto update = [&](ThreadCommunicator& ranks) { adam(Rank(memory, ranks).share(), true); };
    double sum = 0.0;
    for (int i = 0; i < times; ++i) {
      fill(memory, moment, 0.0F);
      sum += seconds(update, 1, flush_denormals);
    }
    return sum;
  }

  /// Of all ranks side by side: from the moment when all begin to the one when all have ended.
  double seconds(const Job& job, int times, bool flush_denormals = true) {
    double result = 0.0;
    pool_.run([&](ThreadCommunicator& ranks) {
      cpu::flush_denormals(flush_denormals);
      ranks.meet();
      const double start = steady_seconds();
      for (int i = 0; i < times; ++i) job(ranks);
      ranks.meet();
      if (ranks.rank() == 0) result = steady_seconds() - start;
    });
    return result;
  }

  RankPool pool_;
  int rounds_;
};

void run(int threads, int rounds) {
  Bench bench(threads, rounds);
  fmt::print("{} threads, {} rounds\n\n", threads, rounds);
  fmt::print("{:<34}{:>12}{:>8}{:>14}{:>8}{:>8}{:>8}\n", "bandwidth, of the copy's", "parameters", "bytes",
             "copy, GB/s", "median", "min", "max");
  for (const std::int64_t parameters : model_sizes) bench.compare_with_copy(parameters);
  fmt::print("\n{:<34}{:>12}{:>22}{:>8}{:>8}{:>8}\n", "AdamW, moments of 1e-40", "parameters", "time, of 1e-3's",
             "median", "min", "max");
  for (const std::int64_t parameters : model_sizes) bench.compare_denormals(parameters);
}

}  // namespace
}  // namespace tr::bench

int main(int argc, char** argv) {
  int rounds = 21;
  int threads = tr::available_cpus();
  CLI::App app("The optimizer's step beside a copy of as many bytes on the same threads.");
  app.add_option("--rounds", rounds, "timings of everything")->check(CLI::Range(1, 10000))->capture_default_str();
  app.add_option("--threads", threads, "ranks, one thread each")->check(CLI::Range(1, 1024))->capture_default_str();
  try {
    app.parse(argc, argv);
    tr::bench::run(threads, rounds);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    return tr::report(error);
  }
}
