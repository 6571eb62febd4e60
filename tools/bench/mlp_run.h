#pragma once

#include "tr/tr.h"

namespace tr::bench {

/// The run of examples/mlp_mnist.cc.
struct Mlp {
  static constexpr auto blueprint = seq(flatten(), fc(1024), relu(), fc(512), relu(), fc(256), relu(), fc(10));
};

struct MnistRun {
  using model = Mlp;
  using data = Mnist;
  static constexpr int batch = 200;
};

inline CrossEntropyLoss run_loss() { return CrossEntropyLoss().label_smoothing(0.1); }
inline AdamW run_optimizer() { return AdamW().weight_decay(1e-4); }
inline CosineAnnealingLR run_schedule() { return CosineAnnealingLR().base_lr(1e-3).warmup(2).step_by_batch(); }
inline Initializer run_initializer() { return Initializer().fc(InitKind::kaiming_uniform).fan(FanMode::fan_in); }

}  // namespace tr::bench
