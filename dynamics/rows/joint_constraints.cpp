#include "dynamics/rows/joint_constraints.h"

#include <array>

#include "dynamics/motion/fixed_motion.h"
#include "dynamics/rows/coordinate_rows.h"
#include "dynamics/rows/joint_place.h"

namespace abut {
namespace {

/// What a row that holds is: the same list, in the same order, forwards and backwards.
struct HoldOf {
  enum class Error { axis, distance, turn } error;
  int axis = 0;
};

struct HoldList {
  std::array<HoldOf, 6> rows;
  int count = 0;
  void add(HoldOf::Error error, int n) {
    for (int i = 0; i < n; ++i) rows[at(count++)] = {error, i};
  }
};

HoldList holds_of(JointKind kind) {
  using Error = HoldOf::Error;
  HoldList list;
  switch (kind) {
    case JointKind::fixed:
      list.add(Error::axis, 3);
      list.add(Error::turn, 3);
      break;
    case JointKind::ball:
      list.add(Error::axis, 3);
      break;
    case JointKind::hinge:
      list.add(Error::axis, 3);
      list.add(Error::turn, 2);
      break;
    case JointKind::slider:
      list.add(Error::axis, 2);
      list.add(Error::turn, 3);
      break;
    case JointKind::distance:
      list.add(Error::distance, 1);
      break;
  }
  return list;
}

double dissipation_time_of(const Joint& joint, const JointSettings& settings) {
  return joint.dissipation_time < 0.0 ? settings.default_dissipation_time : joint.dissipation_time;
}

double compliance_of(const Joint& joint, HoldOf::Error error) {
  return 1.0 / (error == HoldOf::Error::turn ? joint.angular_stiffness : joint.stiffness);
}

/// Number of rows whose inverse masses are averaged: those of the same kind in a row.
int block_end(const HoldList& list, int begin) {
  int end = begin + 1;
  while (end < list.count && list.rows[at(end)].error == list.rows[at(begin)].error) ++end;
  return end;
}

/// c of a row: next to nothing where something else gives, so that R > 0 however stiff that is.
double near_rigid_of(const Joint& joint, HoldOf::Error error, const smooth_coulomb::Settings& settings) {
  constexpr double k_next_to_nothing = 1e-6;
  return (compliance_of(joint, error) > 0.0 ? k_next_to_nothing : 1.0) * settings.near_rigid;
}

/// The directions of a row, and its error.
struct HoldPlace {
  RowDirections J;
  double error;
};
HoldPlace place_of(const JointPlace& g, const Joint& joint, const HoldOf& kind) {
  switch (kind.error) {
    case HoldOf::Error::axis:
      break;
    case HoldOf::Error::distance: {
      const double rho = g.pose.distance(joint.length);
      return {point_row(g, g.d / rho), rho - joint.length};
    }
    case HoldOf::Error::turn:
      return {turn_row(g.turn_direction(kind.axis)), g.pose.rotation_error()[kind.axis]};
  }
  return {point_row(g, g.axis(kind.axis)), g.pose.d[kind.axis]};
}

void place_vjp(const JointPlace& g, const Joint& joint, const HoldOf& kind, const RowDirections& J_bar,
               double error_bar, JointPlaceBar& out, JointTangent& joint_bar) {
  switch (kind.error) {
    case HoldOf::Error::axis:
      axis_row_vjp(g, kind.axis, J_bar, error_bar, out);
      break;
    case HoldOf::Error::distance:
      // |d| is rounded off relative to the length; see JointPose::distance().
      distance_row_vjp(g, g.pose.distance(joint.length), J_bar, error_bar, out);
      joint_bar.length -= error_bar;
      break;
    case HoldOf::Error::turn:
      turn_row_vjp(g, kind.axis, J_bar, error_bar, out);
      break;
  }
}

void add_hold_rows(const RowInputs& in, int j, JointRows& out) {
  const Joint& joint = in.model.joints[at(j)];
  const HoldList list = holds_of(joint.kind);
  const JointPlace g(in.model, j, in.state);
  const int slot_A = joint.body_A < 0 ? -1 : in.mass.slot(joint.body_A), slot_B = in.mass.slot(joint.body_B);
  JointGroup& group = out.add_group(std::array{slot_A, slot_B});
  group.joint = j;
  const double h = in.settings.law.h, tau = dissipation_time_of(joint, in.settings);
  for (int begin = 0; begin < list.count;) {
    const int end = block_end(list, begin);
    double sum = 0.0;
    for (int i = begin; i < end; ++i) {
      const HoldOf& kind = list.rows[at(i)];
      const HoldPlace place = place_of(g, joint, kind);
      JointRow& row = out.add_row(std::array{place.J.A, place.J.B});
      row.law = JointLaw::hold;
      row.error = place.error;
      if (slot_A < 0 && joint.body_A >= 0)
        row.drift += place.J.A.dot(fixed_twist(in.model, in.state, h, joint.body_A));
      if (slot_B < 0) row.drift += place.J.B.dot(fixed_twist(in.model, in.state, h, joint.body_B));
      group.does_work |= row.drift != 0.0 || compliance_of(joint, kind.error) > 0.0;
      sum += inverse_mass_of(in.mass, slot_A, place.J.A) + inverse_mass_of(in.mass, slot_B, place.J.B);
    }
    for (int i = begin; i < end; ++i) {
      const HoldOf::Error error = list.rows[at(i)].error;
      JointRow& row = out.rows[at(group.begin + i)];
      row.inverse_mass = sum / (end - begin);
      row.target = -row.error / (h + tau);
      row.resistance = compliance_of(joint, error) / (h * (h + tau)) +
                       near_rigid_of(joint, error, in.settings.law) * row.inverse_mass;
    }
    begin = end;
  }
}

void hold_rows_vjp(const RowInputs& in, const JointRows& rows, const JointGroup& group,
                   const JointRowBars& bars, const JointRowsGradient& gradient) {
  const Joint& joint = in.model.joints[at(group.joint)];
  JointTangent& joint_bar = gradient.joints[at(group.joint)];
  const HoldList list = holds_of(joint.kind);
  const JointPlace g(in.model, group.joint, in.state);
  const double h = in.settings.law.h, tau = dissipation_time_of(joint, in.settings);
  const int slot_A = rows.slots_of(group)[0], slot_B = rows.slots_of(group)[1];
  JointPlaceBar place_bar;
  for (int begin = 0; begin < list.count;) {
    const int end = block_end(list, begin);
    double resistance_bar = 0.0;
    for (int i = begin; i < end; ++i) resistance_bar += bars.rows[at(group.begin + i)].resistance;
    // By w of each row, all of which share their mean.
    const double w_bar =
        resistance_bar * near_rigid_of(joint, list.rows[at(begin)].error, in.settings.law) / (end - begin);
    for (int i = begin; i < end; ++i) {
      const HoldOf& kind = list.rows[at(i)];
      const int r = group.begin + i;
      const JointRow& row = rows.rows[at(r)];
      const JointRowBar& bar = bars.rows[at(r)];
      RowDirections J_bar{bars.directions[JointRows::place_of(group, r, 0)],
                          bars.directions[JointRows::place_of(group, r, 1)]};
      const auto by = smooth_coulomb::normal_resistance_derivatives(compliance_of(joint, kind.error), tau,
                                                                    in.settings.law);
      const double error_bar = -bar.target / (h + tau);
      joint_bar.dissipation_time +=
          bar.target * row.error / ((h + tau) * (h + tau)) + bar.resistance * by.d_dissipation_time;
      (kind.error == HoldOf::Error::turn ? joint_bar.angular_compliance : joint_bar.compliance) +=
          bar.resistance * by.d_compliance;
      // The inverse mass, and the drift.
      const auto add_body = [&](int slot, int body, const Vec6<double>& J, Vec6<double>& bar_of_J) {
        if (slot >= 0) {
          inverse_mass_vjp(in.mass, slot, J, w_bar, bar_of_J, gradient.mass, gradient.inertia_W);
        } else if (body >= 0) {
          bar_of_J += bar.drift * fixed_twist(in.model, in.state, h, body);
          gradient.fixed_twist[at(body)] += bar.drift * J;
        }
      };
      add_body(slot_A, joint.body_A, rows.direction(group, r, 0), J_bar.A);
      add_body(slot_B, joint.body_B, rows.direction(group, r, 1), J_bar.B);
      place_vjp(g, joint, kind, J_bar, error_bar, place_bar, joint_bar);
    }
    begin = end;
  }
  joint_place_vjp(g, joint, place_bar, joint_bar, gradient.pose);
}

}  // namespace

void make_joint_rows(const Model& model, const MassMatrix& mass, const State& state,
                     const JointSettings& settings, JointRows& rows, const FreeMotion* free,
                     RowScratch* memory) {
  rows.clear();
  rows.stop_smoothing = settings.law.velocity_smoothing;
  RowScratch own;
  RowScratch& scratch = memory == nullptr ? own : *memory;
  scratch.composites.clear();
  const RowInputs in{model, mass, state, settings, scratch, free};
  int motors = 0;
  const auto motor_of = [&](const CoordinateForces& forces) {
    return forces.motor.kind == MotorKind::none ? -1 : motors++;
  };
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const int joint = static_cast<int>(j);
    if (!in.holds(joint)) add_hold_rows(in, joint, rows);
    if (has_coordinate(model.joints[j].kind))
      add_coordinate_rows(in, joint, -1, motor_of(model.joints[j]), rows);
  }
  for (std::size_t c = 0; c < model.couplings.size(); ++c)
    add_coordinate_rows(in, -1, static_cast<int>(c), motor_of(model.couplings[c]), rows);
}

void joint_rows_vjp(const Model& model, const MassMatrix& mass, const State& state,
                    const JointSettings& settings, const JointRows& rows, const JointRowBars& bars,
                    const JointRowsGradient& gradient, const FreeMotion* free) {
  RowScratch scratch;
  const RowInputs in{model, mass, state, settings, scratch, free};
  for (const JointGroup& group : rows.groups) {
    if (group.is_coordinate) {
      coordinate_rows_vjp(in, rows, group, bars, gradient);
    } else {
      hold_rows_vjp(in, rows, group, bars, gradient);
    }
  }
  if (scratch.composites.is_reset())
    scratch.composites.finish_vjp(gradient.mass, gradient.inertia_W, gradient.pose);
}

}  // namespace abut
