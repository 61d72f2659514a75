/// Ghosts from a file, as a job: what is to be read is read at once, what is to be simulated is simulated on
/// a thread of its own.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "apps/viewer/simulation/ghosts.h"
#include "apps/viewer/simulation/scene_model.h"

namespace abut::viewer {

/// One job at a time, which ends with the step under way where it is cancelled, replaced or destroyed.
class GhostJob {
 public:
  GhostJob() = default;
  ~GhostJob() { cancel(); }
  GhostJob(const GhostJob&) = delete;
  GhostJob& operator=(const GhostJob&) = delete;

  /// See read_ghosts(), ghost_file.h; in place of a job under way. Throws InputError for a file that cannot
  /// be read.
  void start(const std::filesystem::path& file, const SharedModel& model);
  [[nodiscard]] bool busy() const { return future_.valid(); }
  /// "ghosts of other.toml: step 12 of 300"; empty without a job.
  [[nodiscard]] std::string progress() const;
  /// The ghosts, once, when they are there. Throws InputError if a step failed.
  [[nodiscard]] std::optional<Ghosts> poll();
  /// Waits for the step under way alone.
  void cancel();

 private:
  std::string name_;
  int steps_ = 0;
  std::shared_ptr<std::atomic<int>> step_;
  std::stop_source stop_;
  std::future<Ghosts> future_;
};

}  // namespace abut::viewer
