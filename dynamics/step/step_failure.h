/// Whether a step ended well, and who is to blame if it did not.
#pragma once

#include "dynamics/step/step_memory.h"
#include "dynamics/step/step_report.h"
#include "engine/config.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

/// Squares included: energies are made of them. `culprit` is the first body that is not.
[[nodiscard]] bool is_finite(const State& state, int& culprit);

/// Fills in the report of a step from `scratch` to `next`: what it did, its status, and of a failure the body
/// and the contact. The causes are tried in this order: a number is not finite; a velocity did not converge;
/// a contact that took part lay deeper than `penetration_limit` of the smaller body's size; a point of a body
/// moves faster than `speed_limit` (bounded by |v| + |w| times the body's reach); a body moved farther than
/// its velocities explain, its centre or an angle by more than
///     h max |v| + c |v+ - v| + h |v_push - v+|,
/// of the velocities v at the start, v+ of the solve and those of the phases between impacts
/// (ContactSolution::phase_speeds), with the lag c (MotionLag) and the pseudo-velocity v_push of a
/// split push-out, and what joints add (TreeMotion::find_slack()). The pose update of a step without impacts complies
/// by construction.
///
/// @param h      length of the substep [s]
/// @param trees  after their end_step()
void judge_step(const Model& model, const StepConfig& config, const ContactDetector& detector, double h,
                const MotionLag& lag, const State& state, const State& next, const TreesOfStep& trees,
                const StepMemory& scratch, StepReport& report);

}  // namespace abut
