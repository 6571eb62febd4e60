// Where the time of a training step goes. Walks the training graph of the run of mlp_run.h with a clock behind each
// node, one epoch a request, every rank preparing its own rows, and answers {"nodes": [{"name", "seconds", "gflop"}]}:
// the seconds are a mean over the ranks, the GFLOP, of matrix products alone, a sum.
#include <fmt/format.h>

#include <exception>
#include <string>
#include <vector>

#include "tools/bench/mlp_run.h"
#include "tools/bench/requests.h"
#include "tr/base/clock.h"
#include "tr/data/sample_source.h"
#include "tr/dist/slice.h"
#include "tr/task/engine.h"

namespace tr::bench {
namespace {

TaskSpec task_spec() {
  using Task = DeepLearningTask<MnistRun>;
  return {.model_name = "Mlp",
          .data_name = Mnist::name,
          .model = {Mlp::blueprint.layers, Mnist::sample, Mnist::classes},
          .normalization = Mnist::normalization,
          .batch = MnistRun::batch,
          .compiled = {Task::compiled_plan<Precision::fp32>(), Task::compiled_plan<Precision::bf16>()},
          .open = &Mnist::open};
}

TrainingSettings training_settings(const Options& options) {
  TrainingSettings settings;
  settings.loss = run_loss();
  settings.optimizer = run_optimizer();
  settings.scheduler = run_schedule();
  settings.inits = InitTable(run_initializer());
  settings.total_epochs = options.epochs;
  return settings;
}

/// Seconds of one rank, by node.
class Laps {
 public:
  explicit Laps(int laps) : seconds_(static_cast<std::size_t>(laps), 0.0) {}

  void begin() { last_ = steady_seconds(); }
  void end(int lap) {
    const double now = steady_seconds();
    seconds_[static_cast<std::size_t>(lap)] += now - last_;
    last_ = now;
  }
  double operator[](int lap) const { return seconds_[static_cast<std::size_t>(lap)]; }

 private:
  std::vector<double> seconds_;
  double last_ = 0.0;
};

class NodeTimer {
 public:
  explicit NodeTimer(const Options& options)
      : engine_(task_spec(), training_settings(options), options),
        source_(normalized_source(engine_.data(), Mnist::normalization,
                                  options.precision == Precision::bf16 ? DType::bf16 : DType::fp32)),
        variant_(engine_.variant(GraphKind::train, MnistRun::batch)) {
    // The base rate of the schedule, which moves too little over an epoch to matter here.
    const Plan& plan = engine_.plans().front();
    *engine_.arenas().at<float>(plan.tensors[plan.fixed[Scalar::learning_rate]].tensor, 0) =
        static_cast<float>(run_schedule().base_lr());
  }

  /// Trains one epoch and describes it in JSON.
  std::string epoch() {
    std::vector<Laps> laps(static_cast<std::size_t>(engine_.ranks()), Laps(nodes().size() + 1));
    engine_.pool().run([&](ThreadCommunicator& ranks) {
      for (int step = 0; step < steps(); ++step) walk(step, laps[static_cast<std::size_t>(ranks.rank())], ranks);
    });
    std::string json = entry("data", mean(laps, nodes().size()), 0.0);
    for (int v = 0; v < nodes().size(); ++v) json += ", " + entry(name(nodes()[v]), mean(laps, v), gflop(nodes()[v]));
    return fmt::format(R"({{"nodes": [{}]}})", json);
  }

 private:
  const FlatList<Node>& nodes() const { return engine_.plans().front().atlas[GraphKind::train].nodes; }
  int steps() const { return engine_.data().train.size() / MnistRun::batch; }

  void walk(int step, Laps& laps, ThreadCommunicator& ranks) {
    laps.begin();
    fill(step, ranks.rank());
    laps.end(nodes().size());
    for (int v = 0; v < nodes().size(); ++v) {
      if (nodes()[v].is_fence()) {
        ranks.meet();
      } else {
        engine_.executor(ranks.rank()).replay(variant_, 0, v);
      }
      laps.end(v);
    }
  }

  /// This rank's rows of a batch, into the first input slot.
  void fill(int step, int rank) {
    const Plan& plan = engine_.plans()[static_cast<std::size_t>(rank)];
    std::byte* image = engine_.arenas().address(plan.tensors[plan.fixed.data[0]].tensor, rank);
    auto* label = engine_.arenas().at<std::int32_t>(plan.tensors[plan.fixed.labels[0]].tensor, rank);
    const Slice rows = slice_of(MnistRun::batch, rank, engine_.ranks());
    for (std::int64_t row = 0; row < rows.count; ++row, ++label, image += source_.row_bytes) {
      source_.write({.sample = step * MnistRun::batch + rows.first + row, .image = image, .label = label});
    }
  }

  static double mean(const std::vector<Laps>& laps, int lap) {
    double sum = 0.0;
    for (const Laps& l : laps) sum += l[lap];
    return sum / static_cast<double>(laps.size());
  }

  std::string name(const Node& node) const {
    if (node.op == OpKind::update) return fmt::format("update of {}", name_of(node.range));
    if (node.layer < 0) return std::string(name_of(node.op));
    return fmt::format("{} of layer {}", name_of(node.op), node.layer);
  }

  /// Of an epoch over all ranks; 0 for what is no matrix product.
  double gflop(const Node& node) const {
    const bool product =
        node.op == OpKind::fc_forward || node.op == OpKind::fc_backward_weight || node.op == OpKind::fc_backward_data;
    if (!product) return 0.0;
    const int weight = node.op == OpKind::fc_backward_weight ? node.out[0] : node.in[1];
    const auto weights = engine_.plans().front().tensors[weight].tensor.shape.size();
    return 2e-9 * static_cast<double>(weights) * MnistRun::batch * steps();
  }

  static std::string entry(std::string_view name, double seconds, double gflop) {
    return fmt::format(R"({{"name": "{}", "seconds": {}, "gflop": {}}})", name, seconds, gflop);
  }

  Engine engine_;
  SampleSource source_;
  int variant_;
};

void serve(const Options& options) {
  NodeTimer timer(options);
  announce_ready();
  while (next_request()) answer(timer.epoch());
}

}  // namespace
}  // namespace tr::bench

int main(int argc, char** argv) try {
  tr::bench::serve(tr::parse_options(argc, argv, {.data = "examples/data/mnist", .quiet = true}));
} catch (const std::exception& error) {
  return tr::report(error);
}
