// Draws learning rates over a run:
//   ./tools/bazelw run //tools:plot_schedule -- cosine wsd --base-lr 0.1 --epochs 90 --warmup 5 --out lr.svg

#include <fmt/format.h>

#include "tools/plot_schedule/request.h"
#include "tools/plot_schedule/sketch.h"
#include "tools/plot_schedule/svg.h"
#include "tr/io/atomic_file.h"
#include "tr/io/options.h"
#include "tr/io/report.h"

namespace tr::plot {
namespace {

/// What a schedule refuses came from the command line.
Chart make_chart_or_usage_error(const Request& request) try {
  return make_chart(request);
} catch (const ValueError& error) {
  throw UsageError(error.what(), 2);
}

void run(const Request& request) {
  const Chart chart = make_chart_or_usage_error(request);
  if (request.out.empty()) {
    fmt::print("{}", draw_sketch(chart));
  } else {
    write_file(request.out, draw_svg(chart));
    fmt::print("wrote {}\n", request.out);
  }
}

}  // namespace
}  // namespace tr::plot

int main(int argc, char** argv) try {
  tr::plot::run(tr::plot::parse_request(argc, argv));
  return 0;
} catch (const std::exception& error) {
  return tr::report(error);
}
