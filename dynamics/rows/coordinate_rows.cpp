#include "dynamics/rows/coordinate_rows.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "dynamics/motion/fixed_motion.h"
#include "dynamics/rows/joint_drives.h"

namespace abut {
namespace {

/// What a row of a coordinate is: the same list, in the same order, forwards and backwards.
struct RowOf {
  JointLaw law = JointLaw::motor;
  Drive drive = Drive::motor;
  double sign = 1.0;  ///< of a stop: +1 away from `lower`, -1 away from `upper`
};

struct RowList {
  std::array<RowOf, 8> rows;
  int count = 0;
  void add(const RowOf& row) { rows[at(count++)] = row; }
};

using Part = CoordinatePart;

/// The coordinate of a joint or coupling at a state.
class Coordinate {
 public:
  Coordinate(const RowInputs& in, int joint, int coupling)
      : in_(in), joint_(joint), coupling_(coupling), parts_(in.scratch.parts) {}

  /// Finds where its joints are, which all below needs but for rows().
  void place() {
    parts_.clear();
    if (!is_coupling()) {
      value_ = add_part(joint_).value;
      radius_ = parts_.front().radius;
      return;
    }
    const Coupling& of = this->coupling();
    gear_ = gear_of(in_.model, of);
    double inverse_square = 0.0;
    for (const CouplingTerm& term : of.terms) {
      Part& part = add_part(term.joint);
      const CouplingTerm::Value f = term.at(part.value);
      part.slope = gear_ * f.slope;
      part.curvature = gear_ * f.curvature;
      value_ += gear_ * f.value;
      const double ratio = gear_ * term.coefficients.front() / parts_.back().radius;
      inverse_square += ratio * ratio;
    }
    if (inverse_square > 0.0) radius_ = 1.0 / std::sqrt(inverse_square);
  }

  [[nodiscard]] double value() const { return value_; }
  [[nodiscard]] double radius() const { return radius_; }
  [[nodiscard]] double gear() const { return gear_; }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] bool is_coupling() const { return coupling_ >= 0; }
  [[nodiscard]] const Coupling& coupling() const { return in_.model.couplings[at(coupling_)]; }
  [[nodiscard]] const Joint& joint_of(const Part& part) const { return in_.model.joints[at(part.joint)]; }
  [[nodiscard]] const CoordinateForces& forces() const {
    if (is_coupling()) return coupling();
    return in_.model.joints[at(joint_)];
  }
  [[nodiscard]] double armature() const {
    return is_coupling() ? 0.0 : in_.model.joints[at(joint_)].armature;
  }
  [[nodiscard]] double dissipation_time() const {
    const double own =
        is_coupling() ? coupling().dissipation_time : in_.model.joints[at(joint_)].dissipation_time;
    return own < 0.0 ? in_.settings.default_dissipation_time : own;
  }
  /// Whether trees hold all its joints.
  [[nodiscard]] bool is_link() const {
    if (!is_coupling()) return in_.holds(joint_);
    const std::vector<CouplingTerm>& terms = coupling().terms;
    return std::all_of(terms.begin(), terms.end(),
                       [&](const CouplingTerm& term) { return in_.holds(term.joint); });
  }

  [[nodiscard]] RowList rows() const {
    RowList list;
    const CoordinateForces& of = forces();
    if (is_coupling() && coupling().is_held()) list.add({JointLaw::hold});
    if (of.motor.kind != MotorKind::none) {
      if (!is_force(of.motor))
        list.add({JointLaw::motor, Drive::motor});
      else if (!is_load_of_trees())
        list.add({JointLaw::load, Drive::motor});
    }
    if (of.damping > 0.0) list.add({JointLaw::motor, Drive::damping});
    if (of.friction > 0.0) list.add({JointLaw::motor, Drive::friction});
    if (armature() > 0.0) list.add({JointLaw::motor, Drive::armature});
    if (of.spring_stiffness > 0.0) list.add({JointLaw::load, Drive::spring});
    if (std::isfinite(of.lower)) list.add({JointLaw::stop, Drive::motor, 1.0});
    if (std::isfinite(of.upper)) list.add({JointLaw::stop, Drive::motor, -1.0});
    return list;
  }

  /// dr/dr_i.
  [[nodiscard]] double radius_slope(std::size_t i) const {
    if (!is_coupling()) return 1.0;
    const double c = gear_ * coupling().terms[i].coefficients.front(), r_i = parts_[i].radius;
    return radius_ * radius_ * radius_ * c * c / (r_i * r_i * r_i);
  }

 private:
  Part& add_part(int joint) {
    const Joint& of = in_.model.joints[at(joint)];
    Part& part = parts_.emplace_back(
        Part{joint, JointPlace(in_.model, joint, in_.state), CoordinateRadius(in_.model, of).value});
    part.value =
        of.kind == JointKind::slider ? part.place.pose.d.z() : part.place.pose.angle() + part.place.turns;
    return part;
  }
  /// A force of the momentum balance of trees (step/tree_motion.h).
  [[nodiscard]] bool is_load_of_trees() const {
    return is_link() && (!is_coupling() || coupling().is_linear());
  }

  const RowInputs& in_;
  int joint_, coupling_;
  std::vector<Part>& parts_;
  double value_ = 0.0, radius_ = 1.0, gear_ = 1.0;
};

/// J_i of a joint's coordinate.
RowDirections directions_of(const Joint& joint, const JointPlace& place) {
  return joint.kind == JointKind::slider ? point_row(place, place.axis(2)) : turn_row(place.axis(2));
}

int slot_of(const MassMatrix& mass, int body) { return body < 0 ? -1 : mass.slot(body); }

/// d: how many springs of coordinates act on a body and what is fixed to it.
int spring_count(const Model& model, const MassMatrix& mass, int body) {
  if (body < 0) return 1;
  int count = 0;
  mass.each_fixed_together(body, [&](int slot) {
    const int other = mass.body(slot);
    const auto ties = [&](const Joint& joint) { return joint.body_A == other || joint.body_B == other; };
    for (const Joint& joint : model.joints) count += joint.spring_stiffness > 0.0 && ties(joint) ? 1 : 0;
    for (const Coupling& coupling : model.couplings) {
      for (const CouplingTerm& term : coupling.terms)
        count += coupling.spring_stiffness > 0.0 && ties(model.joints[at(term.joint)]) ? 1 : 0;
    }
  });
  return count;
}

/// How heavy a coordinate is. Of joints that trees hold, springs take a bound of what it may be whatever else moves, other
/// rows what it is where nothing else does: they are to hold however light what is between them and the load.
class InverseMass {
 public:
  InverseMass(const RowInputs& in, const Coordinate& of, bool is_of_springs)
      : in_(in), of_(of), is_of_springs_(is_of_springs) {}

  /// w. Springs of a coupling must not overshoot however its joints move together.
  [[nodiscard]] double value() const {
    double sum = 0.0;
    for (const Part& part : of_.parts()) sum += part.slope * part.slope * of_part(part);
    return factor() * sum;
  }
  [[nodiscard]] double factor() const {
    return is_of_springs_ ? static_cast<double>(of_.parts().size()) : 1.0;
  }
  /// w_i.
  [[nodiscard]] double of_part(const Part& part) const {
    const Joint& joint = of_.joint_of(part);
    if (in_.holds(part.joint)) {
      if (is_of_springs_) return bound_of(part).inverse();
      const Beyond beyond = beyond_of(part);
      return 1.0 / (joint.armature +
                    in_.composites().inertia(beyond.slot, slides(part), part.place.axis(2), beyond.arm));
    }
    const RowDirections J = directions_of(joint, part.place);
    return count(joint.body_A) * inverse_mass_of(in_.mass, slot_of(in_.mass, joint.body_A), J.A) +
           count(joint.body_B) * inverse_mass_of(in_.mass, slot_of(in_.mass, joint.body_B), J.B);
  }

  /// From dL/dw_i; `J_bar` and `place_bar` are added to.
  void part_vjp(const Part& part, double w_bar, const JointRowsGradient& gradient, RowDirections& J_bar,
                JointPlaceBar& place_bar) const {
    const Joint& joint = of_.joint_of(part);
    if (in_.holds(part.joint)) {
      if (is_of_springs_) {
        const CoordinateInertia::Bar by =
            bound_of(part).vjp(w_bar, gradient.mass, gradient.inertia_W, gradient.pose);
        place_bar.theta_JA += part.place.axis(2).cross(by.axis);
        place_bar.p_JB += by.o;
        return;
      }
      const Beyond beyond = beyond_of(part);
      const Vec3<double> axis = part.place.axis(2);
      const double w = of_part(part);
      gradient.joints[at(part.joint)].armature -= w_bar * w * w;
      const CompositeInertias::Bar by =
          in_.composites().vjp(beyond.slot, slides(part), axis, beyond.arm, -w_bar * w * w);
      place_bar.theta_JA += axis.cross(by.axis);
      place_bar.p_JB -= by.arm;
      (beyond.is_B ? place_bar.p_B : place_bar.p_A) += by.arm;
      return;
    }
    const RowDirections J = directions_of(joint, part.place);
    const auto add = [&](int body, const Vec6<double>& of_body, Vec6<double>& bar) {
      const int slot = slot_of(in_.mass, body);
      if (slot >= 0)
        inverse_mass_vjp(in_.mass, slot, of_body, count(body) * w_bar, bar, gradient.mass,
                         gradient.inertia_W);
    };
    add(joint.body_A, J.A, J_bar.A);
    add(joint.body_B, J.B, J_bar.B);
  }

 private:
  [[nodiscard]] bool slides(const Part& part) const { return of_.joint_of(part).kind == JointKind::slider; }
  [[nodiscard]] double count(int body) const {
    return is_of_springs_ ? spring_count(in_.model, in_.mass, body) : 1.0;
  }
  [[nodiscard]] CoordinateInertia bound_of(const Part& part) const {
    const Joint& joint = of_.joint_of(part);
    return {in_.mass,
            in_.state,
            joint,
            part.place.axis(2),
            part.place.frames.X_WJB.p,
            count(joint.body_A),
            count(joint.body_B)};
  }
  /// The body beyond a joint, and the way from the origin of JB to its centre of mass.
  struct Beyond {
    int slot;
    bool is_B;
    Vec3<double> arm;
  };
  [[nodiscard]] Beyond beyond_of(const Part& part) const {
    const Joint& joint = of_.joint_of(part);
    const int slot_A = slot_of(in_.mass, joint.body_A), slot_B = slot_of(in_.mass, joint.body_B);
    if (in_.composites().is_B_beyond(slot_A, slot_B)) return {slot_B, true, -part.place.r_B};
    return {slot_A, false, -part.place.r_A};
  }

  const RowInputs& in_;
  const Coordinate& of_;
  bool is_of_springs_;
};

/// c of a row: next to nothing where something else gives, so that R > 0 however stiff that is.
double near_rigid_of(const RowInputs& in, const Coordinate& of, const RowOf& row) {
  if (row.drive == Drive::armature) return 0.0;
  bool is_soft = false;
  if (row.law == JointLaw::hold) is_soft = std::isfinite(of.coupling().stiffness);
  if (row.law == JointLaw::motor)
    is_soft = row.drive != Drive::motor || (of.is_link() && std::isfinite(of.forces().motor.damping));
  constexpr double k_next_to_nothing = 1e-6;
  return (is_soft ? k_next_to_nothing : 1.0) * in.settings.law.near_rigid;
}

/// Whether a row may add energy to the bodies.
bool does_work(const Coordinate& of, const RowOf& row) {
  return row.law == JointLaw::load || (row.law == JointLaw::hold && std::isfinite(of.coupling().stiffness)) ||
         (row.law == JointLaw::motor && (row.drive == Drive::motor || row.drive == Drive::armature));
}

/// Velocity that armature keeps, of a moving body: of a tree's joint v_free, as free motion has armature in it, else that
/// before. Where half of what torques do follows the contact problem (free_motion.h), w before lags by as much.
Vec6<double> velocity_before(bool is_link, const FreeMotion& free, int slot) {
  const Vec6<double> V = free.v_start.segment<6>(6 * slot), V_free = free.v_free.segment<6>(6 * slot);
  if (is_link) return V_free;
  if (free.moves_with_tree(slot)) return V;
  return stack<double>(2.0 * V.head<3>() - V_free.head<3>(), V.tail<3>());
}

double command_of(const JointGroup& group, const JointSettings& settings) {
  return group.motor < 0 || settings.commands.empty() ? 0.0 : settings.commands[at(group.motor)];
}

DriveInputs drive_inputs(const RowInputs& in, const Coordinate& of, const JointRows& rows,
                         const JointGroup& group, int row, Drive drive) {
  DriveInputs inputs{in.settings.substep, command_of(group, in.settings),
                     in.settings.law.stiction_speed / of.radius(), 0.0};
  if (in.free == nullptr || drive != Drive::armature) return inputs;
  inputs.rate_before = rows.rows[at(row)].drift;
  const std::span<const int> slots = rows.slots_of(group);
  for (int k = 0; k < group.bodies; ++k) {
    if (slots[at(k)] < 0) continue;
    inputs.rate_before +=
        rows.direction(group, row, k).dot(velocity_before(group.is_link, *in.free, slots[at(k)]));
  }
  return inputs;
}

/// VJP of DriveInputs::rate_before; `J_bars` and `drift_bar` are added to.
void rate_before_vjp(const RowInputs& in, const JointRows& rows, const JointGroup& group, int row,
                     double rate_bar, std::span<Vec6<double>> J_bars, double& drift_bar,
                     const JointRowsGradient& gradient) {
  if (in.free == nullptr) return;
  const std::span<const int> slots = rows.slots_of(group);
  for (int k = 0; k < group.bodies; ++k) {
    const int slot = slots[at(k)];
    if (slot < 0) continue;
    J_bars[at(k)] += rate_bar * velocity_before(group.is_link, *in.free, slot);
    const Vec6<double> V_bar = rate_bar * rows.direction(group, row, k);
    if (group.is_link) {
      gradient.v_free->segment<6>(6 * slot) += V_bar;
      continue;
    }
    gradient.v_start->segment<6>(6 * slot) += V_bar;
    if (in.free->moves_with_tree(slot)) continue;
    gradient.v_start->segment<3>(6 * slot) += V_bar.head<3>();
    gradient.v_free->segment<3>(6 * slot) -= V_bar.head<3>();
  }
  drift_bar += rate_bar;
}

/// What the law of a row takes from where the coordinate is, but for its scale.
double error_of(const Coordinate& of, const RowOf& row, double command) {
  const CoordinateForces& forces = of.forces();
  switch (row.law) {
    case JointLaw::hold:
      return of.value() - of.coupling().held_at;
    case JointLaw::stop:
      return of.value() - (row.sign > 0.0 ? forces.lower : forces.upper);
    case JointLaw::motor:
    case JointLaw::load:
      break;
  }
  if (row.drive == Drive::spring) return of.value() - forces.spring_position;
  if (forces.motor.kind == MotorKind::affine) return of.value();
  return of.value() - commanded_motor(forces.motor, command).target;
}

/// Of the rows of a joint its bodies, else those that move of all joints.
void find_slots(const RowInputs& in, const Coordinate& of, std::vector<int>& slots) {
  slots.clear();
  for (const Part& part : of.parts()) {
    for (const int body : {of.joint_of(part).body_A, of.joint_of(part).body_B}) {
      const int slot = slot_of(in.mass, body);
      const bool is_there = std::find(slots.begin(), slots.end(), slot) != slots.end();
      if (!of.is_coupling() || (slot >= 0 && !is_there)) slots.push_back(slot);
    }
  }
}

/// Index of a body among those of a group.
int place_in(std::span<const int> slots, int slot) {
  return static_cast<int>(std::find(slots.begin(), slots.end(), slot) - slots.begin());
}

}  // namespace

void add_coordinate_rows(const RowInputs& in, int joint, int coupling, int motor, JointRows& out) {
  Coordinate of(in, joint, coupling);
  const RowList list = of.rows();
  if (list.count == 0) return;
  of.place();
  std::vector<int>& slots = in.scratch.slots;
  find_slots(in, of, slots);
  JointGroup& group = out.add_group(slots);
  group.joint = joint;
  group.coupling = coupling;
  group.motor = motor;
  group.is_coordinate = true;
  group.is_link = of.is_link();

  std::vector<Vec6<double>>&J = in.scratch.directions, &scaled = in.scratch.scaled;
  J.assign(slots.size(), Vec6<double>::Zero());
  scaled.resize(slots.size());
  double drift = 0.0;
  for (const Part& part : of.parts()) {
    const Joint& of_part = of.joint_of(part);
    const RowDirections J_i = directions_of(of_part, part.place);
    const auto add = [&](int body, const Vec6<double>& of_body, std::size_t k) {
      const int slot = slot_of(in.mass, body);
      if (slot < 0 && body >= 0)
        drift += part.slope * of_body.dot(fixed_twist(in.model, in.state, in.settings.law.h, body));
      if (!of.is_coupling()) {
        J[k] = of_body;  // of a body that does not move, too
      } else if (slot >= 0) {
        J[at(place_in(slots, slot))] += part.slope * of_body;
      }
    };
    add(of_part.body_A, J_i.A, 0);
    add(of_part.body_B, J_i.B, 1);
  }

  const CoordinateForces& forces = of.forces();
  const double h = in.settings.law.h, tau = of.dissipation_time(), command = command_of(group, in.settings);
  const InverseMass mass(in, of, false);
  const double inverse_mass = list.count > 1 || list.rows[0].drive != Drive::spring ? mass.value() : 0.0;
  for (int i = 0; i < list.count; ++i) {
    const RowOf& kind = list.rows[at(i)];
    const double scale = kind.law == JointLaw::stop ? kind.sign * of.radius() : 1.0;
    for (std::size_t k = 0; k < J.size(); ++k) scaled[k] = scale * J[k];
    JointRow& row = out.add_row(scaled);
    row.law = kind.law;
    row.scale = scale;
    if (kind.law != JointLaw::stop && kind.law != JointLaw::hold && kind.drive == Drive::motor)
      group.motor_row = group.end - 1;
    row.drift = scale * drift;
    row.error = scale * error_of(of, kind, command);
    // Rows of stops count a way.
    row.inverse_mass =
        scale * scale * (kind.drive == Drive::spring ? InverseMass(in, of, true).value() : inverse_mass);
    const double near_rigid = near_rigid_of(in, of, kind) * row.inverse_mass;
    switch (kind.law) {
      case JointLaw::hold:
        row.target = -row.error / (h + tau);
        row.resistance = 1.0 / (of.coupling().stiffness * h * (h + tau)) + near_rigid;
        break;
      case JointLaw::motor: {
        const DriveInputs inputs = drive_inputs(in, of, out, group, group.end - 1, kind.drive);
        const MotorLaw m =
            motor_law(motor_of(forces, of.armature(), kind.drive, inputs), row.error, near_rigid, inputs.h);
        row.target = m.target;
        row.resistance = m.resistance;
        row.limit = m.limit;
        break;
      }
      case JointLaw::load:
        row.target =
            kind.drive == Drive::spring
                ? spring_law(forces.spring_stiffness, row.error, row.inverse_mass, in.settings.substep)
                      .impulse
                : in.settings.substep * force_law(commanded_motor(forces.motor, command)).force;
        row.resistance = 1.0;
        break;
      case JointLaw::stop:
        row.target =
            smooth_coulomb::normal_target(row.error, row.inverse_mass, 0.0, tau, in.settings.law).value;
        row.resistance = smooth_coulomb::normal_resistance(row.inverse_mass, 0.0, tau, in.settings.law);
        break;
    }
    group.does_work |= does_work(of, kind) || row.drift != 0.0;
  }
}

void coordinate_rows_vjp(const RowInputs& in, const JointRows& rows, const JointGroup& group,
                         const JointRowBars& bars, const JointRowsGradient& gradient) {
  Coordinate of(in, group.joint, group.coupling);
  const RowList list = of.rows();
  of.place();
  const CoordinateForces& forces = of.forces();
  JointTangent& own_bar =
      of.is_coupling() ? gradient.couplings[at(group.coupling)] : gradient.joints[at(group.joint)];
  const double h = in.settings.law.h, tau = of.dissipation_time(), command = command_of(group, in.settings);
  const std::span<const int> slots = rows.slots_of(group);
  std::vector<JointPlaceBar>& place_bars = in.scratch.place_bars;
  place_bars.assign(of.parts().size(), {});
  std::vector<Vec6<double>>& J_bars = in.scratch.directions;
  J_bars.resize(slots.size());
  double radius_bar = 0.0;
  const auto add_command = [&](double bar) {
    if (!gradient.commands.empty()) gradient.commands[at(group.motor)] += bar;
  };
  for (int i = 0; i < list.count; ++i) {
    const RowOf& kind = list.rows[at(i)];
    const int r = group.begin + i;
    const JointRow& row = rows.rows[at(r)];
    const JointRowBar& bar = bars.rows[at(r)];
    for (int k = 0; k < group.bodies; ++k) J_bars[at(k)] = bars.directions[JointRows::place_of(group, r, k)];
    double drift_bar = bar.drift;

    // The law.
    const double near_rigid = near_rigid_of(in, of, kind);
    double error_bar = 0.0, w_bar = bar.resistance * near_rigid;
    switch (kind.law) {
      case JointLaw::hold: {
        const double compliance = 1.0 / of.coupling().stiffness;
        const auto by = smooth_coulomb::normal_resistance_derivatives(compliance, tau, in.settings.law);
        error_bar = -bar.target / (h + tau);
        own_bar.held_at -= error_bar;
        own_bar.dissipation_time +=
            bar.target * row.error / ((h + tau) * (h + tau)) + bar.resistance * by.d_dissipation_time;
        own_bar.compliance += bar.resistance * by.d_compliance;
        break;
      }
      case JointLaw::motor: {
        const DriveInputs inputs = drive_inputs(in, of, rows, group, r, kind.drive);
        const MotorLaw m = motor_law(motor_of(forces, of.armature(), kind.drive, inputs), row.error,
                                     near_rigid * row.inverse_mass, inputs.h);
        error_bar = bar.target * m.target_by_error;
        const MotorTangent motor_bar = m.vjp(bar.target, bar.resistance, inputs.h * bar.limit);
        const DriveInputsBar inputs_bar = motor_of_vjp(forces.motor, kind.drive, inputs, motor_bar, own_bar);
        add_command(inputs_bar.command);
        if (kind.drive == Drive::friction)
          radius_bar += motor_bar.damping * forces.friction / in.settings.law.stiction_speed;
        if (kind.drive == Drive::armature)
          rate_before_vjp(in, rows, group, r, inputs_bar.rate_before, J_bars, drift_bar, gradient);
        break;
      }
      case JointLaw::load: {
        if (kind.drive == Drive::motor) {
          const DriveInputs inputs = drive_inputs(in, of, rows, group, r, kind.drive);
          const MotorTangent motor_bar =
              force_law_vjp(commanded_motor(forces.motor, command), inputs.h * bar.target);
          add_command(motor_of_vjp(forces.motor, kind.drive, inputs, motor_bar, own_bar).command);
          break;
        }
        const SpringLaw spring =
            spring_law(forces.spring_stiffness, row.error, row.inverse_mass, in.settings.substep);
        error_bar = bar.target * spring.by_error;
        own_bar.spring_position -= error_bar;
        own_bar.spring_stiffness += bar.target * spring.by_stiffness;
        w_bar = bar.target * spring.by_inverse_mass;
        break;
      }
      case JointLaw::stop: {
        const auto target =
            smooth_coulomb::normal_target(row.error, row.inverse_mass, 0.0, tau, in.settings.law);
        error_bar = bar.target * target.d_distance;
        own_bar.dissipation_time += bar.target * target.d_dissipation_time;
        break;
      }
    }

    // The scale of a stop.
    if (kind.law == JointLaw::stop) {
      double product = drift_bar * row.drift + error_bar * row.error;
      for (int k = 0; k < group.bodies; ++k) {
        product += J_bars[at(k)].dot(rows.direction(group, r, k));
        J_bars[at(k)] *= row.scale;
      }
      radius_bar += product / of.radius();
      drift_bar *= row.scale;
      error_bar *= row.scale;
      (kind.sign > 0.0 ? own_bar.lower : own_bar.upper) -= error_bar;
    }

    // From the coordinate and its direction to those of the joints.
    const InverseMass mass(in, of, kind.drive == Drive::spring);
    double square_bar = mass.factor() * w_bar;  // by (dq/dq_i)^2 w_i
    if (kind.law == JointLaw::stop) {
      radius_bar += 2.0 * w_bar * row.inverse_mass / of.radius();
      square_bar *= of.radius() * of.radius();
    }
    double gear_bar = error_bar * of.value();
    for (std::size_t p = 0; p < of.parts().size(); ++p) {
      const Part& part = of.parts()[p];
      const Joint& joint = of.joint_of(part);
      const RowDirections J = directions_of(joint, part.place);
      double slope_bar = 0.0;
      const auto from_body = [&](int body, const Vec6<double>& of_body, std::size_t k) -> Vec6<double> {
        Vec6<double> J_bar = Vec6<double>::Zero();
        const int slot = slot_of(in.mass, body);
        if (slot >= 0) {
          J_bar = J_bars[of.is_coupling() ? at(place_in(slots, slot)) : k];
        } else if (body >= 0) {
          J_bar = drift_bar * fixed_twist(in.model, in.state, h, body);
          gradient.fixed_twist[at(body)] += drift_bar * part.slope * of_body;
        }
        slope_bar += J_bar.dot(of_body);
        return part.slope * J_bar;
      };
      RowDirections J_bar;
      J_bar.A = from_body(joint.body_A, J.A, 0);
      J_bar.B = from_body(joint.body_B, J.B, 1);
      if (square_bar != 0.0) {
        if (of.is_coupling()) slope_bar += 2.0 * part.slope * square_bar * mass.of_part(part);
        mass.part_vjp(part, part.slope * part.slope * square_bar, gradient, J_bar, place_bars[p]);
      }
      gear_bar += slope_bar * part.slope;
      const double coordinate_bar = part.slope * error_bar + part.curvature * slope_bar;
      if (joint.kind == JointKind::slider) {
        axis_row_vjp(part.place, 2, J_bar, coordinate_bar, place_bars[p]);
      } else {
        hinge_row_vjp(part.place, J_bar, coordinate_bar, place_bars[p]);
      }
    }
    if (of.is_coupling()) gear_vjp(in.model, group.coupling, gear_bar / of.gear(), gradient.couplings);
  }

  if (of.is_coupling())
    gear_vjp(in.model, group.coupling, -radius_bar * of.radius() / of.gear(), gradient.couplings);
  for (std::size_t p = 0; p < of.parts().size(); ++p) {
    const Part& part = of.parts()[p];
    const Joint& joint = of.joint_of(part);
    JointTangent& joint_bar = gradient.joints[at(part.joint)];
    joint_place_vjp(part.place, joint, place_bars[p], joint_bar, gradient.pose);
    if (radius_bar == 0.0) continue;
    const CoordinateRadius radius(in.model, joint);
    const double bar = radius_bar * of.radius_slope(p);
    joint_bar.X_AJ.tail<3>() += bar * radius.by_p_A;
    joint_bar.X_BJ.tail<3>() += bar * radius.by_p_B;
  }
}

std::vector<CoordinateSlope> coordinate_slopes(const Model& model, const State& state,
                                               const JointGroup& group) {
  if (group.coupling < 0) return {{group.joint, 1.0}};
  const Coupling& coupling = model.couplings[at(group.coupling)];
  std::vector<CoordinateSlope> slopes;
  for (const CouplingTerm& term : coupling.terms) {
    const double q = joint_coordinate(model, term.joint, state);
    slopes.push_back({term.joint, gear_of(model, coupling) * term.at(q).slope});
  }
  return slopes;
}

}  // namespace abut
