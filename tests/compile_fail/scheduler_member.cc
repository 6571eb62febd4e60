#include "tr/tr.h"

struct Net {
  static constexpr auto blueprint = tr::seq(tr::flatten(), tr::fc(10));
};

struct Run {
  using model = Net;
  using data = tr::Mnist;
  static constexpr int batch = 200;
};

struct Mine {
  TOKEN
};

void set(tr::DeepLearningTask<Run>& task) { task.scheduler(Mine{}); }
