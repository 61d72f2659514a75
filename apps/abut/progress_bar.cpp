#include "apps/abut/progress_bar.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include <unistd.h>

#include <spdlog/fmt/fmt.h>

namespace abut {

std::string duration_text(double seconds) {
  if (!(seconds < 9.95)) {
    const double rounded = std::round(seconds);
    if (rounded < 60.0) return fmt::format("{:.0f} s", rounded);
    if (rounded < 3600.0)
      return fmt::format("{:.0f} min {:.0f} s", std::floor(rounded / 60.0), std::fmod(rounded, 60.0));
    const double minutes = std::round(seconds / 60.0);
    return fmt::format("{:.0f} h {:.0f} min", std::floor(minutes / 60.0), std::fmod(minutes, 60.0));
  }
  return fmt::format("{:.{}f} s", seconds, seconds < 0.995 ? 2 : 1);
}

ProgressBar::ProgressBar(std::string unit, std::int64_t total, bool quiet, double patience)
    : unit_(std::move(unit)),
      total_(total),
      quiet_(quiet),
      on_terminal_(::isatty(STDERR_FILENO) == 1),
      interval_(on_terminal_ ? std::chrono::milliseconds(100) : std::chrono::seconds(10)),
      patience_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(patience))),
      start_(Clock::now()),
      drawn_(start_) {}

ProgressBar::~ProgressBar() {
  const Clock::time_point now = Clock::now();
  if (!quiet_ && now - start_ >= patience_) draw(now, true);
}

void ProgressBar::update(std::int64_t done) {
  done_ = done;
  if (quiet_) return;
  const Clock::time_point now = Clock::now();
  if (now - drawn_ < interval_ || now - start_ < patience_) return;
  drawn_ = now;
  draw(now, false);
}

void ProgressBar::draw(Clock::time_point now, bool last) const {
  constexpr int k_width = 30;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double fraction = static_cast<double>(done_) / static_cast<double>(total_);
  const double rate = seconds > 0.0 ? static_cast<double>(done_) / seconds : 0.0;
  const auto filled = static_cast<std::size_t>(k_width * fraction);
  std::string line =
      fmt::format("[{}{}] {:3.0f} %  {}/{} {}", std::string(filled, '#'), std::string(k_width - filled, '.'),
                  std::floor(100.0 * fraction), done_, total_, unit_);
  if (rate > 0.0) line += fmt::format("  {:.{}f} {}/s", rate, rate < 10.0 ? 1 : 0, unit_);
  if (last) {
    line += "  " + duration_text(seconds);
  } else if (rate > 0.0) {
    line += fmt::format("  {} left", duration_text(static_cast<double>(total_ - done_) / rate));
  }
  // On a terminal the line before it may have been longer.
  if (on_terminal_) line = "\r" + line + "\x1b[K";
  if (!on_terminal_ || last) line += '\n';
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace abut
