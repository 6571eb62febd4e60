#include "tools/plot_schedule/chart.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "tools/plot_schedule/kinds.h"
#include "tools/plot_schedule/request.h"
#include "tools/plot_schedule/sketch.h"
#include "tools/plot_schedule/svg.h"
#include "tr/base/error.h"
#include "tr/io/options.h"

namespace tr::plot {
namespace {

Request parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "plot_schedule");
  return parse_request(static_cast<int>(arguments.size()), arguments.data());
}

std::string refusal(std::vector<const char*> arguments) {
  try {
    parse(std::move(arguments));
  } catch (const UsageError& error) {
    return std::to_string(error.exit_code()) + ": " + error.what();
  }
  return "";
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// The paths of an SVG file, in order.
std::vector<std::string> paths_of(const std::string& svg) {
  std::vector<std::string> paths;
  const std::string start = "<path d=\"";
  for (std::size_t at = svg.find(start); at != std::string::npos; at = svg.find(start, at + 1)) {
    const std::size_t first = at + start.size();
    paths.push_back(svg.substr(first, svg.find('"', first) - first));
  }
  return paths;
}

struct Tread {
  double x;
  double y;
};

/// Where each stair of a path begins: "M1 2H3V4H5" has them at (1, 2) and (3, 4).
std::vector<Tread> treads_of(const std::string& path) {
  std::istringstream in(path);
  std::vector<Tread> treads;
  char command = 0;
  double x = 0.0;
  double y = 0.0;
  while (in >> command >> x) {
    if (command == 'M' && in >> y) treads.push_back({x, y});
    if (command == 'H' && in >> command >> y) treads.push_back({x, y});
  }
  return treads;
}

}  // namespace

TEST_CASE("what is not given keeps the schedule's own default, what is given reaches it") {
  const Chart plain = make_chart(parse({"cosine"}));
  const auto right = CosineAnnealingLR().prepare(90, 100);
  REQUIRE(plain.curves.size() == 1);
  REQUIRE(plain.curves[0].rates.size() == 90);
  for (int epoch = 0; epoch < 90; ++epoch)
    CHECK(plain.curves[0].rates[static_cast<std::size_t>(epoch)] == right.lr(epoch, 0));

  const Chart set = make_chart(
      parse({"warm-restarts", "--t-0", "2", "--t-mult", "1.5", "--eta-min", "0.01", "--epochs", "9", "--base-lr", "0.3",
             "--warmup", "2", "--warmup-start-lr", "0.02", "--by-batch", "--steps-per-epoch", "7"}));
  const auto schedule = CosineAnnealingWithWarmRestartsLR()
                            .t_0(2)
                            .t_mult(1.5)
                            .eta_min(0.01)
                            .base_lr(0.3)
                            .warmup(2)
                            .warmup_start_lr(0.02)
                            .step_by_batch()
                            .prepare(9, 7);
  REQUIRE(set.curves[0].rates.size() == 63);
  for (int t = 0; t < 63; ++t) CHECK(set.curves[0].rates[static_cast<std::size_t>(t)] == schedule.lr(t / 7, t % 7));
}

TEST_CASE("every schedule takes its own options") {
  const Chart chart = make_chart(parse({"constant",
                                        "step",
                                        "multi-step",
                                        "exponential",
                                        "polynomial",
                                        "cosine",
                                        "warm-restarts",
                                        "wsd",
                                        "--epochs",
                                        "20",
                                        "--warmup",
                                        "1",
                                        "--warmup-start-factor",
                                        "0.5",
                                        "--step-size",
                                        "4",
                                        "--milestones",
                                        "3,7",
                                        "--gamma",
                                        "0.3",
                                        "--power",
                                        "1",
                                        "--end-lr",
                                        "0.01",
                                        "--eta-min",
                                        "0.02",
                                        "--t-0",
                                        "3",
                                        "--t-mult",
                                        "2",
                                        "--decay-start",
                                        "0.5"}));
  const std::vector<AnyScheduler> schedules{
      ConstantLR().warmup(1).warmup_start_factor(0.5),
      StepLR().step_size(4).gamma(0.3).warmup(1).warmup_start_factor(0.5),
      MultiStepLR().milestones({3, 7}).gamma(0.3).warmup(1).warmup_start_factor(0.5),
      ExponentialLR().gamma(0.3).warmup(1).warmup_start_factor(0.5),
      PolynomialLR().power(1).end_lr(0.01).warmup(1).warmup_start_factor(0.5),
      CosineAnnealingLR().eta_min(0.02).warmup(1).warmup_start_factor(0.5),
      CosineAnnealingWithWarmRestartsLR().t_0(3).t_mult(2).eta_min(0.02).warmup(1).warmup_start_factor(0.5),
      WSDLR().decay_start(0.5).end_lr(0.01).warmup(1).warmup_start_factor(0.5)};
  REQUIRE(chart.curves.size() == schedules.size());
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    CAPTURE(chart.curves[i].name);
    const AnyScheduler prepared = prepare(schedules[i], 20, 100);
    for (int epoch = 0; epoch < 20; ++epoch) {
      CHECK(chart.curves[i].rates[static_cast<std::size_t>(epoch)] == lr(prepared, epoch, 0));
    }
  }
}

TEST_CASE("a command line that cannot be followed says why") {
  CHECK(refusal({}).find("2: name at least one schedule of constant, step,") == 0);
  CHECK(refusal({"cosin"}).find("2: a schedule is 'cosin', legal is constant, step,") == 0);
  CHECK(refusal({"wsd", "wsd"}) == "2: wsd is named twice");
  CHECK(refusal({"multi-step"}) == "2: multi-step needs --milestones, such as 30,60,80");
  CHECK(refusal({"cosine", "wsd", "--gamma", "0.5"}) ==
        "2: --gamma has no effect on cosine, wsd; it is for step, multi-step, exponential");
  CHECK(refusal({"cosine", "--step"}) == "2: unexpected argument '--step'");
  CHECK(refusal({"cosine", "--epochs", "0"}) == "2: --epochs is '0', legal is a whole number from 1 to 1000000");
  CHECK(refusal({"cosine", "--base-lr", "0.1x"}) == "2: --base-lr is '0.1x', legal is a number");
  CHECK(refusal({"cosine", "--base-lr"}) == "2: --base-lr has no value, legal is a number");
  for (const char* bad : {"", "30,", ",30", "30,,60", "30;60", "a"}) {
    CHECK(refusal({"multi-step", "--milestones", bad}).find("2: --milestones ") == 0);
  }
  CHECK(refusal({"cosine", "--by-batch", "--epochs", "1000000", "--steps-per-epoch", "11"}) ==
        "2: --epochs times --steps-per-epoch is 11000000, legal by batch is at most 10000000");
  CHECK(refusal({"cosine", "--out", ""}) == "2: --out has no value, legal is the name of a file");
  CHECK(refusal({"--help"}).find("0: Draws learning rates") == 0);
  CHECK_THROWS_AS(make_chart(parse({"cosine", "--base-lr", "-1"})), ValueError);
  CHECK_THROWS_AS(make_chart(parse({"multi-step", "--milestones", "6,3"})), ValueError);
}

TEST_CASE("an axis ends with a number at or above the highest rate, and the epochs are whole") {
  for (const float highest : {0.1F, 0.3F, 1.0F, 0.0123F, 7e-5F, 1e-40F, 3e38F}) {
    const Axis axis = rate_axis({{{"a", {0.0F, highest}}, {"b", {highest / 2, 0.0F}}}, 2});
    CHECK(axis.end >= highest * (1.0 - 1e-6));
    CHECK(axis.end - axis.step < highest);
    CHECK(axis.ticks() >= 3);
    CHECK(axis.ticks() <= 7);
    CHECK(std::abs(axis.ticks() * axis.step - axis.end) < 1e-6 * axis.end);
  }
  CHECK(rate_axis({{{"a", {0.0F}}}, 1}).end == 1.0);
  for (const int epochs : {1, 2, 7, 90, 300, 1'000'000}) {
    const Axis axis = epoch_axis({{}, epochs});
    CHECK(axis.end == epochs);
    CHECK(axis.step == std::floor(axis.step));
    CHECK(axis.ticks() >= 1);
    CHECK(axis.ticks() <= 10);
  }
}

TEST_CASE("stretches cover a curve without a gap and lose no extreme") {
  Curve curve{"wild", {}};
  for (int i = 0; i < 1000; ++i) curve.rates.push_back(i % 7 == 0 ? 1.0F : 0.001F * static_cast<float>(i % 13));
  for (const std::size_t places : {std::size_t{1}, std::size_t{64}, std::size_t{999}, std::size_t{5000}}) {
    const auto parts = stretches(curve, places);
    CHECK(parts.size() == std::min(places, curve.rates.size()));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::size_t end = i + 1 < parts.size() ? parts[i + 1].first : curve.rates.size();
      const auto begin = curve.rates.begin();
      const auto first = begin + static_cast<std::ptrdiff_t>(parts[i].first);
      const auto last = begin + static_cast<std::ptrdiff_t>(end);
      REQUIRE(first < last);
      CHECK(parts[i].begins == *first);
      CHECK(parts[i].ends == *(last - 1));
      CHECK(parts[i].lowest == *std::min_element(first, last));
      CHECK(parts[i].highest == *std::max_element(first, last));
    }
    CHECK(parts.front().first == 0);
  }
}

TEST_CASE("the picture has a path for every schedule, and its stairs are the rates") {
  const Frame frame;
  for (const bool by_batch : {false, true}) {
    std::vector<const char*> arguments{"step", "cosine", "wsd", "--epochs", "12", "--warmup", "2", "--steps-per-epoch",
                                       "9"};
    if (by_batch) arguments.push_back("--by-batch");
    const Chart chart = make_chart(parse(arguments));
    const auto paths = paths_of(draw_svg(chart, frame));
    REQUIRE(paths.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& rates = chart.curves[i].rates;
      const auto treads = treads_of(paths[i]);
      REQUIRE(treads.size() == rates.size());
      for (std::size_t t = 0; t < rates.size(); ++t) {
        const double part = static_cast<double>(t) / static_cast<double>(rates.size());
        CHECK(std::abs(treads[t].x - (frame.left + frame.width * part)) < 0.006);
        // The axis ends at 0.1.
        CHECK(std::abs(treads[t].y - (frame.top + frame.height * (1.0 - rates[t] / 0.1))) < 0.006);
      }
      CHECK(paths[i].ends_with("H720.00"));
    }
  }
}

TEST_CASE("a picture of a long run stays small and keeps its extremes") {
  const Chart chart =
      make_chart(parse({"warm-restarts", "--epochs", "300", "--by-batch", "--t-0", "1", "--steps-per-epoch", "500"}));
  const std::string svg = draw_svg(chart);
  CHECK(svg.size() < 100'000);
  CHECK(count(svg, "V24.00") >= 299);
  CHECK(count(svg, "V404.00") >= 299);
}

TEST_CASE("curves can be told apart without colour: each has dashes, a name and a number of its own") {
  const std::string svg = draw_svg(make_chart(parse({"cosine", "wsd", "constant"})));
  for (const char* mark : {">1</text>", ">2</text>", ">3</text>"}) CHECK(count(svg, mark) == 5);
  for (const char* name : {">cosine</text>", ">wsd</text>", ">constant</text>"}) CHECK(count(svg, name) == 1);
  for (const char* dashes : {"none", "9 4", "2 3"}) {
    CHECK(count(svg, "stroke-dasharray=\"" + std::string(dashes) + '"') == 2);
  }
  CHECK(count(draw_svg(make_chart(parse({"cosine"}))), "<circle") == 0);
}

TEST_CASE("no two curves carry their numbers at the same place") {
  std::vector<double> places;
  for (std::size_t i = 0; i < 8; ++i) {
    for (const double place : mark_places(i, 8)) places.push_back(place);
  }
  std::ranges::sort(places);
  CHECK(places.front() > 0.0);
  CHECK(places.back() < 1.0);
  for (std::size_t i = 1; i < places.size(); ++i) CHECK(places[i] - places[i - 1] > 0.02);
}

TEST_CASE("the sketch of a curve that falls from left to right is that") {
  // Dots in the top row of the first cell, and in the bottom row of the last.
  const std::string sketch = draw_sketch({{{"fall", {0.1F, 0.0F}}}, 2});
  const std::string first = sketch.substr(0, sketch.find('\n'));
  CHECK(first.starts_with("       0.1 +\u2809\u2809"));
  CHECK(sketch.find("         0 +") != std::string::npos);
  CHECK(sketch.find("\u28c0\u28c0\n") != std::string::npos);
  CHECK(sketch.find("fall\n") != std::string::npos);
  // 16 rows, the axis, its numbers and the name.
  CHECK(count(sketch, "\n") == 19);
  CHECK(sketch.find("+----------------------------+----------------------------+\n") != std::string::npos);
}

TEST_CASE("a sketch fits into 80 columns and numbers several curves") {
  const std::string sketch =
      draw_sketch(make_chart(parse({"cosine", "wsd", "--by-batch", "--epochs", "20000", "--steps-per-epoch", "1"})));
  std::istringstream lines(sketch);
  for (std::string line; std::getline(lines, line);) {
    const auto columns =
        std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
    CHECK(columns <= 80);
  }
  CHECK(sketch.find("         1 cosine\n         2 wsd\n") != std::string::npos);
  const std::string drawn = sketch.substr(0, sketch.find("+---"));
  CHECK(std::ranges::count(drawn, '1') >= 4);
  CHECK(std::ranges::count(drawn, '2') >= 4);
}

}  // namespace tr::plot
