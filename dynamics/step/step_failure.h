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
/// moves faster than `speed_limit` (bounded by |v| + |w| times the body's reach).
void judge_step(const Model& model, const StepConfig& config, const ContactDetector& detector,
                const State& next, const StepMemory& scratch, StepReport& report);

}  // namespace abut
