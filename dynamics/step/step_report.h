/// What is known of a step besides the state at its end.
#pragma once

#include <array>

#include "collision/manifold/contact.h"
#include "dynamics/solver/solution_path.h"
#include "engine/config.h"

namespace abut {

/// How a step ended. Anything but ok is a failure: its end state is not to be used, and has no gradient.
///   not_converged  the velocities do not solve the contact problem to the tolerance
///   non_finite     a number overflowed, or is none
///   too_deep       a contact lies deeper than StepConfig::penetration_limit at the start of the step
///   too_fast       a body is faster than StepConfig::speed_limit at its end
///   turns_too_far  a body turns so far within the step that its free rotation is not solved
///   jumped         a body moved farther than its velocities in the step explain
enum class StepStatus { ok, not_converged, non_finite, too_deep, too_fast, turns_too_far, jumped };

[[nodiscard]] const char* to_string(StepStatus status);

/// Why a step that ended well may not be the motion that the scene means: see step_warnings.h.
struct StepWarning {
  /// heavy_on_light  `body` sinks into the at least 10^4 times lighter `other`; `value` is how deep [m]
  /// long_step       forces take `body` too far from or into `other` in one step; `value` is how far, in
  ///                 sizes of the smaller of the two
  /// parted_joint    what a rigid joint of `body` with `other` (-1: the world) holds together is apart;
  ///                 `value` is by how much, in sizes of the smaller of the two
  /// left_out        Body::selected_vertices or selected_edges of `body` and `other` take the activity
  ///                 `value` from a contact
  /// rounding        rounding ended the solution of the island of `body` (`other` is -1) above the tolerance;
  ///                 `value` is its relative residual
  /// lost_restitution
  ///                 `body` and `other` leave an impact slower than their restitution says; `value` is by how
  ///                 much [m/s]
  enum class Kind { heavy_on_light, long_step, parted_joint, left_out, rounding, lost_restitution };
  int body = -1, other = -1;  ///< body -1: there is no warning
  double value = 0.0;

  [[nodiscard]] bool is_given() const { return body >= 0; }
};
inline constexpr std::array k_step_warnings{
    StepWarning::Kind::heavy_on_light, StepWarning::Kind::long_step, StepWarning::Kind::parted_joint,
    StepWarning::Kind::left_out,       StepWarning::Kind::rounding,  StepWarning::Kind::lost_restitution};
/// One of each kind, in that order.
using StepWarnings = std::array<StepWarning, k_step_warnings.size()>;

/// Keeps the worse of each kind.
inline void keep_worse(const StepWarnings& others, StepWarnings& worst) {
  for (std::size_t k = 0; k < worst.size(); ++k) {
    if (others[k].value > worst[k].value) worst[k] = others[k];
  }
}

/// What a step did. `body` and `contact` point at the culprit of a failure, -1 where there is none.
struct StepReport {
  StepStatus status = StepStatus::ok;
  int contacts = 0;                          ///< with a weight > 0
  double max_penetration = 0.0;              ///< of those contacts, at the start of the step [m], >= 0
  int iterations = 0;                        ///< Newton iterations of the island that took most
  double residual = 0.0;                     ///< relative residual of the worst island
  SolutionPath path = SolutionPath::newton;  ///< of the island that was hardest to solve
  bool has_negative_determinant = false;     ///< see ContactSolution
  int impacts = 0;                           ///< with restitution, one after the other, see ImpactPhases
  bool are_impacts_cut_short = false;        ///< the last one closed all that was left, without restitution
  double max_speed = 0.0;    ///< of the points of any body at the end of the step, a bound [m/s]
  double penetration = 0.0;  ///< of `contact` after too_deep [sizes of the smaller body]
  double jump = 0.0;         ///< displacement of `body` without a velocity after jumped [m]
  int step = -1;             ///< number in its rollout, from 0; -1 of a step by itself
  ContactLaw law = ContactLaw::smooth_coulomb;
  int body = -1;
  ContactFeature contact;   ///< the one that is too deep, or the deepest of `body`, if it has any
  StepWarnings warnings{};  ///< the worst of each kind, of a step that ended well

  [[nodiscard]] StepWarning& warning(StepWarning::Kind kind) {
    return warnings[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] const StepWarning& warning(StepWarning::Kind kind) const {
    return warnings[static_cast<std::size_t>(kind)];
  }
};

}  // namespace abut
