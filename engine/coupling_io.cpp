#include "engine/coupling_io.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "engine/closest_word.h"
#include "engine/count_text.h"

namespace abut {
namespace {

template <typename Owner>
double& number_of(const JointParameter& parameter, Owner& owner) {
  if constexpr (std::is_same_v<Owner, Joint>) {
    return parameter.of_joint(owner);
  } else {
    return parameter.of_coupling(owner);
  }
}

template <typename Owner>
void read_number(const TomlTable& table, ParameterKind kind, Owner& owner) {
  const JointParameter& parameter = *joint_parameter(kind);
  double& value = number_of(parameter, owner);
  value = table.number(parameter.key, value, parameter.range);
}

template <typename Owner>
void read_motor_of(const TomlTable& table, Owner& owner) {
  Motor& motor = owner.motor;
  motor.kind = table.required_choice<MotorKind>("kind", {{"velocity", MotorKind::velocity},
                                                         {"position", MotorKind::position},
                                                         {"force", MotorKind::force},
                                                         {"affine", MotorKind::affine}});
  read_number(table, ParameterKind::motor_target, owner);
  switch (motor.kind) {
    case MotorKind::none:
    case MotorKind::force:
      break;
    case MotorKind::position:
      motor.stiffness = table.required_number("stiffness", range_of(ParameterKind::motor_stiffness));
      motor.damping = table.number("damping", 0.0, at_least(0.0));  // a servo without any is one, too
      break;
    case MotorKind::velocity:
      read_number(table, ParameterKind::motor_damping, owner);
      break;
    case MotorKind::affine:
      motor.stiffness = table.number("stiffness", 0.0, at_least(0.0));
      motor.damping = table.number("damping", 0.0, at_least(0.0));
      read_number(table, ParameterKind::motor_gain, owner);
      read_number(table, ParameterKind::motor_bias, owner);
      break;
  }
  read_number(table, ParameterKind::motor_limit, owner);
  if (table.has("command_limits")) {
    const std::vector<double> limits = table.required_numbers("command_limits", 2, any_number());
    if (!(limits[0] < limits[1]))
      table.fail("command_limits",
                 fmt::format("[{}, {}], the first is not below the second", limits[0], limits[1]));
    motor.lowest = limits[0];
    motor.highest = limits[1];
  }
}

/// Index of what `key` names, out of some that have names. Fails where it is not there.
///
/// @param is_other  ", it is a coupling" and the like; "" for a name that nothing has
template <typename Named>
int index_of(const TomlTable& table, std::string_view key, const std::string& name, const char* what,
             const std::vector<Named>& all, std::string_view is_other) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Named& other) { return other.name == name; });
  if (found != all.end()) return static_cast<int>(found - all.begin());
  std::vector<std::string> names;
  for (const Named& other : all) names.push_back(other.name);
  const std::string closest = is_other.empty() ? closest_word(name, names) : std::string();
  table.fail(key,
             fmt::format("there is no {} '{}'{}, allowed: {}{}", what, name, is_other, fmt::join(names, ", "),
                         closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest)));
}

/// A name that neither a joint nor another coupling has: commands go by it.
std::string read_name(const TomlTable& table, const Model& model) {
  std::string name = table.required_text("name");
  const auto is_taken = [&](const auto& other) { return other.name == name; };
  if (std::any_of(model.joints.begin(), model.joints.end(), is_taken))
    table.fail("name", fmt::format("'{}' is the name of a joint", name));
  if (std::any_of(model.couplings.begin(), model.couplings.end(), is_taken))
    table.fail("name", fmt::format("'{}' is the name of two couplings or actuators", name));
  return name;
}

int read_joint_name(const TomlTable& table, std::string_view key, const std::string& name,
                    const Model& model) {
  const bool is_coupling = std::any_of(model.couplings.begin(), model.couplings.end(),
                                       [&](const Coupling& coupling) { return coupling.name == name; });
  const int joint =
      index_of(table, key, name, "joint", model.joints, is_coupling ? ", it is a coupling" : "");
  if (!has_coordinate(model.joints[static_cast<std::size_t>(joint)].kind))
    table.fail(key, fmt::format("joint '{}' has no coordinate, only a hinge or a slider has one", name));
  return joint;
}

/// From the keys `joints` and `coefficients`: a number for each, or a row of them for powers of its coordinate.
std::vector<CouplingTerm> read_terms(const TomlTable& table, const Model& model) {
  std::vector<CouplingTerm> terms;
  for (const std::string& name : table.required_texts("joints")) {
    const int joint = read_joint_name(table, "joints", name, model);
    if (std::any_of(terms.begin(), terms.end(),
                    [&](const CouplingTerm& term) { return term.joint == joint; }))
      table.fail("joints", fmt::format("has '{}' twice", name));
    terms.push_back({joint, {1.0}});
  }
  if (terms.empty()) table.fail("joints", "is empty, at least one joint is needed");
  const auto require_count = [&](std::size_t count) {
    if (count != terms.size())
      table.fail("coefficients", fmt::format("{}, expected {}, one for each of 'joints'",
                                             count_text(count, "coefficient"), terms.size()));
  };
  if (!table.has("coefficients")) return terms;
  if (table.holds_arrays("coefficients")) {
    std::vector<std::vector<double>> rows = table.required_ragged_rows("coefficients", any_number());
    require_count(rows.size());
    for (std::size_t i = 0; i < terms.size(); ++i) terms[i].coefficients = std::move(rows[i]);
  } else {
    const std::vector<double> numbers = table.required_numbers("coefficients", any_number());
    require_count(numbers.size());
    for (std::size_t i = 0; i < terms.size(); ++i) terms[i].coefficients = {numbers[i]};
  }
  return terms;
}

void read_gear(const TomlTable& table, Coupling& coupling) {
  read_number(table, ParameterKind::coupling_gear, coupling);
  if (coupling.gear == 0.0) table.fail("gear", "0, allowed: any finite number but 0");
}

void add(const TomlTable& table, Coupling coupling, Model& model) {
  table.finish();
  try {
    validate(coupling, model);
  } catch (const std::invalid_argument& error) {
    table.fail("", error.what());
  }
  model.couplings.push_back(std::move(coupling));
}

}  // namespace

void read_parameter_of(const TomlTable& table, ParameterKind kind, Joint& joint) {
  read_number(table, kind, joint);
}
void read_parameter_of(const TomlTable& table, ParameterKind kind, Coupling& coupling) {
  read_number(table, kind, coupling);
}

void read_motor(const TomlTable& table, Joint& joint) { read_motor_of(table, joint); }
void read_motor(const TomlTable& table, Coupling& coupling) { read_motor_of(table, coupling); }

void read_coupling(const TomlTable& table, Model& model) {
  Coupling coupling;
  coupling.name = read_name(table, model);
  coupling.terms = read_terms(table, model);
  read_gear(table, coupling);
  if (table.has("held_at")) read_number(table, ParameterKind::coupling_held_at, coupling);
  for (const ParameterKind kind : {ParameterKind::joint_stiffness, ParameterKind::joint_dissipation_time}) {
    if (table.has(parameter_info(kind).key) && !coupling.is_held())
      table.fail(parameter_info(kind).key, "is of a coupling that is held; give 'held_at', too");
    read_number(table, kind, coupling);
  }
  for (const ParameterKind kind :
       {ParameterKind::joint_lower, ParameterKind::joint_upper, ParameterKind::joint_damping,
        ParameterKind::joint_friction, ParameterKind::joint_spring_stiffness,
        ParameterKind::joint_spring_position})
    read_number(table, kind, coupling);
  if (!(coupling.lower < coupling.upper))
    table.fail(table.has("upper") ? "upper" : "lower",
               fmt::format("lower = {} is not below upper = {}", coupling.lower, coupling.upper));
  if (table.has("motor")) {
    const TomlTable motor = table.table("motor");
    read_motor(motor, coupling);
    motor.finish();
  }
  add(table, std::move(coupling), model);
}

void require_forces(const TomlTable& table, const Coupling& coupling, const Model& model) {
  const bool has_any = coupling.is_held() || coupling.damping > 0.0 || coupling.friction > 0.0 ||
                       coupling.spring_stiffness > 0.0 || std::isfinite(coupling.lower) ||
                       std::isfinite(coupling.upper) || coupling.motor.kind != MotorKind::none;
  const bool drives = std::any_of(model.couplings.begin(), model.couplings.end(), [&](const Coupling& other) {
    return other.on >= 0 && model.couplings[static_cast<std::size_t>(other.on)].name == coupling.name;
  });
  if (!has_any && !drives)
    table.fail("",
               "nothing acts on it: give 'held_at', a spring, damping, friction, limits, a motor, or an "
               "[[actuator]] on it");
}

void read_actuator(const TomlTable& table, Model& model) {
  Coupling actuator;
  actuator.is_actuator = true;
  actuator.name = read_name(table, model);
  table.require_one_of({"joint", "coupling"}, true);
  if (table.has("joint")) {
    const std::string joint = table.required_text("joint");
    actuator.terms = {{read_joint_name(table, "joint", joint, model), {1.0}}};
  } else {
    const std::string name = table.required_text("coupling");
    const bool is_joint = std::any_of(model.joints.begin(), model.joints.end(),
                                      [&](const Joint& joint) { return joint.name == name; });
    const int coupling = index_of(table, "coupling", name, "coupling", model.couplings,
                                  is_joint ? ", it is a joint: 'joint' takes it" : "");
    actuator.on = coupling;
    actuator.terms = model.couplings[static_cast<std::size_t>(coupling)].terms;
  }
  read_gear(table, actuator);
  read_motor(table, actuator);
  add(table, std::move(actuator), model);
}

}  // namespace abut
