#include "tr/tr.h"

struct Net {
  static constexpr auto blueprint = tr::seq(tr::flatten(), tr::fc(10));
};

struct Run {
  using model = Net;
  using data = tr::Mnist;
  static constexpr int batch = TOKEN;
};

tr::DeepLearningTask<Run> task{tr::Options{}};
