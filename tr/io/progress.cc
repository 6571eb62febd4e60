#include "tr/io/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tr {
namespace {

constexpr double seconds_between_draws = 0.1;
constexpr std::size_t bar_width = 20;
// A line that a terminal would wrap could not be rewritten, so the line fits the narrowest terminal in use.
constexpr std::size_t line_width = 79;
constexpr std::string_view blanks = "                                                                               ";
static_assert(blanks.size() == line_width);

/// Text in a fixed buffer; what does not fit is cut off.
template <std::size_t N>
class Line {
 public:
  template <class... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    const auto room = N - size_;
    const auto written = fmt::format_to_n(chars_.data() + size_, room, format, std::forward<Args>(args)...).size;
    size_ += std::min(written, room);
  }
  const char* data() const { return chars_.data(); }
  std::size_t size() const { return size_; }

 private:
  std::array<char, N> chars_;
  std::size_t size_ = 0;
};

/// "0:07", "12:34" or "1:02:03".
template <std::size_t N>
void append_duration(Line<N>& line, double seconds) {
  // Bounds that keep the conversion defined for an infinity and a NaN.
  const auto s = static_cast<std::int64_t>(seconds > 0.0 ? std::min(seconds, 1e10) : 0.0);
  if (s >= 3600) {
    line.append("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  } else {
    line.append("{}:{:02}", s / 60, s % 60);
  }
}

}  // namespace

Progress::Progress(int epochs, std::int64_t samples_per_epoch, int steps_per_epoch, bool quiet)
    : Progress(epochs, samples_per_epoch, steps_per_epoch, quiet, stdout, isatty(STDOUT_FILENO) != 0) {}

Progress::Progress(int epochs, std::int64_t samples_per_epoch, int steps_per_epoch, bool quiet, std::FILE* out,
                   bool terminal, Clock clock)
    : out_(out),
      clock_(clock),
      quiet_(quiet),
      terminal_(terminal),
      epochs_(epochs),
      samples_per_epoch_(samples_per_epoch),
      steps_per_epoch_(steps_per_epoch),
      run_start_(clock()),
      epoch_start_(run_start_),
      next_draw_(run_start_) {}

Progress::~Progress() { wipe(); }

void Progress::step(int epoch, int batch, int rows, double loss) {
  if (quiet_ || !terminal_) return;
  run_samples_ += rows;
  epoch_samples_ += rows;
  epoch_loss_sum_ += loss * rows;
  const double now = clock_();
  if (now < next_draw_) return;
  next_draw_ = now + seconds_between_draws;
  draw(epoch, batch, now);
}

void Progress::draw(int epoch, int batch, double now) {
  const int done = std::clamp(batch + 1, 0, steps_per_epoch_);
  const auto filled =
      bar_width * static_cast<std::size_t>(done) / static_cast<std::size_t>(std::max(steps_per_epoch_, 1));
  const auto samples = static_cast<double>(epoch_samples_);
  Line<line_width> line;
  line.append("epoch {}/{} [{:=<{}}{:<{}}]", epoch, epochs_, "", filled, "", bar_width - filled);
  line.append(" loss {:.4f}", epoch_loss_sum_ / samples);
  if (now > epoch_start_) line.append(" {:.0f} images/s", samples / (now - epoch_start_));
  // The pace of the whole run counts, so that evaluation is in it once there was one.
  const double left = (epochs_ - epoch + 1.0) * static_cast<double>(samples_per_epoch_) - samples;
  line.append(" ");
  append_duration(line, (now - run_start_) * left / static_cast<double>(run_samples_));
  line.append(" left");
  show(line.data(), line.size());
}

void Progress::epoch(const EpochResult& result) {
  epoch_samples_ = 0;
  epoch_loss_sum_ = 0.0;
  epoch_start_ = clock_();
  if (quiet_) return;
  wipe();
  Line<160> line;
  line.append("epoch {:>{}}/{}  lr {:.3e}  train loss {:.4f}", result.epoch, fmt::formatted_size("{}", epochs_),
              epochs_, result.lr, result.train_loss);
  if (result.evaluated) line.append("  test loss {:.4f}  top-1 {:.2f} %", result.test_loss, 100.0 * result.top1);
  line.append("  {:.2f} s  {:.0f} images/s\n", result.seconds, result.images_per_second);
  std::fwrite(line.data(), 1, line.size(), out_);
  std::fflush(out_);
}

void Progress::show(const char* text, std::size_t size) {
  std::fwrite("\r", 1, 1, out_);
  std::fwrite(text, 1, size, out_);
  if (shown_ > size) std::fwrite(blanks.data(), 1, shown_ - size, out_);
  std::fflush(out_);
  shown_ = size;
}

void Progress::wipe() {
  if (shown_ == 0) return;
  show("", 0);
  std::fwrite("\r", 1, 1, out_);
  std::fflush(out_);
}

}  // namespace tr
