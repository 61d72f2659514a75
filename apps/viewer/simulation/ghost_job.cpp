#include "apps/viewer/simulation/ghost_job.h"

#include <chrono>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "apps/viewer/simulation/ghost_file.h"

namespace abut::viewer {

void GhostJob::start(const std::filesystem::path& file, const SharedModel& model) {
  cancel();
  GhostSource source = open_ghosts(file, *model);
  name_ = file.filename().string();
  steps_ = source.steps;
  step_ = std::make_shared<std::atomic<int>>(0);
  stop_ = {};
  future_ =
      std::async(std::launch::async, [make = std::move(source.make), step = step_, stop = stop_.get_token()] {
        return make([&](int done) {
          step->store(done, std::memory_order_relaxed);
          return !stop.stop_requested();
        });
      });
}

std::string GhostJob::progress() const {
  if (!busy()) return {};
  return fmt::format("ghosts of {}: step {} of {}", name_, step_->load(std::memory_order_relaxed), steps_);
}

std::optional<Ghosts> GhostJob::poll() {
  if (!busy() || future_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return std::nullopt;
  return future_.get();
}

void GhostJob::cancel() {
  stop_.request_stop();
  if (future_.valid()) future_.wait();
  future_ = {};
}

}  // namespace abut::viewer
