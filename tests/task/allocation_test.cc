#include <dirent.h>
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/task/heap_watch.h"
#include "tests/task/small_run.h"

namespace tr {
namespace {

int threads_of_this_process() {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  while (readdir(tasks) != nullptr) ++count;
  closedir(tasks);
  return count;
}

/// Where the watch on a run puts what it saw.
struct Watch {
  int step = 0;
  int threads_at_start = 0;
  int threads_at_end = 0;
  HeapReport report;
};

/// A schedule that knows when a step begins: it is asked for the rate of every one.
struct Watching {
  Watch* watch = nullptr;

  Watching prepare(int, int) const { return *this; }
  float lr(int, int) const {
    ++watch->step;
    if (watch->step == 3) {
      watch->threads_at_start = threads_of_this_process();
      start_heap_watch();
    } else if (watch->step == 103) {
      watch->report = stop_heap_watch();
      watch->threads_at_end = threads_of_this_process();
    }
    return 0.001F;
  }
};

Watch watch_run(int threads, int workers, Precision precision) {
  Options options = small_options(threads, precision);
  options.workers = workers;
  // Six steps an epoch: the watch sees evaluations, partial batches and the turn of epochs too.
  options.epochs = 20;
  Watch watch;
  DeepLearningTask<SmallRun> task(options);
  task.optimizer(AdamW()).scheduler(Watching{&watch}).total_epochs(options.epochs);
  task.compile();
  task.run();
  return watch;
}

}  // namespace

TEST_CASE("the watch sees an allocation") {
  start_heap_watch();
  void* volatile block = std::malloc(100);
  const HeapReport report = stop_heap_watch();
  std::free(block);
  CHECK(report.ours == 1);
  CHECK(report.growth >= 100);
}

TEST_CASE("between step 3 and step 103 we allocate nothing, and the library a little that it frees at once") {
  for (Precision precision : precisions()) {
    for (int threads : {1, 2, 3}) {
      for (int workers : {0, 2}) {
        CAPTURE(threads);
        CAPTURE(workers);
        const Watch watch = watch_run(threads, workers, precision);
        REQUIRE(watch.step > 103);
        CHECK(watch.report.ours == 0);
        CHECK(watch.report.library_calls > 100);
        CHECK(watch.report.most_blocks <= 8);
        // Below AVX-512 the library's product packs into a block of its own.
        CHECK(watch.report.most_bytes <= (has_bf16() ? 1024 : 65536));
        CHECK(watch.report.calls_that_kept == 0);
        CHECK(watch.report.growth == 0);
        CHECK(watch.threads_at_start == watch.threads_at_end);
      }
    }
  }
}

}  // namespace tr
