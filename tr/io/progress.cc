#include "tr/io/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "tr/io/print.h"

namespace tr {
namespace {

constexpr double seconds_between_draws = 0.1;
constexpr int longest_bar = 20;
constexpr int shortest_bar = 5;
// Wider lines than this would have nothing to show.
constexpr int widest_line = 160;

int stdout_columns() {
  if (isatty(STDOUT_FILENO) == 0) return 0;
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

/// Text in a fixed buffer; what does not fit is cut off.
class Line {
 public:
  template <class... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    const auto room = chars_.size() - size_;
    const auto written = fmt::format_to_n(chars_.data() + size_, room, format, std::forward<Args>(args)...).size;
    size_ += std::min(written, room);
  }
  void cut(int size) { size_ = std::min(size_, static_cast<std::size_t>(std::max(size, 0))); }
  void fill(int size) { append("{:{}}", "", std::max(size - this->size(), 0)); }
  std::string_view text() const { return {chars_.data(), size_}; }
  int size() const { return static_cast<int>(size_); }

 private:
  std::array<char, widest_line + 2> chars_;
  std::size_t size_ = 0;
};

/// "0:07", "12:34" or "1:02:03".
void append_duration(Line& line, double seconds) {
  // Bounds that keep the conversion defined for an infinity and a NaN.
  const auto s = static_cast<std::int64_t>(seconds > 0.0 ? std::min(seconds, 1e10) : 0.0);
  if (s >= 3600) {
    line.append("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  } else {
    line.append("{}:{:02}", s / 60, s % 60);
  }
}

/// What a line can have on a terminal without being wrapped, and so out of reach.
int room_on(int columns) { return std::clamp(columns - 1, 0, widest_line); }

/// A piece of an epoch's line, and when a narrow line goes without: first the highest.
struct Field {
  Line text;
  int dispensable = 0;
};

/// The fields that fit, side by side.
Line joined(std::span<Field> fields, int room) {
  const auto width = [&] {
    int sum = 0;
    for (const Field& field : fields) sum += field.text.size();
    return sum;
  };
  for (int least = 4; least > 0 && width() > room; --least) {
    for (Field& field : fields) {
      if (field.dispensable == least) field.text.cut(0);
    }
  }
  Line line;
  for (const Field& field : fields) line.append("{}", field.text.text());
  line.cut(room);
  return line;
}

}  // namespace

Progress::Progress(int epochs, std::int64_t samples_per_epoch, int steps_per_epoch, bool quiet)
    : Progress(epochs, samples_per_epoch, steps_per_epoch, quiet, stdout, stdout_columns) {}

Progress::Progress(int epochs, std::int64_t samples_per_epoch, int steps_per_epoch, bool quiet, std::FILE* out,
                   Columns columns, Clock clock)
    : out_(out),
      columns_(columns),
      clock_(clock),
      quiet_(quiet),
      rewrites_(!quiet && columns() > 0),
      epochs_(epochs),
      samples_per_epoch_(samples_per_epoch),
      steps_per_epoch_(steps_per_epoch),
      run_start_(clock()),
      epoch_start_(run_start_),
      next_draw_(run_start_) {}

Progress::~Progress() { wipe(); }

void Progress::step(int epoch, int batch, int rows, double loss) {
  if (!rewrites_) return;
  run_samples_ += rows;
  epoch_samples_ += rows;
  epoch_loss_sum_ += loss * rows;
  const double now = clock_();
  if (now < next_draw_) return;
  next_draw_ = now + seconds_between_draws;
  draw(epoch, batch, now);
}

void Progress::draw(int epoch, int batch, double now) {
  const auto samples = static_cast<double>(epoch_samples_);
  Line numbers;
  numbers.append(" loss {:.4f}", epoch_loss_sum_ / samples);
  if (now > epoch_start_) numbers.append(" {:.0f} images/s", samples / (now - epoch_start_));
  // The pace of the whole run counts, so that evaluation is in it once there was one.
  const double left = (epochs_ - epoch + 1.0) * static_cast<double>(samples_per_epoch_) - samples;
  numbers.append(" ");
  append_duration(numbers, (now - run_start_) * left / static_cast<double>(run_samples_));
  numbers.append(" left");

  const int room = room_on(columns_());
  Line line;
  line.append("\repoch {}/{}", epoch, epochs_);
  const int bar = std::min(longest_bar, room - (line.size() - 1) - numbers.size() - 3);
  if (bar >= shortest_bar) {
    const int steps = std::max(steps_per_epoch_, 1);
    const int filled = static_cast<int>(std::int64_t{bar} * std::clamp(batch + 1, 0, steps) / steps);
    line.append(" [{:=<{}}{:<{}}]", "", filled, "", bar - filled);
  }
  line.append("{}", numbers.text());
  line.cut(1 + room);
  line.fill(1 + room);
  // A terminal puts ^C where the cursor is: there it is overwritten.
  line.append("\r");
  print(out_, line.text());
}

void Progress::epoch(const EpochResult& result) {
  epoch_samples_ = 0;
  epoch_loss_sum_ = 0.0;
  epoch_start_ = clock_();
  if (quiet_) return;
  wipe();
  std::array<Field, 7> fields{{{{}, 0}, {{}, 3}, {{}, 1}, {{}, 0}, {{}, 0}, {{}, 2}, {{}, 4}}};
  auto& [epoch, rate, loss, test_loss, top1, seconds, pace] = fields;
  epoch.text.append("epoch {:>{}}/{}", result.epoch, fmt::formatted_size("{}", epochs_), epochs_);
  rate.text.append("  lr {:.1e}", result.lr);
  loss.text.append("  loss {:.4f}", result.train_loss);
  if (result.evaluated) {
    test_loss.text.append("  test loss {:.4f}", result.test_loss);
    top1.text.append("  top-1 {:.2f} %", 100.0 * result.top1);
  }
  seconds.text.append("  {:.1f} s", result.seconds);
  pace.text.append("  {:.0f} images/s", result.images_per_second);
  const int columns = columns_();
  Line line = joined(fields, columns > 0 ? room_on(columns) : 80);
  line.append("\n");
  print(out_, line.text());
}

void Progress::wipe() {
  if (!rewrites_) return;
  Line line;
  line.append("\r");
  line.fill(1 + room_on(columns_()));
  line.append("\r");
  print(out_, line.text());
}

}  // namespace tr
