/// Marks of steps whose result deserves a look, and a moment as a timeline previews it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dynamics/step/step_report.h"
#include "engine/pose.h"

namespace abut::viewer {

/// Of a step that ended well.
struct StepMark {
  std::int64_t number = 0;   ///< of the moment that the step led to
  std::int32_t body = -1;    ///< of the first warning; -1: none in particular
  bool is_fallback = false;  ///< it was hard to solve and may have other answers nearby
  bool has_warning = false;  ///< see StepWarning
};

/// The mark of a step, if it deserves one.
[[nodiscard]] std::optional<StepMark> mark_of(std::int64_t number, const StepReport& report);

/// A step that failed: nothing follows from its moment.
struct StepFailure {
  std::int64_t number = -1;  ///< of the moment that it started from; -1: none failed
  std::string text;
};

class SimulationCore;

/// A moment that is kept.
struct StepPreview {
  std::int64_t number = -1;
  std::uint64_t geometry_version = 0;  ///< of SceneModel
  double time = 0, energy = 0;         ///< [s], [J]
  int contacts = 0;
  std::vector<Pose<double>> X_WB;
  std::vector<std::string> remarks;  ///< on the step that led there, a sentence each
};

/// @param number  of a moment, clamped to those that are kept
[[nodiscard]] StepPreview preview_of(const SimulationCore& core, std::int64_t number);

}  // namespace abut::viewer
