/// How far a long computation is, on stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace abut {

/// On a terminal one line, redrawn at most ten times a second; elsewhere (a log file) a line every ten
/// seconds and one at the end. Nothing when quiet.
class ProgressBar {
 public:
  /// @param unit  what is counted, in the plural: "steps"
  /// @param patience  [s]; nothing is drawn of what takes no longer
  ProgressBar(std::string unit, std::int64_t total, bool quiet, double patience = 0.0);
  ~ProgressBar();  ///< draws the last state
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(std::int64_t done);

 private:
  using Clock = std::chrono::steady_clock;
  void draw(Clock::time_point now, bool last) const;

  std::string unit_;
  std::int64_t total_, done_ = 0;
  bool quiet_, on_terminal_;
  Clock::duration interval_, patience_;
  Clock::time_point start_, drawn_;
};

/// A duration [s] in as few letters as tell it: "0.03 s", "1.2 s", "12 s", "3 min 20 s", "2 h 5 min".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace abut
