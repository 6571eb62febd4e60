// A multi-layer perceptron learns the MNIST digits:
//   ./tools/bazelw run -c opt //examples:mlp_mnist -- --epochs 10 --precision bf16

#include <algorithm>

#include "tr/tr.h"

struct Mlp {
  static constexpr auto blueprint =
      tr::seq(tr::flatten(), tr::fc(1024), tr::relu(), tr::fc(512), tr::relu(), tr::fc(256), tr::relu(), tr::fc(10));
};

struct MnistRun {
  using model = Mlp;
  using data = tr::Mnist;
  static constexpr int batch = 200;
};

int main(int argc, char** argv) try {
  const tr::Options options = tr::parse_options(argc, argv, {.data = "examples/data/mnist"});
  const int warmup = std::min(2, options.epochs - 1);
  tr::DeepLearningTask<MnistRun> task(options);
  task.loss(tr::CrossEntropyLoss().label_smoothing(0.1))
      .optimizer(tr::AdamW().weight_decay(1e-4))
      .scheduler(tr::CosineAnnealingLR().base_lr(1e-3).warmup(warmup).step_by_batch())
      .initializer(tr::Initializer().fc(tr::InitKind::kaiming_uniform).fan(tr::FanMode::fan_in))
      .total_epochs(options.epochs);
  task.compile();
  return tr::report(task.run());
} catch (const std::exception& error) {
  return tr::report(error);
}
