#include "apps/viewer/simulation/simulation_thread.h"

#include <chrono>
#include <future>
#include <utility>

namespace abut::viewer {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

SimulationThread::SimulationThread(const SimulationOptions& options, Threading threading)
    : core_(options), threading_(threading) {
  publish(0.0);
  if (threading_ == Threading::own_thread) thread_ = std::thread([this] { run(); });
}

SimulationThread::~SimulationThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SimulationThread::post(Command command) {
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
  }
  wake_.notify_all();
}

void SimulationThread::call(const Command& command) {
  if (threading_ == Threading::none) {
    run_commands();
    command(core_);
    publish(0.0);
    return;
  }
  std::promise<void> done;
  post([&](SimulationCore& core) {
    try {
      command(core);
      done.set_value();
    } catch (...) {
      done.set_exception(std::current_exception());
    }
  });
  done.get_future().get();
}

SharedFrame SimulationThread::frame() {
  const std::lock_guard lock(mutex_);
  frame_was_taken_ = true;
  wake_.notify_all();
  return frame_;
}

void SimulationThread::run_commands() {
  std::vector<Command> commands;
  {
    const std::lock_guard lock(mutex_);
    commands.swap(commands_);
  }
  for (const Command& command : commands) {
    try {
      command(core_);
    } catch (const std::exception& error) {
      core_.set_message(error.what());
    }
  }
}

void SimulationThread::publish(double real_time_factor) {
  SharedFrame frame = core_.make_frame(real_time_factor);
  published_version_ = core_.version();
  const std::lock_guard lock(mutex_);
  frame_ = std::move(frame);
  frame_was_taken_ = false;
}

void SimulationThread::update(double seconds) {
  run_commands();
  core_.advance(seconds, [] { return true; });
  if (core_.version() != published_version_) publish(core_.running() ? core_.speed() : 0.0);
}

void SimulationThread::run() {
  for (bool go_on = true; go_on;) {
    try {
      go_on = false;
      simulate();
    } catch (const std::exception& error) {  // out of memory, say: the next command may help
      core_.set_running(false);
      core_.set_message(error.what());
      go_on = true;
    }
  }
}

void SimulationThread::simulate() {
  constexpr double k_slice = 4e-3;         // commands wait no longer than this, or one step [s]
  constexpr double k_look_at_files = 0.5;  // [s]
  constexpr double k_measured_over = 0.5;  // of the real time factor [s]
  Clock::time_point last = Clock::now(), looked = last, measured = last;
  double factor = 0.0, time_then = core_.state().time;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      const auto has_work = [&] {
        return stop_ || !commands_.empty() || (frame_was_taken_ && core_.version() != published_version_);
      };
      // A simulation that keeps up with real time has nothing to do most of the time.
      wake_.wait_for(lock, std::chrono::milliseconds(core_.running() ? 1 : 100), has_work);
      if (stop_) return;
    }
    run_commands();
    if (seconds_since(looked) > k_look_at_files) {
      looked = Clock::now();
      core_.reload_if_changed();
    }
    const double elapsed = seconds_since(last);
    last = Clock::now();
    core_.advance(std::min(elapsed, 0.1), [&] { return seconds_since(last) < k_slice; });
    if (seconds_since(measured) > k_measured_over) {
      factor =
          core_.running() ? std::max(0.0, core_.state().time - time_then) / seconds_since(measured) : 0.0;
      measured = Clock::now();
      time_then = core_.state().time;
    }
    bool wanted = false;
    {
      const std::lock_guard lock(mutex_);
      wanted = frame_was_taken_;
    }
    if (wanted && core_.version() != published_version_) publish(factor);
  }
}

}  // namespace abut::viewer
