/// Warnings about the state that a simulation starts from: solids that overlap, and joints that do not fit
/// the poses or velocities of their bodies. Such a simulation runs, but its first steps push bodies apart,
/// pull joints together or take velocities away, which no one may have meant.
///
/// Joints are those without a spring: a spring may start at any length. Their errors and velocities are those
/// of their constraints: |C(q)| and |dC/dt| = |J v|, of displacements and of rotations separately.
#pragma once

#include <string>
#include <vector>

#include "collision/overlap.h"
#include "dynamics/step/stepper.h"

namespace abut {

/// Given for a displacement, that of a slider beyond its limit too, beyond k_parted sizes of the smaller body
/// (step_warnings.h), a rotation beyond k_turned, and velocities beyond k_forbidden times the speed of the points
/// of the two bodies, or beyond k_forbidden_step times what the acceleration scale makes of rest in a step:
/// motions of a step, such as that of a pendulum that comes to rest, are no mistake in the scene.
struct JointStartWarning {
  enum class Kind {
    parted,     ///< the joint's frames are apart by `value` [m]
    turned,     ///< the joint's frames are turned from each other by `value` [rad]
    parting,    ///< the frames move apart at `value` [m/s]
    turning,    ///< the frames turn away from each other at `value` [rad/s]
    outside,    ///< the coordinate is beyond one of its limits by `value` [rad or m]
    uncoupled,  ///< a coupling that is held rigidly starts `value` from there [rad or m]
    uncoupling  ///< or moves away from there at `value` [rad/s or m/s]
  };
  Kind kind = Kind::parted;
  int joint = -1;  ///< of a coupling its first joint
  double value = 0;
  int coupling = -1;  ///< -1: of the joint itself
};
[[nodiscard]] const char* to_string(JointStartWarning::Kind kind);
/// The name of the joint or coupling.
[[nodiscard]] const std::string& name_of(const Model& model, const JointStartWarning& warning);

inline constexpr double k_turned = 1e-2;         ///< [rad]
inline constexpr double k_forbidden = 1e-2;      ///< [-]
inline constexpr double k_forbidden_step = 0.1;  ///< [-]

struct StartWarnings {
  std::vector<Overlap> overlaps;          ///< in ascending order of the bodies
  std::vector<JointStartWarning> joints;  ///< in the order of the joints, then of the couplings

  [[nodiscard]] bool empty() const { return overlaps.empty() && joints.empty(); }
};

/// Costs as much as find_overlaps() does. None where the state is not finite.
[[nodiscard]] StartWarnings find_start_warnings(const Stepper& stepper, const State& initial);

/// The bodies that overlap and the depth, in one line.
[[nodiscard]] std::string overlap_text(const Model& model, const Overlap& overlap);
/// The joint, its bodies, its error, and what to do, in one line.
[[nodiscard]] std::string warning_text(const Model& model, const JointStartWarning& warning);
/// A line for each warning.
[[nodiscard]] std::vector<std::string> warning_texts(const Model& model, const StartWarnings& warnings);

}  // namespace abut
