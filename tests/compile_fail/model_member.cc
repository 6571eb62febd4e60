#include "tr/tr.h"

struct Net {
  TOKEN
};

struct Run {
  using model = Net;
  using data = tr::Mnist;
  static constexpr int batch = 200;
};

tr::DeepLearningTask<Run> task{tr::Options{}};
