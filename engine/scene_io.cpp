#include "engine/scene_io.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "engine/body_builder.h"
#include "engine/body_io.h"
#include "engine/command_io.h"
#include "engine/config_fields.h"
#include "engine/coupling_io.h"
#include "engine/detector_choice.h"
#include "engine/input_error.h"
#include "engine/joint_geometry.h"
#include "engine/law_settings.h"
#include "engine/lie.h"
#include "engine/mesh_io.h"
#include "engine/parameters.h"
#include "engine/toml_table.h"

namespace abut {
namespace {

double read_setting(const TomlTable& table, const ContactNumber& field, double otherwise) {
  NumberRange range = positive();
  range.lower = field.lower;
  if (std::isfinite(field.upper)) range = strictly_between(field.lower, field.upper);
  return table.number(field.key, otherwise, range);
}

/// A key whose numbers are found by value(i), at what they are where the key is left out.
template <typename Value>
void read_parameter(const TomlTable& table, const ParameterInfo& parameter, const Value& value) {
  if (parameter.components == ParameterComponents::number) {
    value(0) = table.number(parameter.key, value(0), parameter.range);
    return;
  }
  const Vec3<double> v =
      table.vector3(parameter.key, Vec3<double>(value(0), value(1), value(2)), parameter.range);
  for (int i = 0; i < 3; ++i) value(i) = v[i];
}

int read_setting(const TomlTable& table, const ContactCount& field, int otherwise) {
  const int value = table.integer(field.key, otherwise, field.lower);
  if (value > field.upper)
    table.fail(field.key, fmt::format("{}, allowed: {} to {}", value, field.lower, field.upper));
  return value;
}
bool read_setting(const TomlTable& table, const ContactSwitch& field, bool otherwise) {
  return table.boolean(field.key, otherwise);
}
template <typename Enum>
Enum read_setting(const TomlTable& table, const ContactChoice<Enum>& field, Enum otherwise) {
  return table.choice<Enum>(field.key, otherwise, {field.words.begin(), field.words.end()});
}

void read_contact_settings(const TomlTable& table, ContactConfig& config) {
  for (const ContactField& field : contact_fields()) {
    std::visit([&](const auto& f) { config.*f.value = read_setting(table, f, config.*f.value); }, field);
  }
  table.finish();
}

void read_contact_overrides(const TomlTable& table, ContactOverrides& overrides) {
  for (const ContactField& field : contact_fields()) {
    std::visit(
        [&](const auto& f) {
          if (table.has(f.key)) overrides.*f.override_value = read_setting(table, f, {});
        },
        field);
  }
  table.finish();
}

void read_simulation(const TomlTable& table, Scene& scene) {
  StepConfig& step = scene.config.step;
  scene.config.steps = table.integer("steps", scene.config.steps, 1);
  const GravityParameter& gravity = gravity_parameter();
  read_parameter(table, gravity, [&](int i) -> double& { return gravity.value(scene.model, i); });
  step.law = table.choice<ContactLaw>("law", step.law, {contact_laws().begin(), contact_laws().end()});
  step.push_out =
      table.choice<PushOut>("push_out", step.push_out, {{"bias", PushOut::bias}, {"split", PushOut::split}});
  scene.initial.time = table.number("start_time", scene.initial.time, any_number());
  for (const StepConfigField& field : step_config_fields()) {
    if (const auto* number = std::get_if<double& (*)(StepConfig&)>(&field.get)) {
      double& value = (*number)(step);
      value = table.number(field.key, value, field.range());
    } else if (const auto* flag = std::get_if<bool& (*)(StepConfig&)>(&field.get)) {
      bool& value = (*flag)(step);
      value = table.boolean(field.key, value);
    } else {
      int& value = std::get<int& (*)(StepConfig&)>(field.get)(step);
      value = table.integer(field.key, value, static_cast<int>(field.lower));
    }
  }
  const auto read_array = [&](std::string_view key, auto& values) {
    if (!table.has(key)) return;
    const std::vector<double> given =
        table.required_numbers(key, static_cast<int>(values.size()), at_least(0.0));
    std::copy(given.begin(), given.end(), values.begin());
  };
  read_array("solref", step.impedance.solref);
  read_array("solimp", step.impedance.solimp);
  read_contact_settings(table.table("contact"), step.contact);
  table.finish();
}

/// The body alone: from its asset, or from the keys of an asset that stand in the scene itself.
Body read_body_of_scene(const TomlTable& table, const std::string& name, const SurfaceMaker& make_surface) {
  const bool fixed = table.boolean("fixed", false);
  if (table.has("asset") && table.has("primitive")) {
    table.fail("asset", "only one of 'asset' and [[body.primitive]] can be given");
  }
  if (!table.has("asset")) {
    if (!table.has("primitive"))
      table.fail("", "either 'asset' or at least one [[body.primitive]] is needed");
    return read_body_keys(table, name, read_material_keys(table, Material()), fixed, make_surface);
  }

  const std::filesystem::path asset = table.required_text("asset");
  Body body;
  try {
    body = read_body(table.file().parent_path() / asset, make_surface);
  } catch (const InputError& error) {
    // Where the asset itself is missing, or is none, the place to mend is the scene.
    if (std::error_code ignored; !is_mesh_file(asset) && std::filesystem::exists(error.file(), ignored))
      throw;
    table.fail("asset", error.what());
  }
  body.name = name;
  body.fixed = body.fixed || fixed;
  body.material = read_material_keys(table, body.material);
  body.appearance = read_appearance_keys(table, body.appearance);
  read_selection_keys(table, body);
  table.require_one_of({"mass", "density"}, false);
  for (const std::string_view key : {"mass", "density"}) {
    if (!table.has(key)) continue;
    if (is_unbounded(body.shape)) table.fail(key, "a body with a half_space has no mass");
    const double value =
        table.required_number(key, range_of(key == "mass" ? ParameterKind::mass : ParameterKind::density));
    try {
      key == "mass" ? set_mass(body, value) : set_density(body, value);
    } catch (const std::invalid_argument& error) {
      table.fail(key, error.what());
    }
  }
  return body;
}

Pose<double> read_asset_pose(const TomlTable& table) {
  table.require_one_of({"orientation", "rotation_vector"}, false);
  Pose<double> X_WA;
  X_WA.p = table.vector3("position", Vec3<double>::Zero());
  X_WA.q = table.quaternion("orientation");
  const Vec3<double> rotation = table.vector3("rotation_vector", Vec3<double>::Zero());
  constexpr double k_max_rotation =
      1000.0;  // [rad]; a longer one has few digits left of its angle, or overflows
  if (!(rotation.norm() <= k_max_rotation)) {
    table.fail("rotation_vector",
               fmt::format("{} rad long, allowed: at most {}", rotation.norm(), k_max_rotation));
  }
  if (table.has("rotation_vector")) X_WA.q = exp_quaternion(rotation).normalized();
  return X_WA;
}

Oscillation read_oscillation(const TomlTable& table) {
  const Vec3<double> zero = Vec3<double>::Zero();
  Oscillation oscillation;
  oscillation.amplitude = table.vector3("amplitude", zero);
  oscillation.rotation_amplitude = table.vector3("rotation_amplitude", zero);
  oscillation.frequency = table.required_number("frequency", positive());
  oscillation.phase = table.number("phase", 0.0, any_number());
  if (oscillation.amplitude == zero && oscillation.rotation_amplitude == zero)
    table.fail("", "'amplitude' or 'rotation_amplitude' is needed, and not zero");
  table.finish();
  return oscillation;
}

void read_body_table(const TomlTable& table, const SurfaceMaker& make_surface, Scene& scene) {
  const std::string name = table.required_text("name");
  for (const Body& other : scene.model.bodies) {
    if (other.name == name) table.fail("name", fmt::format("'{}' is the name of two bodies", name));
  }
  Body body = read_body_of_scene(table, name, make_surface);
  body.appearance.paints_visual_mesh = table.has("color");
  if (is_unbounded(body.shape) && !table.boolean("fixed", true)) {
    table.fail("fixed", "false, but a body with a half_space never moves");
  }

  const Vec3<double> zero = Vec3<double>::Zero();
  const Pose<double> X_WA = read_asset_pose(table);
  const Pose<double> X_AB{Quat<double>::Identity(), -body.p_BA};
  const Vec6<double> V_WB =
      stack(table.vector3("angular_velocity", zero), table.vector3("linear_velocity", zero));
  if (table.has("oscillation")) {
    if (!body.fixed) table.fail("oscillation", "only a fixed body can oscillate: forces move any other");
    body.oscillation = read_oscillation(table.table("oscillation"));
  }
  for (const BodyParameter& parameter : body_parameters()) {
    if (parameter.kind == ParameterKind::mass) continue;  // read with its asset
    read_parameter(table, parameter, [&](int i) -> double& { return parameter.value(body, i); });
  }
  table.finish();

  scene.model.bodies.push_back(std::move(body));
  scene.initial.X_WB.push_back(X_WA * X_AB);
  scene.initial.V_WB.push_back(V_WB + scene.model.bodies.back().oscillation.twist(scene.initial.time));
}

int body_index(const TomlTable& table, std::string_view key, const std::string& name, const Model& model) {
  std::vector<std::string> known;
  for (const Body& body : model.bodies) known.push_back(body.name);
  const auto found = std::find(known.begin(), known.end(), name);
  if (found == known.end()) {
    const std::string closest = closest_word(name, known);
    table.fail(key, fmt::format("there is no body '{}'{}", name,
                                closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest)));
  }
  return static_cast<int>(found - known.begin());
}

void read_pair_table(const TomlTable& table, Model& model) {
  const std::vector<std::string> names = table.required_texts("bodies", 2);
  std::vector<int> indices;
  for (const std::string& name : names) indices.push_back(body_index(table, "bodies", name, model));
  if (indices[0] == indices[1])
    table.fail("bodies", fmt::format("'{}' cannot be paired with itself", names[0]));

  PairOverride pair;
  pair.body_A = std::min(indices[0], indices[1]);
  pair.body_B = std::max(indices[0], indices[1]);
  for (const PairOverride& other : model.pair_overrides) {
    if (other.body_A == pair.body_A && other.body_B == pair.body_B) {
      table.fail("bodies", fmt::format("'{}' and '{}' have a [[pair]] already", names[0], names[1]));
    }
  }
  for (const MaterialParameter& parameter : k_material_parameters)
    read_parameter(table, parameter, [&](int) -> double& { return pair.*parameter.of_pair; });
  pair.collide = table.boolean("collide", pair.collide);
  read_contact_overrides(table.table("contact"), pair.contact);
  table.finish();
  model.pair_overrides.push_back(pair);
}

/// A rotation whose z axis is `axis`, as short as there is.
Quat<double> turn_z_to(const TomlTable& table, std::string_view key) {
  const Vec3<double> axis = table.vector3(key, Vec3<double>::UnitZ());
  constexpr double k_shortest = 1e-9;
  if (!(axis.norm() > k_shortest)) table.fail(key, "an axis of length 0 has no direction");
  return shortest_rotation(Vec3<double>::UnitZ(), axis);
}

/// The frame of a joint on a body from the table `frame_A` or `frame_B`, in the axes of the asset.
Pose<double> read_joint_frame(const TomlTable& table, const Vec3<double>& p_BA) {
  table.require_one_of({"orientation", "axis"}, false);
  Pose<double> X;
  X.p = p_BA + table.vector3("position", Vec3<double>::Zero());
  X.q = table.has("axis") ? turn_z_to(table, "axis") : table.quaternion("orientation");
  table.finish();
  return X;
}

/// Both frames: one place in the world at the initial poses, or one place on each body.
void read_joint_frames(const TomlTable& table, const Scene& scene, Joint& joint) {
  const auto body = [&](int index) -> const Body& {
    return scene.model.bodies[static_cast<std::size_t>(index)];
  };
  Pose<double> X_WA;
  if (joint.body_A >= 0) X_WA = scene.initial.X_WB[static_cast<std::size_t>(joint.body_A)];
  const Pose<double>& X_WB = scene.initial.X_WB[static_cast<std::size_t>(joint.body_B)];
  if (table.has("frame_A") || table.has("frame_B")) {
    for (const std::string_view key : {"position", "axis", "orientation"}) {
      if (table.has(key)) table.fail(key, "give the joint's place in the world, or in frames, not both");
    }
    const Vec3<double> p_AA = joint.body_A < 0 ? Vec3<double>::Zero() : body(joint.body_A).p_BA;
    joint.X_AJ = read_joint_frame(table.table("frame_A"), p_AA);
    joint.X_BJ = read_joint_frame(table.table("frame_B"), body(joint.body_B).p_BA);
    return;
  }
  if (joint.kind == JointKind::distance)
    table.fail("", "a distance joint needs 'frame_A' and 'frame_B', the places that it keeps apart");
  table.require_one_of({"orientation", "axis"}, has_coordinate(joint.kind));
  Pose<double> X_WJ;
  X_WJ.p = table.vector3("position", X_WB.p);
  X_WJ.q = table.has("axis") ? turn_z_to(table, "axis") : table.quaternion("orientation");
  joint.X_AJ = X_WA.inverse() * X_WJ;
  joint.X_BJ = X_WB.inverse() * X_WJ;
}

/// How far apart a distance joint's two places are at the start. Fails where they are one, to rounding.
double length_at_start(const TomlTable& table, const Scene& scene, const Joint& joint) {
  double extent = 0.0;  // of the numbers that places are computed from
  const auto place = [&](int body, const Pose<double>& X_BJ) {
    const Pose<double> X_WB = body < 0 ? Pose<double>() : scene.initial.X_WB[static_cast<std::size_t>(body)];
    extent = std::max({extent, X_WB.p.norm(), X_BJ.p.norm()});
    return Vec3<double>(X_WB * X_BJ.p);
  };
  const Vec3<double> p_A = place(joint.body_A, joint.X_AJ), p_B = place(joint.body_B, joint.X_BJ);
  const double length = (p_B - p_A).norm();
  constexpr double k_rounding = 1e-13;
  if (length <= k_rounding * extent) {
    table.fail(table.has("frame_B") ? "frame_B" : "frame_A",
               fmt::format("joint '{}': frame_A and frame_B are at the same place at the start, [{:.6g}, "
                           "{:.6g}, {:.6g}] m, where their distance has no direction",
                           joint.name, p_A.x(), p_A.y(), p_A.z()));
  }
  return length;
}

void read_joint_table(const TomlTable& table, Scene& scene) {
  Model& model = scene.model;
  Joint joint;
  joint.name = table.required_text("name");
  for (const Joint& other : model.joints) {
    if (other.name == joint.name)
      table.fail("name", fmt::format("'{}' is the name of two joints", joint.name));
  }
  joint.kind = table.required_choice<JointKind>("kind", {{"fixed", JointKind::fixed},
                                                         {"ball", JointKind::ball},
                                                         {"hinge", JointKind::hinge},
                                                         {"slider", JointKind::slider},
                                                         {"distance", JointKind::distance}});
  const std::string name_A = table.text("body_A", ""), name_B = table.required_text("body_B");
  if (!name_A.empty()) joint.body_A = body_index(table, "body_A", name_A, model);
  joint.body_B = body_index(table, "body_B", name_B, model);
  if (joint.body_A == joint.body_B)
    table.fail("body_B", fmt::format("'{}' cannot be joined to itself", name_B));
  read_joint_frames(table, scene, joint);
  read_parameter_of(table, ParameterKind::joint_stiffness, joint);
  read_parameter_of(table, ParameterKind::joint_angular_stiffness, joint);
  const bool holds_turns = joint.kind != JointKind::ball && joint.kind != JointKind::distance;
  if (table.has("angular_stiffness") && !holds_turns)
    table.fail("angular_stiffness", "a ball or distance joint lets its bodies turn freely");
  read_parameter_of(table, ParameterKind::joint_dissipation_time, joint);
  joint.collide = table.boolean("collide", joint.collide);
  if (joint.kind == JointKind::distance) {
    joint.length = length_at_start(table, scene, joint);
    read_parameter_of(table, ParameterKind::joint_length, joint);
  }
  if (table.has("motor") && !has_coordinate(joint.kind))
    table.fail("motor", "only a hinge or a slider can have a motor");
  if (has_coordinate(joint.kind)) {
    read_parameter_of(table, ParameterKind::joint_lower, joint);
    read_parameter_of(table, ParameterKind::joint_upper, joint);
    read_parameter_of(table, ParameterKind::joint_damping, joint);
    read_parameter_of(table, ParameterKind::joint_friction, joint);
    read_parameter_of(table, ParameterKind::joint_armature, joint);
    read_parameter_of(table, ParameterKind::joint_spring_stiffness, joint);
    read_parameter_of(table, ParameterKind::joint_spring_position, joint);
    if (table.has("motor")) {
      const TomlTable motor = table.table("motor");
      read_motor(motor, joint);
      motor.finish();
    }
  }
  try {
    validate(joint, model);
  } catch (const std::invalid_argument& error) {
    table.fail("", error.what());
  }
  model.joints.push_back(std::move(joint));
}

/// Moves what hangs from joints whose coordinates and rates are given.
void read_joint_starts(const std::vector<TomlTable>& tables, Scene& scene) {
  const Model& model = scene.model;
  using Set = void (*)(const Model&, int, double, State&);
  const auto set_all = [&](std::string_view key, Set set) {
    for (std::size_t j = 0; j < tables.size(); ++j) {
      if (!tables[j].has(key)) continue;
      if (!has_coordinate(model.joints[j].kind)) tables[j].fail(key, "only a hinge or a slider has any");
      try {
        set(model, static_cast<int>(j), tables[j].required_number(key, any_number()), scene.initial);
      } catch (const std::invalid_argument& error) {
        tables[j].fail(key, error.what());
      }
    }
  };
  start_within_limits(model, scene.initial);
  set_all("coordinate", set_joint_coordinate);
  set_all("rate", set_joint_rate);
}

/// Fails at the key of the first setting that the scene's law ignores, or at the asset that it comes from.
void require_honoured(const Scene& scene, const TomlTable& simulation, const std::vector<TomlTable>& bodies,
                      const std::vector<TomlTable>& pairs) {
  for (const IgnoredSetting& ignored : ignored_settings(scene.model, scene.config.step)) {
    const std::string_view key = ignored.setting->key;
    const std::string why = refusal_text(*ignored.setting, scene.config.step.law);
    if (ignored.body < 0) {
      const TomlTable& table = ignored.pair < 0 ? simulation : pairs[static_cast<std::size_t>(ignored.pair)];
      table.fail(key, why);
    }
    const TomlTable& table = bodies[static_cast<std::size_t>(ignored.body)];
    if (table.has(key)) table.fail(key, why);
    const Material& material = scene.model.bodies[static_cast<std::size_t>(ignored.body)].material;
    const double standard = Material().*ignored.setting->of_body;
    table.fail("asset",
               fmt::format("its {} = {} is {}{}", key, material.*ignored.setting->of_body, why,
                           standard < 0.0 ? "" : fmt::format(", or set {} = {} here", key, standard)));
  }
}

/// Fails at the detector that cannot find the contacts of a pair.
void require_detectable(const Scene& scene, const TomlTable& simulation,
                        const std::vector<TomlTable>& pairs) {
  const std::optional<RefusedPair> refused = first_refused_pair(scene.model, scene.config.step.contact);
  if (!refused) return;
  const std::vector<PairOverride>& overrides = scene.model.pair_overrides;
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    if (overrides[i].body_A == refused->body_A && overrides[i].body_B == refused->body_B &&
        overrides[i].contact.detector)
      pairs[i].table("contact").fail("detector", refused->why);
  }
  simulation.table("contact").fail("detector", refused->why);
}

void read_push_table(const TomlTable& table, Scene& scene) {
  Push push;
  push.body = body_index(table, "body", table.required_text("body"), scene.model);
  if (scene.model.bodies[static_cast<std::size_t>(push.body)].fixed)
    table.fail("body", "a fixed body cannot be pushed");
  push.from = table.number("from", scene.initial.time, any_number());
  push.until = table.required_number("until", any_number());
  if (!(push.from < push.until))
    table.fail("until", fmt::format("{}, allowed: > {}, when the push begins", push.until, push.from));
  const Vec3<double> zero = Vec3<double>::Zero();
  if (!table.has("torque") && !table.has("force")) table.fail("", "a push needs 'force' or 'torque'");
  push.wrench = stack(table.vector3("torque", zero), table.vector3("force", zero));
  table.finish();
  scene.pushes.push_back(push);
}

}  // namespace

Scene read_scene(const std::string& path, const SurfaceMaker& make_surface) {
  const TomlTable table = TomlTable::read(path);
  Scene scene;
  scene.name = table.text("name", std::filesystem::path(path).stem().string());
  const TomlTable simulation = table.table("simulation");
  read_simulation(simulation, scene);
  const std::vector<TomlTable> bodies = table.tables("body"), pairs = table.tables("pair"),
                               joints = table.tables("joint"), pushes = table.tables("push"),
                               couplings = table.tables("coupling"), actuators = table.tables("actuator"),
                               commands = table.tables("command");
  table.finish();
  if (bodies.empty()) table.fail("", "no [[body]], a scene needs at least one");
  for (const TomlTable& body : bodies) read_body_table(body, make_surface, scene);
  for (const TomlTable& pair : pairs) read_pair_table(pair, scene.model);
  for (const TomlTable& joint : joints) read_joint_table(joint, scene);
  read_joint_starts(joints, scene);
  for (const TomlTable& joint : joints) joint.finish();
  for (const TomlTable& coupling : couplings) read_coupling(coupling, scene.model);
  for (const TomlTable& actuator : actuators) read_actuator(actuator, scene.model);
  for (std::size_t c = 0; c < couplings.size(); ++c)
    require_forces(couplings[c], scene.model.couplings[c], scene.model);
  for (const TomlTable& push : pushes) read_push_table(push, scene);
  for (const TomlTable& command : commands) {
    for (CommandTable& read : read_commands(command, scene.model)) scene.commands.push_back(std::move(read));
  }
  try {
    validate(scene.config.step);
  } catch (const std::invalid_argument& error) {
    table.fail("simulation", error.what());
  }
  require_honoured(scene, simulation, bodies, pairs);
  require_detectable(scene, simulation, pairs);
  return scene;
}

}  // namespace abut
