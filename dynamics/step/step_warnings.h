/// Warnings about a step that ended well but whose answer is not the motion that the scene means.
///
/// heavy_on_light: contacts of a pair give way by the compliance beta^2/(4 pi^2) W of `near_rigid_factor` (or
/// by what stands in its place, under laws without it), W being 1/m_A + 1/m_B. That is the compliance of the
/// lighter body; under the weight of one M/m times heavier a contact sinks by about
///     beta^2/(4 pi^2) (M/m) g h (h + tau_d),
/// millimetres from a ratio of 10^4 on. Given for pairs of such a ratio whose deepest contact lies deeper
/// than a thousandth of the smaller body's size, without what the springs of the materials account for, and
/// is held there by a load: it parts at less than half the velocity at which the law resolves an overlap.
///
/// long_step: the forces of one step move two bodies that touch relative to each other by h |dv|, dv being
/// the change of v*_B - v*_A without contact: by g h^2 where one of them rests on the ground. Gaps and
/// normals are those of the start of the step; where that way is no longer small beside the smaller body,
/// they say nothing of its end. Given from k_long_way sizes on.
///
/// parted_joint: joints hold in the directions that they have at the start of a step, so that a light body
/// that carries a large tension swings past them (docs/scene_format.md, [[joint]]). Given from k_parted sizes
/// on, for joints without a spring that are no links of trees.
///
/// left_out: more vertices or edges of a pair touch than Body::selected_vertices or selected_edges lets.
/// Given where a contact loses an activity of k_left_out or more.
///
/// rounding: the velocities of an island solve its equations as far as double precision can, not to
/// StepConfig::tolerance (MomentumBalance::is_rounding()). The relative residual is that of the island that
/// is farthest from it.
///
/// lost_restitution: a pair leaves an impact with less than its restitution times the speed of approach, by more
/// than k_lost_restitution of that speed, which is fast enough to bounce. Of three causes (step/impact_phases.h, contact_laws/impact.h):
///   - a step has more than 100 impacts for each body of a group: the last one closes all pairs that are left as
///     if e were 0;
///   - a group would end the step with more energy: all of its impacts are resolved as if e were 0;
///   - bodies press so much harder on a light one between them than it could by itself that the compliance of
///     impacts, 1e-5 (1/m_A + 1/m_B), takes up the blow.
/// Not given where `passive_impacts` bounds the energy of a single impact, which loses none then.
#pragma once

#include <span>

#include "dynamics/step/step_memory.h"
#include "dynamics/step/step_report.h"
#include "engine/config.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

inline constexpr double k_heavy_ratio = 1e4;       ///< of masses, for heavy_on_light [-]
inline constexpr double k_sunken_depth = 1e-3;     ///< for heavy_on_light [sizes of the smaller body]
inline constexpr double k_long_way = 0.1;          ///< for long_step [sizes of the smaller body]
inline constexpr double k_parted = 1e-2;           ///< for parted_joint [sizes of the smaller body]
inline constexpr double k_left_out = 0.1;          ///< for left_out [-]
inline constexpr double k_lost_restitution = 0.1;  ///< for lost_restitution [speed of approach]

/// Sets the warnings of a report from the scratch of its step, the worst pair for each kind.
///
/// @param acceleration_scale  g of the smoothing [m/s^2]
/// @param h                   length of the step [s]
/// @param is_link             per joint, whether a tree holds it; empty: none is
/// @param next                state at its end
void find_step_warnings(const Model& model, const StepConfig& config, double acceleration_scale, double h,
                        std::span<const char> is_link, const StepMemory& scratch, const State& next,
                        StepReport& report);

}  // namespace abut
