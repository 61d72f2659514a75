/// The joints, couplings, motors and stops of a model as rows of the contact problem, and the way back.
///
/// A row is a direction J of the two bodies' twists with an impulse lambda that depends on s = J v alone and
/// is the negative derivative of a convex C-infinity potential of it. With the error e of the row (J = de/dx
/// for tangents x of the poses), its inverse mass w = J M^-1 J^T and x = v_hat - s:
///
///     hold   lambda = x/R                          v_hat = -e/(h + tau),  R = 1/(h k (h + tau)) + c w
///     motor  lambda = y/sqrt(1 + (y/L)^2), y = x/R,  L = h times the motor's limit, h that of the substep;
///            servo   v_hat = -k (q - target)/(k h + d), R = 1/(h (k h + d)) + c w,   d = damping
///            speed   v_hat = target,                    R = 1/(h d) + c w
///            the joint's own damping and friction F: speed motors with target 0; of friction d = F/v_s, limit F
///            affine  v_hat = (gain target + bias - k q)/(k h + d), R as of a servo
///            armature a: v_hat = s before, R = 1/a; before is v_free of trees, else the start of the step
///     force  lambda = y/sqrt(1 + (y/L)^2), y = h target:  a load, known at the start of the step; of an affine motor
///            without stiffness and damping  y = h (gain target + bias)
///     spring lambda = -h k' (q - q0),  k' = k/(1 + h^2 k w/4):  a load, too
///     stop   the normal impulse of smooth_coulomb.h, the way to the end of the travel being the distance
///
/// with the stiction speed v_s of contacts, of hinges over half the size of the smaller body, and c =
/// beta^2/(4 pi^2), as contacts have it: near-rigid, and 1e-6 of that where a finite stiffness, or damping or
/// friction of the joint, gives. w is the mean over the rows that belong together (three of a point, two or three of
/// a rotation), so that it does not depend on the choice of axes.
///
/// Joints of trees hold by themselves (motion/link_motion.h): they have rows of their coordinates alone. Their w is the
/// inverse of the inertia that the joint moves, all other joints locked, so that a light link between it and a load does not make it soft;
/// times the square of the coordinate's radius (coordinate_scales.h) for stops of hinges. Of their motors c is 1e-6 of that, too, unless the
/// damping is infinite.
///
/// Springs of coordinates and the motion between them are symplectic, and stable at every h: their w is a bound, as if only the joint
/// tied its two sides, each what is fixed together, and each side answers d
/// times as much, with the number d of springs that share it, so that all springs together stay within what a step can do.
///
/// The impulses of a point act on both bodies at the origin of JB, and rows turn with JA: momentum and
/// angular momentum of two free bodies are exact.
#pragma once

#include "dynamics/motion/free_motion.h"
#include "dynamics/motion/mass_matrix.h"
#include "dynamics/rows/joint_rows.h"
#include "dynamics/rows/row_inputs.h"
#include "engine/model.h"
#include "engine/model_tangent.h"
#include "engine/state.h"

namespace abut {

/// Rows of all joints and couplings of a model that have any.
///
/// @param free    of the step; null: rows of armature have no targets
/// @param memory  that steps use again and again; null: its own
void make_joint_rows(const Model& model, const MassMatrix& mass, const State& state,
                     const JointSettings& settings, JointRows& rows, const FreeMotion* free = nullptr,
                     RowScratch* memory = nullptr);

/// VJP of make_joint_rows(), which made `rows` of the same things, or of rows that were appended from such.
void joint_rows_vjp(const Model& model, const MassMatrix& mass, const State& state,
                    const JointSettings& settings, const JointRows& rows, const JointRowBars& bars,
                    const JointRowsGradient& gradient, const FreeMotion* free = nullptr);

}  // namespace abut
