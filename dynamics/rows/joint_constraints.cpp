#include "dynamics/rows/joint_constraints.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "dynamics/motion/fixed_motion.h"
#include "dynamics/rows/coordinate_scales.h"
#include "dynamics/rows/joint_drives.h"
#include "engine/joint_geometry.h"
#include "engine/lie.h"

namespace abut {
namespace {

// Geometry: errors and their Jacobians by the twists -------------------------------------------------------

/// A joint at a state: frames in W, and arms from both centres of mass to the origin of JB.
struct Geometry {
  JointFrames frames;
  JointPose<double> pose;
  Mat3<double> R_JA;      ///< R_WJA
  Vec3<double> d;         ///< p_JB - p_JA [m]
  Vec3<double> r_A, r_B;  ///< [m]
  double turns;           ///< of a hinge, beyond the angle of its pose [rad]

  Geometry(const Model& model, int j, const State& state)
      : frames(joint_frames(model.joints[at(j)], state)),
        pose(frames.X_WJA, frames.X_WJB),
        R_JA(frames.X_WJA.rotation()),
        d(frames.X_WJB.p - frames.X_WJA.p),
        r_A(frames.X_WJB.p - frames.X_WA.p),
        r_B(frames.X_WJB.p - frames.X_WB.p),
        turns(turns_beyond(state, j, pose.angle())) {}

  [[nodiscard]] Vec3<double> axis(int i) const { return R_JA.col(i); }

  /// d(rotation_error()_i) = a_i . (dtheta_B - dtheta_A),   a_i = R_JA (q_w e_i + q_v x e_i), from
  /// dq = 1/2 (0, R_JA^T (dtheta_B - dtheta_A)) q.
  [[nodiscard]] Vec3<double> turn_direction(int i) const {
    const Vec3<double> e = Vec3<double>::Unit(i), q_v = pose.q.vec();
    return R_JA * (pose.q.w() * e + q_v.cross(e));
  }
};

/// dL/d of a Geometry: by tangents of the frames in W and by the centres of mass.
struct GeometryBar {
  Vec3<double> theta_JA = Vec3<double>::Zero(), p_JA = Vec3<double>::Zero();
  Vec3<double> theta_JB = Vec3<double>::Zero(), p_JB = Vec3<double>::Zero();
  Vec3<double> p_A = Vec3<double>::Zero(), p_B = Vec3<double>::Zero();
};

/// Row of a velocity along t of JB's origin relative to what is fixed in JA.
void set_point_row(const Geometry& g, const Vec3<double>& t, JointRow& row) {
  row.J_B = stack<double>(g.r_B.cross(t), t);
  row.J_A = -stack<double>(g.r_A.cross(t), t);
}

/// The way back to the arms; returns dL/dt.
Vec3<double> point_row_vjp(const Geometry& g, const Vec3<double>& t, const JointRowBar& bar,
                           GeometryBar& out) {
  const Vec3<double> w_A = bar.J_A.head<3>(), w_B = bar.J_B.head<3>();
  const Vec3<double> r_A_bar = -t.cross(w_A), r_B_bar = t.cross(w_B);
  out.p_JB += r_A_bar + r_B_bar;
  out.p_A -= r_A_bar;
  out.p_B -= r_B_bar;
  return bar.J_B.tail<3>() - bar.J_A.tail<3>() + w_B.cross(g.r_B) - w_A.cross(g.r_A);
}

/// e = t . d with t = axis i of JA.
void axis_row_vjp(const Geometry& g, int i, const JointRowBar& bar, double error_bar, GeometryBar& out) {
  const Vec3<double> t = g.axis(i);
  const Vec3<double> t_bar = point_row_vjp(g, t, bar, out) + error_bar * g.d;
  out.theta_JA += t.cross(t_bar);
  out.p_JB += error_bar * t;
  out.p_JA -= error_bar * t;
}

/// e = rho - length with rho = |d| and t = d/rho.
void distance_row_vjp(const Geometry& g, double rho, const JointRowBar& bar, double error_bar,
                      GeometryBar& out) {
  const Vec3<double> t = g.d / rho, t_bar = point_row_vjp(g, t, bar, out);
  const Vec3<double> d_bar = (t_bar - t * t.dot(t_bar)) / rho + error_bar * t;
  out.p_JB += d_bar;
  out.p_JA -= d_bar;
}

void set_turn_row(const Vec3<double>& a, JointRow& row) {
  row.J_B = stack<double>(a, Vec3<double>::Zero());
  row.J_A = -row.J_B;
}

/// e = rotation_error()_i.
void turn_row_vjp(const Geometry& g, int i, const JointRowBar& bar, double error_bar, GeometryBar& out) {
  const Vec3<double> a = g.turn_direction(i);
  const Vec3<double> a_bar = bar.J_B.head<3>() - bar.J_A.head<3>();
  // a = R_JA a_J, da_J = dq_w e + dq_v x e, dq = 1/2 (-w.q_v, q_w w + w x q_v), w = R_JA^T (dtheta_B -
  // dtheta_A)
  const Vec3<double> a_J_bar = g.R_JA.transpose() * a_bar, q_v = g.pose.q.vec();
  const Vec3<double> q_v_bar = Vec3<double>::Unit(i).cross(a_J_bar);
  const Vec3<double> w_bar = 0.5 * (g.pose.q.w() * q_v_bar + q_v.cross(q_v_bar) - a_J_bar[i] * q_v);
  const Vec3<double> relative_bar = g.R_JA * w_bar + error_bar * a;
  out.theta_JA += a.cross(a_bar) - relative_bar;
  out.theta_JB += relative_bar;
}

/// e = angle(), J its direction z of JA: that of its rate once the axes agree.
void hinge_row_vjp(const Geometry& g, const JointRowBar& bar, double error_bar, GeometryBar& out) {
  const Vec3<double> z = g.axis(2), z_bar = bar.J_B.head<3>() - bar.J_A.head<3>();
  const Vec3<double> relative_bar = error_bar * (g.R_JA * g.pose.angle_gradient());
  out.theta_JA += z.cross(z_bar) - relative_bar;
  out.theta_JB += relative_bar;
}

// Rows of a joint ------------------------------------------------------------------------------------------

/// What a row of a joint is: the same list, in the same order, forwards and backwards.
struct RowOf {
  enum class Error { axis, distance, turn, coordinate } error;
  int axis = 0;
  JointLaw law = JointLaw::hold;
  double sign = 1.0;  ///< of the coordinate: +1 away from `lower`, -1 away from `upper`
  Drive drive = Drive::motor;
};

/// Whether a row may add energy to the bodies: those of motors, armature and springs. Not for rows that hold.
bool does_work(const RowOf& row) {
  return row.law == JointLaw::load ||
         (row.law == JointLaw::motor && (row.drive == Drive::motor || row.drive == Drive::armature));
}

struct RowList {
  std::array<RowOf, 12> rows;
  int count = 0;
  void add(const RowOf& row) { rows[at(count++)] = row; }
};

/// @param is_link  held by a tree
RowList rows_of(const Joint& joint, bool is_link) {
  using Error = RowOf::Error;
  RowList list;
  const auto add_axes = [&](Error error, int n) {
    for (int i = 0; i < n && !is_link; ++i) list.add({error, i});
  };
  switch (joint.kind) {
    case JointKind::fixed:
      add_axes(Error::axis, 3);
      add_axes(Error::turn, 3);
      break;
    case JointKind::ball:
      add_axes(Error::axis, 3);
      break;
    case JointKind::hinge:
      add_axes(Error::axis, 3);
      add_axes(Error::turn, 2);
      break;
    case JointKind::slider:
      add_axes(Error::axis, 2);
      add_axes(Error::turn, 3);
      break;
    case JointKind::distance:
      list.add({Error::distance});
      break;
  }
  if (!has_coordinate(joint.kind)) return list;
  const auto add_drive = [&](Drive drive) { list.add({Error::coordinate, 2, JointLaw::motor, 1.0, drive}); };
  const auto add_load = [&](Drive drive) { list.add({Error::coordinate, 2, JointLaw::load, 1.0, drive}); };
  if (joint.motor.kind == MotorKind::force) {
    if (!is_link) add_load(Drive::motor);  // a load of the tree
  } else if (joint.motor.kind != MotorKind::none) {
    add_drive(Drive::motor);
  }
  if (joint.damping > 0.0) add_drive(Drive::damping);
  if (joint.friction > 0.0) add_drive(Drive::friction);
  if (joint.armature > 0.0) add_drive(Drive::armature);
  if (joint.spring_stiffness > 0.0) add_load(Drive::spring);
  if (std::isfinite(joint.lower)) list.add({Error::coordinate, 2, JointLaw::stop, 1.0});
  if (std::isfinite(joint.upper)) list.add({Error::coordinate, 2, JointLaw::stop, -1.0});
  return list;
}

double dissipation_time_of(const Joint& joint, const JointSettings& settings) {
  return joint.dissipation_time < 0.0 ? settings.default_dissipation_time : joint.dissipation_time;
}

double compliance_of(const Joint& joint, RowOf::Error error) {
  return 1.0 / (error == RowOf::Error::turn ? joint.angular_stiffness : joint.stiffness);
}

/// Number of rows whose inverse masses are averaged: those of the same kind in a row.
int block_end(const RowList& list, int begin) {
  const RowOf& first = list.rows[at(begin)];
  int end = begin + 1;
  if (first.law != JointLaw::hold) return end;
  while (end < list.count && list.rows[at(end)].error == first.error &&
         list.rows[at(end)].law == JointLaw::hold)
    ++end;
  return end;
}

double inverse_mass_of(const MassMatrix& mass, int slot, const Vec6<double>& J) {
  if (slot < 0) return 0.0;
  return J.head<3>().dot(mass.inverse_inertia_W(slot) * J.head<3>()) +
         J.tail<3>().squaredNorm() / mass.mass(slot);
}

/// How much more the inverse mass of a row of a tree's coordinate is than the coordinate's: rows of stops count a way.
double scale_of_inverse_mass(JointLaw law, double radius) {
  return law == JointLaw::stop ? radius * radius : 1.0;
}

/// Whether a row gives way by a stiffness or damping of its own, not by the near-rigid compliance alone.
bool is_soft(const Joint& joint, const RowOf& row, bool is_link) {
  switch (row.law) {
    case JointLaw::hold:
      return compliance_of(joint, row.error) > 0.0;
    case JointLaw::motor:
      return row.drive != Drive::motor || (is_link && std::isfinite(joint.motor.damping));
    case JointLaw::stop:
    case JointLaw::load:
      break;
  }
  return false;
}

/// c of a row: next to nothing where something else gives, so that R > 0 however stiff that is.
double near_rigid_of(const Joint& joint, const RowOf& row, bool is_link,
                     const smooth_coulomb::Settings& settings) {
  if (row.drive == Drive::armature) return 0.0;
  constexpr double k_next_to_nothing = 1e-6;
  return (is_soft(joint, row, is_link) ? k_next_to_nothing : 1.0) * settings.near_rigid;
}

/// Velocity that armature keeps, of a moving body: of a tree's joint v_free, as free motion has armature in it, else that
/// before. Where half of what torques do follows the contact problem (free_motion.h), w before lags by as much.
Vec6<double> velocity_before(const JointGroup& group, const FreeMotion& free, int slot) {
  const Vec6<double> V = free.v_start.segment<6>(6 * slot), V_free = free.v_free.segment<6>(6 * slot);
  if (group.is_link) return V_free;
  if (free.moves_with_tree(slot)) return V;
  return stack<double>(2.0 * V.head<3>() - V_free.head<3>(), V.tail<3>());
}

double command_of(const JointGroup& group, const JointSettings& settings) {
  return group.motor < 0 || settings.commands.empty() ? 0.0 : settings.commands[at(group.motor)];
}

/// @param free  null: nothing moves before
DriveInputs drive_inputs(const JointGroup& group, const JointRow& row, double radius,
                         const JointSettings& settings, const FreeMotion* free) {
  DriveInputs inputs{settings.substep, command_of(group, settings), settings.law.stiction_speed / radius,
                     0.0};
  if (free == nullptr) return inputs;
  inputs.rate_before = row.drift;
  if (group.slot_A >= 0) inputs.rate_before += row.J_A.dot(velocity_before(group, *free, group.slot_A));
  if (group.slot_B >= 0) inputs.rate_before += row.J_B.dot(velocity_before(group, *free, group.slot_B));
  return inputs;
}

/// VJP of DriveInputs::rate_before.
void rate_before_vjp(const JointGroup& group, const JointRow& row, const FreeMotion& free, double rate_bar,
                     JointRowBar& bar, const JointRowsGradient& gradient) {
  const auto add = [&](int slot, const Vec6<double>& J, Vec6<double>& J_bar) {
    if (slot < 0) return;
    J_bar += rate_bar * velocity_before(group, free, slot);
    const Vec6<double> V_bar = rate_bar * J;
    if (group.is_link) {
      gradient.v_free->segment<6>(6 * slot) += V_bar;
      return;
    }
    gradient.v_start->segment<6>(6 * slot) += V_bar;
    if (free.moves_with_tree(slot)) return;
    gradient.v_start->segment<3>(6 * slot) += V_bar.head<3>();
    gradient.v_free->segment<3>(6 * slot) -= V_bar.head<3>();
  };
  add(group.slot_A, row.J_A, bar.J_A);
  add(group.slot_B, row.J_B, bar.J_B);
  bar.drift += rate_bar;
}

/// d: how many springs of coordinates act on a body and what is fixed to it.
int spring_count(const Model& model, const MassMatrix& mass, int body) {
  if (body < 0) return 1;
  int count = 0;
  mass.each_fixed_together(body, [&](int slot) {
    const int other = mass.body(slot);
    count +=
        static_cast<int>(std::count_if(model.joints.begin(), model.joints.end(), [other](const Joint& joint) {
          return joint.spring_stiffness > 0.0 && (joint.body_A == other || joint.body_B == other);
        }));
  });
  return count;
}

CoordinateInertia inertia_of(const Model& model, const MassMatrix& mass, const State& state,
                             const Joint& joint, const Geometry& g, const RowOf& kind) {
  const bool is_spring = kind.drive == Drive::spring;
  const auto d = [&](int body) { return is_spring ? spring_count(model, mass, body) : 1; };
  return {mass,
          state,
          joint,
          g.axis(2),
          g.frames.X_WJB.p,
          static_cast<double>(d(joint.body_A)),
          static_cast<double>(d(joint.body_B))};
}

/// @param command  of the joint's motor
void set_geometry(const Geometry& g, const Joint& joint, const RowOf& kind, double radius, double command,
                  JointRow& row) {
  switch (kind.error) {
    case RowOf::Error::axis:
      set_point_row(g, g.axis(kind.axis), row);
      row.error = g.pose.d[kind.axis];
      return;
    case RowOf::Error::distance: {
      const double rho = g.pose.distance(joint.length);
      set_point_row(g, g.d / rho, row);
      row.error = rho - joint.length;
      return;
    }
    case RowOf::Error::turn:
      set_turn_row(g.turn_direction(kind.axis), row);
      row.error = g.pose.rotation_error()[kind.axis];
      return;
    case RowOf::Error::coordinate:
      break;
  }
  double coordinate;
  if (joint.kind == JointKind::slider) {
    set_point_row(g, g.axis(2), row);
    coordinate = g.pose.d.z();
  } else {
    set_turn_row(g.axis(2), row);
    coordinate = g.pose.angle() + g.turns;
  }
  if (kind.law != JointLaw::stop) {
    row.error =
        coordinate - (kind.drive == Drive::spring ? joint.spring_position : joint.motor.target + command);
    return;
  }
  const double scale = kind.sign * radius;
  row.J_A *= scale;
  row.J_B *= scale;
  row.error = scale * (coordinate - (kind.sign > 0.0 ? joint.lower : joint.upper));
}

void set_law(const Joint& joint, const JointGroup& group, const RowOf& kind, double radius,
             const JointSettings& settings, const FreeMotion* free, JointRow& row) {
  const double h = settings.law.h, tau = dissipation_time_of(joint, settings),
               near_rigid = near_rigid_of(joint, kind, group.is_link, settings.law) * row.inverse_mass;
  switch (kind.law) {
    case JointLaw::hold:
      row.target = -row.error / (h + tau);
      row.resistance = compliance_of(joint, kind.error) / (h * (h + tau)) + near_rigid;
      break;
    case JointLaw::motor: {
      const Motor motor = motor_of(joint, kind.drive, drive_inputs(group, row, radius, settings, free));
      const MotorLaw m = motor_law(motor, row.error, near_rigid, settings.substep);
      row.target = m.target;
      row.resistance = m.resistance;
      row.limit = m.limit;
      break;
    }
    case JointLaw::load:
      row.target =
          kind.drive == Drive::spring
              ? spring_law(joint.spring_stiffness, row.error, row.inverse_mass, settings.substep).impulse
              : settings.substep *
                    force_law(motor_of(joint, kind.drive, drive_inputs(group, row, radius, settings, free)))
                        .force;
      row.resistance = 1.0;
      break;
    case JointLaw::stop:
      row.target = smooth_coulomb::normal_target(row.error, row.inverse_mass, 0.0, tau, settings.law).value;
      row.resistance = smooth_coulomb::normal_resistance(row.inverse_mass, 0.0, tau, settings.law);
      break;
  }
}

}  // namespace

// From the model and back ----------------------------------------------------------------------------------

void make_joint_rows(const Model& model, const MassMatrix& mass, const State& state,
                     const JointSettings& settings, JointRows& out, std::span<const char> is_link,
                     const FreeMotion* free) {
  out.clear();
  out.stop_smoothing = settings.law.velocity_smoothing;
  int motors = 0;
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    JointGroup group;
    if (joint.motor.kind != MotorKind::none) group.motor = motors++;
    group.is_link = !is_link.empty() && is_link[j] != 0;
    const RowList list = rows_of(joint, group.is_link);
    if (list.count == 0) continue;
    const Geometry g(model, static_cast<int>(j), state);
    const double radius = CoordinateRadius(model, joint).value;
    group.joint = static_cast<int>(j);
    group.slot_A = joint.body_A < 0 ? -1 : mass.slot(joint.body_A);
    group.slot_B = mass.slot(joint.body_B);
    group.begin = static_cast<int>(out.rows.size());
    group.end = group.begin + list.count;
    for (int begin = 0; begin < list.count;) {
      const int end = block_end(list, begin);
      double sum = 0.0;
      for (int i = begin; i < end; ++i) {
        const RowOf& kind = list.rows[at(i)];
        JointRow& row = out.rows.emplace_back();
        row.law = kind.law;
        set_geometry(g, joint, kind, radius, command_of(group, settings), row);
        if (group.slot_A < 0 && joint.body_A >= 0)
          row.drift += row.J_A.dot(fixed_twist(model, state, settings.law.h, joint.body_A));
        if (group.slot_B < 0)
          row.drift += row.J_B.dot(fixed_twist(model, state, settings.law.h, joint.body_B));
        group.does_work |= does_work(kind) || row.drift != 0.0 ||
                           (kind.law == JointLaw::hold && compliance_of(joint, kind.error) > 0.0);
        if (group.is_link) {
          sum += inertia_of(model, mass, state, joint, g, kind).inverse() *
                 scale_of_inverse_mass(kind.law, radius);
        } else if (kind.drive == Drive::spring) {
          sum += spring_count(model, mass, joint.body_A) * inverse_mass_of(mass, group.slot_A, row.J_A) +
                 spring_count(model, mass, joint.body_B) * inverse_mass_of(mass, group.slot_B, row.J_B);
        } else {
          sum += inverse_mass_of(mass, group.slot_A, row.J_A) + inverse_mass_of(mass, group.slot_B, row.J_B);
        }
      }
      for (int i = begin; i < end; ++i) {
        JointRow& row = out.rows[at(group.begin + i)];
        row.inverse_mass = sum / (end - begin);
        set_law(joint, group, list.rows[at(i)], radius, settings, free, row);
      }
      begin = end;
    }
    out.groups.push_back(group);
  }
}

void joint_rows_vjp(const Model& model, const MassMatrix& mass, const State& state,
                    const JointSettings& settings, const JointRows& rows, std::span<const JointRowBar> bars,
                    const JointRowsGradient& gradient, const FreeMotion* free) {
  const double h = settings.law.h;
  const auto add_command = [&](const JointGroup& group, double bar) {
    if (!gradient.commands.empty()) gradient.commands[at(group.motor)] += bar;
  };
  for (const JointGroup& group : rows.groups) {
    const Joint& joint = model.joints[at(group.joint)];
    JointGradient& joint_bar = gradient.joints[at(group.joint)];
    const Geometry g(model, group.joint, state);
    const RowList list = rows_of(joint, group.is_link);
    const CoordinateRadius of_radius(model, joint);
    const double radius = of_radius.value, tau = dissipation_time_of(joint, settings);
    double radius_bar = 0.0;
    GeometryBar geometry_bar;
    for (int begin = 0; begin < list.count;) {
      const int end = block_end(list, begin);
      double resistance_bar = 0.0;
      for (int i = begin; i < end; ++i) resistance_bar += bars[at(group.begin + i)].resistance;
      // By w of each row, all of which share their mean.
      const double near_rigid = near_rigid_of(joint, list.rows[at(begin)], group.is_link, settings.law);
      double w_bar = resistance_bar * near_rigid / (end - begin);
      for (int i = begin; i < end; ++i) {
        const RowOf& kind = list.rows[at(i)];
        const JointRow& row = rows.rows[at(group.begin + i)];
        JointRowBar bar = bars[at(group.begin + i)];

        // The law.
        double error_bar = 0.0;
        switch (kind.law) {
          case JointLaw::hold: {
            const auto by = smooth_coulomb::normal_resistance_derivatives(compliance_of(joint, kind.error),
                                                                          tau, settings.law);
            error_bar = -bar.target / (h + tau);
            joint_bar.dissipation_time +=
                bar.target * row.error / ((h + tau) * (h + tau)) + bar.resistance * by.d_dissipation_time;
            (kind.error == RowOf::Error::turn ? joint_bar.angular_compliance : joint_bar.compliance) +=
                bar.resistance * by.d_compliance;
            break;
          }
          case JointLaw::motor: {
            const DriveInputs inputs = drive_inputs(group, row, radius, settings, free);
            const MotorLaw m = motor_law(motor_of(joint, kind.drive, inputs), row.error,
                                         near_rigid * row.inverse_mass, inputs.h);
            error_bar = bar.target * m.target_by_error;
            const MotorTangent motor_bar{
                bar.target * m.target_by_target,
                bar.target * m.target_by_stiffness + bar.resistance * m.resistance_by_stiffness,
                bar.target * m.target_by_damping + bar.resistance * m.resistance_by_damping,
                inputs.h * bar.limit};
            const DriveInputsBar inputs_bar = motor_of_vjp(kind.drive, inputs, motor_bar, joint_bar);
            add_command(group, inputs_bar.command);
            if (kind.drive == Drive::friction)
              radius_bar += motor_bar.damping * joint.friction / settings.law.stiction_speed;
            if (free != nullptr && kind.drive == Drive::armature)
              rate_before_vjp(group, row, *free, inputs_bar.rate_before, bar, gradient);
            break;
          }
          case JointLaw::load: {
            if (kind.drive == Drive::motor) {
              const DriveInputs inputs = drive_inputs(group, row, radius, settings, free);
              const ForceLaw force = force_law(motor_of(joint, kind.drive, inputs));
              const double force_bar = inputs.h * bar.target;
              const MotorTangent motor_bar{force_bar * force.by_target, 0.0, 0.0, force_bar * force.by_limit};
              add_command(group, motor_of_vjp(kind.drive, inputs, motor_bar, joint_bar).command);
              break;
            }
            const SpringLaw spring =
                spring_law(joint.spring_stiffness, row.error, row.inverse_mass, settings.substep);
            error_bar = bar.target * spring.by_error;
            joint_bar.spring_position -= error_bar;
            joint_bar.spring_stiffness += bar.target * spring.by_stiffness;
            w_bar = bar.target * spring.by_inverse_mass;
            break;
          }
          case JointLaw::stop: {
            const auto target =
                smooth_coulomb::normal_target(row.error, row.inverse_mass, 0.0, tau, settings.law);
            error_bar = bar.target * target.d_distance;
            joint_bar.dissipation_time += bar.target * target.d_dissipation_time;
            break;
          }
        }

        // The inverse mass, and the drift.
        const auto add_body = [&](int slot, int body, const Vec6<double>& J, Vec6<double>& J_bar) {
          if (slot >= 0 && !group.is_link) {
            const Vec3<double> y = mass.inverse_inertia_W(slot) * J.head<3>(), f = J.tail<3>();
            const double m = mass.mass(slot),
                         by_w = (kind.drive == Drive::spring ? spring_count(model, mass, body) : 1) * w_bar;
            J_bar += 2.0 * by_w * stack<double>(y, f / m);
            gradient.mass[at(slot)] -= by_w * f.squaredNorm() / (m * m);
            gradient.inertia_W[at(slot)] -= by_w * y * y.transpose();
          } else if (slot < 0 && body >= 0) {
            J_bar += bar.drift * fixed_twist(model, state, h, body);
            gradient.fixed_twist[at(body)] += bar.drift * J;
          }
        };
        add_body(group.slot_A, joint.body_A, row.J_A, bar.J_A);
        add_body(group.slot_B, joint.body_B, row.J_B, bar.J_B);
        if (group.is_link && w_bar != 0.0) {
          const CoordinateInertia inertia = inertia_of(model, mass, state, joint, g, kind);
          const CoordinateInertia::Bar by = inertia.vjp(w_bar * scale_of_inverse_mass(kind.law, radius),
                                                        gradient.mass, gradient.inertia_W, gradient.pose);
          geometry_bar.theta_JA += g.axis(2).cross(by.axis);
          geometry_bar.p_JB += by.o;
          if (kind.law == JointLaw::stop) radius_bar += 2.0 * radius * w_bar * inertia.inverse();
        }

        // The geometry.
        switch (kind.error) {
          case RowOf::Error::axis:
            axis_row_vjp(g, kind.axis, bar, error_bar, geometry_bar);
            break;
          case RowOf::Error::distance: {
            // |d| is rounded off relative to the length; see JointPose::distance().
            const double rho = g.pose.distance(joint.length);
            distance_row_vjp(g, rho, bar, error_bar, geometry_bar);
            joint_bar.length -= error_bar;
            break;
          }
          case RowOf::Error::turn:
            turn_row_vjp(g, kind.axis, bar, error_bar, geometry_bar);
            break;
          case RowOf::Error::coordinate: {
            if (kind.law == JointLaw::stop) {
              const double scale = kind.sign * radius;
              radius_bar += (bar.J_A.dot(row.J_A) + bar.J_B.dot(row.J_B) + error_bar * row.error) / radius;
              bar.J_A *= scale;
              bar.J_B *= scale;
              error_bar *= scale;
              (kind.sign > 0.0 ? joint_bar.lower : joint_bar.upper) -= error_bar;
            }
            if (joint.kind == JointKind::slider) {
              axis_row_vjp(g, 2, bar, error_bar, geometry_bar);
            } else {
              hinge_row_vjp(g, bar, error_bar, geometry_bar);
            }
            break;
          }
        }
      }
      begin = end;
    }

    const auto A = compose_vjp<double>(g.frames.X_WA, joint.X_AJ,
                                       stack<double>(geometry_bar.theta_JA, geometry_bar.p_JA));
    const auto B = compose_vjp<double>(g.frames.X_WB, joint.X_BJ,
                                       stack<double>(geometry_bar.theta_JB, geometry_bar.p_JB));
    joint_bar.X_AJ += A.X_BC;
    joint_bar.X_BJ += B.X_BC;
    joint_bar.X_AJ.tail<3>() += radius_bar * of_radius.by_p_A;
    joint_bar.X_BJ.tail<3>() += radius_bar * of_radius.by_p_B;
    if (joint.body_A >= 0) {
      gradient.pose[at(joint.body_A)] += A.X_WB;
      gradient.pose[at(joint.body_A)].tail<3>() += geometry_bar.p_A;
    }
    gradient.pose[at(joint.body_B)] += B.X_WB;
    gradient.pose[at(joint.body_B)].tail<3>() += geometry_bar.p_B;
  }
}

}  // namespace abut
