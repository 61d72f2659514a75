/// The simulation on a thread of its own: commands go in, frames come out, and neither side waits for the
/// other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/viewer/simulation/simulation_core.h"

namespace abut::viewer {

enum class Threading {
  own_thread,  ///< in real time
  none         ///< everything happens in update(), and the same calls make the same frames
};

class SimulationThread {
 public:
  using Command = std::function<void(SimulationCore&)>;

  /// Throws InputError if there is no such scene.
  explicit SimulationThread(const SimulationOptions& options, Threading threading = Threading::own_thread);
  ~SimulationThread();
  SimulationThread(const SimulationThread&) = delete;
  SimulationThread& operator=(const SimulationThread&) = delete;

  /// To be done before the next step, in the order of the calls. May throw: the message is what frames then
  /// say.
  void post(Command command);
  /// The same with an answer, or what it throws instead.
  template <typename Question>
  [[nodiscard]] auto ask(Question question) {
    using Answer = std::invoke_result_t<Question&, SimulationCore&>;
    auto promise = std::make_shared<std::promise<Answer>>();  // commands are copied
    std::future<Answer> answer = promise->get_future();
    post([promise, question = std::move(question)](SimulationCore& core) mutable {
      try {
        promise->set_value(question(core));
      } catch (...) {
        promise->set_exception(std::current_exception());
      }
    });
    return answer;
  }
  /// Does the command now and waits for it, passing on what it throws.
  void call(const Command& command);

  /// The newest frame; the same pointer until there is a newer one. Never waits for a step.
  [[nodiscard]] SharedFrame frame();

  /// Without a thread of its own: does the commands, and simulates that much real time [s].
  void update(double seconds);

 private:
  void run();
  void simulate();  ///< until it is told to stop
  void run_commands();
  void publish(double real_time_factor);

  SimulationCore core_;
  const Threading threading_;
  std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  std::vector<Command> commands_;
  SharedFrame frame_;
  bool frame_was_taken_ = true, stop_ = false;
  std::uint64_t published_version_ = 0;
  std::thread thread_;
};

}  // namespace abut::viewer
