/// A sign of life of a long computation, whatever it is doing.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace abut {

/// Calls `print` from a thread of its own with a line about what is going on, whenever nothing was said for
/// `interval`: the phase, how long it has taken and, where `count` goes up, how far it has come.
class Heartbeat {
 public:
  using Clock = std::chrono::steady_clock;
  Heartbeat(std::string phase, Clock::duration interval, std::function<void(const std::string&)> print);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// What is done from now on.
  void set_phase(std::string phase);
  /// Something else was printed: silence begins anew.
  void said_something();
  /// Time steps that were simulated. May be added to from any thread.
  [[nodiscard]] std::atomic<std::int64_t>& count() { return count_; }

 private:
  void run();
  [[nodiscard]] std::string line() const;

  std::function<void(const std::string&)> print_;
  Clock::duration interval_;
  std::string phase_;
  Clock::time_point phase_start_, last_;
  std::atomic<std::int64_t> count_{0};
  bool is_done_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace abut
