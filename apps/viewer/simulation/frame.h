/// All that is to be seen of a simulation at one moment: what the simulation gives to the picture. Immutable.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/viewer/simulation/experiment_view.h"
#include "apps/viewer/simulation/ghosts.h"
#include "apps/viewer/simulation/pull.h"
#include "apps/viewer/simulation/scene_model.h"
#include "apps/viewer/simulation/step_mark.h"
#include "collision/manifold/contact_inspection.h"
#include "collision/manifold/contact_manifold.h"
#include "dynamics/step/contact_force.h"
#include "dynamics/step/joint_force.h"
#include "dynamics/step/step_record.h"
#include "dynamics/step/step_scratch.h"

namespace abut::viewer {

struct ContactView {
  Contact contact;
  ContactInspection inspection;
  bool has_force = false;
  ContactForce force;  ///< in the step that follows
};

/// Curves over time.
enum class Curve { energy, momentum, angular_momentum, penetration, contacts, iterations, step_time };
inline constexpr std::size_t k_curves = 7;
struct Curves {
  std::vector<std::int64_t> number;  ///< of the moment
  std::vector<float> time;           ///< [s]
  /// NaN where a replay does not say.
  std::array<std::vector<float>, k_curves> values;  ///< SI units; step_time [s]
  [[nodiscard]] const std::vector<float>& of(Curve curve) const {
    return values[static_cast<std::size_t>(curve)];
  }
};

struct Frame {
  SharedModel model;
  State state;
  std::int64_t number = 0;           ///< of the moment, since the start
  std::int64_t first = 0, last = 0;  ///< that can be seen
  std::int64_t end = 0;  ///< where running stops by itself: the scene's `steps`, or the end of a replay
  std::int64_t steps_since = 0;  ///< from which on each follows from the one before by a step of this model
  bool running = false;
  bool loops = false;           ///< starts again where it would stop by itself
  bool is_replay = false;       ///< of a trajectory from a file
  bool is_edited = false;       ///< its settings or bodies, since the scene's file was read
  double speed = 1.0;           ///< wanted, of real time
  double real_time_factor = 0;  ///< reached
  StepReport report;            ///< of the step that led here
  double step_seconds = 0;
  double energy = 0;                  ///< kinetic and potential [J]
  std::string message;                ///< what went wrong last, empty if nothing did
  std::vector<std::string> warnings;  ///< bodies that overlapped where it began, and of the last step
  std::vector<ContactView> contacts;
  std::vector<ContactCandidate> candidates;
  std::vector<ContactForce>
      other_forces;  ///< of contacts that are not among those above: of reduced pairs, or about to close
  std::vector<JointForce> joint_forces;    ///< in the step that follows, one per joint; empty if it fails
  std::vector<ContactView> without_edges;  ///< contacts if edges did not meet edges; empty unless asked for
  Curves curves;                           ///< of the moments that can be seen, at most 1,000 of them
  std::shared_ptr<const std::vector<StepMark>> marks;  ///< of the steps to moments that can be seen
  StepFailure failure;                                 ///< of the step from the last moment
  Pull pull;
  std::shared_ptr<const Points> motion_W;  ///< corners of boxes around the bodies on their way to `end` [m]
  [[nodiscard]] std::span<const Points> motion() const { return {motion_W.get(), motion_W ? 1U : 0U}; }
  std::vector<BodyGhost> ghosts;                     ///< of bodies in another motion now; may be empty
  GhostPoints ghost_points;                          ///< seen on their surfaces; may be empty
  std::string ghosts_name, passing_ghosts_name;      ///< what they are of; empty without any
  std::shared_ptr<const ExperimentView> experiment;  ///< null unless one is shown
};
using SharedFrame = std::shared_ptr<const Frame>;

/// What steps and frames are made with; keeps its memory.
struct FrameScratch {
  StepScratch step;
  ContactManifold manifold;
  ManifoldInspection inspection;
  StepRecord record;
  State next;
  std::vector<ContactForce> forces;
};

/// The contacts of a state of a model with all that can be known of them, as fields of `frame`. Forces are
/// those of the step from here; there are none if that fails.
void look_at_contacts(const SceneModel& model, const State& state, const Control& control,
                      FrameScratch& scratch, Frame& frame);

}  // namespace abut::viewer
