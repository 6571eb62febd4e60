#include "tr/tr.h"

struct Digits {
  TOKEN
};

struct Net {
  static constexpr auto blueprint = tr::seq(tr::flatten(), tr::fc(10));
};

struct Run {
  using model = Net;
  using data = Digits;
  static constexpr int batch = 200;
};

tr::DeepLearningTask<Run> task{tr::Options{}};
