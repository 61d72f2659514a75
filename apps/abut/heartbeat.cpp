#include "apps/abut/heartbeat.h"

#include <utility>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/progress_bar.h"

namespace abut {

Heartbeat::Heartbeat(std::string phase, Clock::duration interval,
                     std::function<void(const std::string&)> print)
    : print_(std::move(print)),
      interval_(interval),
      phase_(std::move(phase)),
      phase_start_(Clock::now()),
      last_(phase_start_),
      thread_([this] { run(); }) {}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Heartbeat::set_phase(std::string phase) {
  const std::lock_guard lock(mutex_);
  phase_ = std::move(phase);
  phase_start_ = Clock::now();
}

void Heartbeat::said_something() {
  const std::lock_guard lock(mutex_);
  last_ = Clock::now();
}

void Heartbeat::run() {
  std::unique_lock lock(mutex_);
  while (!is_done_) {
    wake_.wait_until(lock, last_ + interval_);
    if (is_done_ || Clock::now() < last_ + interval_) continue;
    last_ = Clock::now();
    print_(line());
  }
}

std::string Heartbeat::line() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - phase_start_).count();
  const std::int64_t count = count_.load();
  std::string text = fmt::format("{}, {} so far", phase_, duration_text(seconds));
  if (count > 0) text += fmt::format("; {:.4g} time steps simulated", static_cast<double>(count));
  return text;
}

}  // namespace abut
