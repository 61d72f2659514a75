/// Rows of coordinates, those of joints and those of couplings alike: motors, what is written as one, springs, stops, and
/// what holds a coupling. Laws: joint_constraints.h.
///
/// A coordinate q has J = sum (dq/dq_i) J_i, of the joints that it is made of, and is as heavy as these are:
///     w = sum (dq/dq_i)^2 w_i.  With r_i of each joint (CoordinateRadius) and the slopes
/// c_i = gear c_i1 of a coupling's terms, the smoothing of its stops and friction is that of contacts at
///     r^-2 = sum (c_i/r_i)^2
#pragma once

#include <vector>

#include "dynamics/rows/joint_rows.h"
#include "dynamics/rows/row_inputs.h"

namespace abut {

/// Adds the group of rows of the coordinate of a joint, or of a coupling, if it has any.
///
/// @param motor  index of its motor, -1 if it has none
void add_coordinate_rows(const RowInputs& in, int joint, int coupling, int motor, JointRows& rows);

/// VJP of such a group.
void coordinate_rows_vjp(const RowInputs& in, const JointRows& rows, const JointGroup& group,
                         const JointRowBars& bars, const JointRowsGradient& gradient);

/// How much a coordinate moves with that of one of its joints.
struct CoordinateSlope {
  int joint = -1;
  double slope = 1.0;
};
[[nodiscard]] std::vector<CoordinateSlope> coordinate_slopes(const Model& model, const State& state,
                                                             const JointGroup& group);

}  // namespace abut
