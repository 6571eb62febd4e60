#include "tr/io/progress.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <new>
#include <thread>

#include "tests/io/files.h"

namespace {

double now = 0.0;
long allocations = 0;

double fake_clock() { return now; }

int columns = 0;

int any_columns() { return columns; }
int no_terminal() { return 0; }
int wide() { return 120; }

}  // namespace

// What operator new and delete are made of.
// NOLINTBEGIN(cppcoreguidelines-no-malloc)
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND(cppcoreguidelines-no-malloc)

namespace tr {
namespace {

const EpochResult first{.epoch = 1,
                        .lr = 1e-3,
                        .train_loss = 0.75,
                        .evaluated = true,
                        .test_loss = 0.5,
                        .top1 = 0.9812,
                        .seconds = 1.5,
                        .images_per_second = 40000.0};

/// What a terminal's last line shows after the text: blanks at its end do not count.
std::string visible(const std::string& text) {
  std::string line;
  std::size_t column = 0;
  for (const char c : text) {
    if (c == '\r') {
      column = 0;
    } else if (c == '\n') {
      line.clear();
      column = 0;
    } else {
      if (column == line.size()) line += ' ';
      line[column++] = c;
    }
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

TEST_CASE("where the output is no terminal there is one plain line an epoch") {
  now = 0.0;
  const CapturedStream out;
  Progress progress(10, 400, 2, false, out.file(), no_terminal, fake_clock);
  progress.step(1, 0, 200, 1.0);
  now = 1.0;
  progress.step(1, 1, 200, 0.5);
  CHECK(out.text().empty());
  progress.epoch(first);
  EpochResult last = first;
  last.epoch = 10;
  last.evaluated = false;
  progress.epoch(last);
  CHECK(out.text() ==
        "epoch  1/10  lr 1.0e-03  loss 0.7500  test loss 0.5000  top-1 98.12 %  1.5 s\n"
        "epoch 10/10  lr 1.0e-03  loss 0.7500  1.5 s  40000 images/s\n");
}

TEST_CASE("a quiet run shows nothing, terminal or not") {
  for (const bool terminal : {false, true}) {
    const CapturedStream out;
    {
      Progress progress(10, 400, 2, true, out.file(), terminal ? wide : no_terminal, fake_clock);
      progress.step(1, 0, 200, 1.0);
      progress.epoch(first);
    }
    CHECK(out.text().empty());
  }
}

TEST_CASE("the line on a terminal shows the mean loss over samples, the pace and the time left of the whole run") {
  now = 100.0;
  const CapturedStream out;
  Progress progress(2, 500, 3, false, out.file(), wide, fake_clock);
  now = 102.0;
  progress.step(1, 0, 200, 1.0);
  CHECK(visible(out.text()) == "epoch 1/2 [======              ] loss 1.0000 100 images/s 0:08 left");
  now = 104.0;
  progress.step(1, 1, 200, 2.0);
  CHECK(visible(out.text()) == "epoch 1/2 [=============       ] loss 1.5000 100 images/s 0:06 left");
  now = 105.0;
  progress.step(1, 2, 100, 0.0);
  CHECK(visible(out.text()) == "epoch 1/2 [====================] loss 1.2000 100 images/s 0:05 left");

  // Ten seconds of evaluation: not in the pace of training, but in the time that is left.
  now = 115.0;
  progress.epoch(first);
  CHECK(visible(out.text()).empty());
  now = 116.0;
  progress.step(2, 0, 200, 3.0);
  CHECK(visible(out.text()) == "epoch 2/2 [======              ] loss 3.0000 200 images/s 0:06 left");
}

TEST_CASE("the line on a terminal is rewritten at most ten times a second") {
  now = 0.0;
  const CapturedStream out;
  Progress progress(1, 100000, 1000, false, out.file(), wide, fake_clock);
  for (int batch = 0; batch < 1000; ++batch) {
    now += 0.002;
    progress.step(1, batch, 100, 1.0);
  }
  const std::string text = out.text();
  const auto drawn = std::count(text.begin(), text.end(), 'h');
  CHECK(drawn >= 19);
  CHECK(drawn <= 21);
}

TEST_CASE("an unfinished line is wiped when an epoch or the run ends") {
  now = 0.0;
  const CapturedStream out;
  {
    Progress progress(10, 200, 2, false, out.file(), wide, fake_clock);
    now = 1.0;
    progress.step(1, 0, 100, 1.0);
    progress.epoch(first);
    const std::string text = out.text();
    CHECK(text.substr(text.rfind('\r') + 1) ==
          "epoch  1/10  lr 1.0e-03  loss 0.7500  test loss 0.5000  top-1 98.12 %  1.5 s  40000 images/s\n");
    now = 2.0;
    progress.step(2, 0, 100, 1.0);
    CHECK(!visible(out.text()).empty());
  }
  CHECK(visible(out.text()).empty());
  CHECK(out.text().back() == '\r');
}

TEST_CASE("a narrow terminal gets a shorter bar, or none, and no line is wrapped") {
  const auto shown = [](int wanted) {
    columns = wanted;
    now = 100.0;
    const CapturedStream out;
    Progress progress(2, 500, 3, false, out.file(), any_columns, fake_clock);
    now = 102.0;
    progress.step(1, 1, 200, 1.0);
    return visible(out.text());
  };
  CHECK(shown(80) == "epoch 1/2 [=============       ] loss 1.0000 100 images/s 0:08 left");
  CHECK(shown(60) == "epoch 1/2 [========    ] loss 1.0000 100 images/s 0:08 left");
  CHECK(shown(50) == "epoch 1/2 loss 1.0000 100 images/s 0:08 left");
  CHECK(shown(30) == "epoch 1/2 loss 1.0000 100 ima");
}

TEST_CASE("the line of an epoch goes without its least fields where it does not fit") {
  const auto shown = [](int wanted) {
    columns = wanted;
    const CapturedStream out;
    Progress(10, 400, 2, false, out.file(), any_columns, fake_clock).epoch(first);
    const std::string text = out.text();
    const auto begin = text.find("epoch");
    return text.substr(begin, text.find('\n') - begin);
  };
  CHECK(shown(100) == "epoch  1/10  lr 1.0e-03  loss 0.7500  test loss 0.5000  top-1 98.12 %  1.5 s  40000 images/s");
  CHECK(shown(80) == "epoch  1/10  lr 1.0e-03  loss 0.7500  test loss 0.5000  top-1 98.12 %  1.5 s");
  CHECK(shown(70) == "epoch  1/10  loss 0.7500  test loss 0.5000  top-1 98.12 %  1.5 s");
  CHECK(shown(60) == "epoch  1/10  loss 0.7500  test loss 0.5000  top-1 98.12 %");
  CHECK(shown(50) == "epoch  1/10  test loss 0.5000  top-1 98.12 %");
  CHECK(shown(30) == "epoch  1/10  test loss 0.5000");
}

TEST_CASE("a line is as wide as the terminal is when it is drawn, and leaves the cursor at its beginning") {
  columns = 80;
  now = 0.0;
  const CapturedStream out;
  Progress progress(1, 200, 2, false, out.file(), any_columns, fake_clock);
  std::string before;
  for (const int wanted : {80, 40, 100}) {
    columns = wanted;
    now += 1.0;
    progress.step(1, 0, 100, 1.0);
    const std::string line = out.text().substr(before.size());
    before += line;
    CHECK(line.size() == static_cast<std::size_t>(wanted) + 1);
    CHECK(line.front() == '\r');
    CHECK(line.back() == '\r');
  }
}

TEST_CASE("a ^C that the terminal shows at the cursor is wiped, with and without a line there") {
  columns = 80;
  for (const bool drawn : {false, true}) {
    CAPTURE(drawn);
    now = 0.0;
    const CapturedStream out;
    {
      Progress progress(1, 200, 2, false, out.file(), any_columns, fake_clock);
      now = 1.0;
      if (drawn) progress.step(1, 0, 100, 1.0);
      std::fputs("^C", out.file());
    }
    CHECK(visible(out.text()).empty());
    CHECK(out.text().back() == '\r');
  }
}

TEST_CASE("extreme numbers stay on one line of any terminal") {
  for (const int wanted : {1, 2, 10, 80, 1000}) {
    columns = wanted;
    const CapturedStream out;
    for (const double loss : {1e300, -1e300, std::numeric_limits<double>::quiet_NaN()}) {
      now = 0.0;
      Progress progress(1000000, std::int64_t{1} << 50, 1, false, out.file(), any_columns, fake_clock);
      progress.step(1000000, 0, 1, loss);
      now = 1e9;
      progress.step(1, 0, 1, loss);
      const std::string text = out.text();
      CHECK(visible(text).size() < static_cast<std::size_t>(wanted));
      CHECK(text.find('\n') == std::string::npos);
      progress.epoch({.epoch = 1000000, .lr = loss, .train_loss = loss, .test_loss = loss, .images_per_second = loss});
      CHECK(out.text().back() == '\n');
      std::rewind(out.file());
      CHECK(ftruncate(fileno(out.file()), 0) == 0);
    }
  }
}

TEST_CASE("a long time left is told in hours") {
  now = 0.0;
  const CapturedStream out;
  Progress progress(1, 3724, 3724, false, out.file(), wide, fake_clock);
  now = 1.0;
  progress.step(1, 0, 1, 1.0);
  CHECK(visible(out.text()) == "epoch 1/1 [                    ] loss 1.0000 1 images/s 1:02:03 left");
}

TEST_CASE("the clock counts seconds") {
  const double before = steady_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double passed = steady_seconds() - before;
  CHECK(passed >= 0.02);
  CHECK(passed < 10.0);
}

TEST_CASE("steps and epochs allocate nothing") {
  now = 0.0;
  const CapturedStream out;
  Progress progress(10, 400, 100, false, out.file(), wide, fake_clock);
  const long before = allocations;
  for (int batch = 0; batch < 100; ++batch) {
    now += 1.0;
    progress.step(1, batch, 4, 0.125);
  }
  progress.epoch(first);
  CHECK(allocations == before);
  CHECK(out.text().size() > 1000);
}

}  // namespace tr
