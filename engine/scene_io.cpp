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
#include "engine/config_fields.h"
#include "engine/input_error.h"
#include "engine/lie.h"
#include "engine/toml_table.h"

namespace abut {
namespace {

double read_setting(const TomlTable& table, const ContactNumber& field, double otherwise) {
  NumberRange range = positive();
  range.lower = field.lower;
  if (std::isfinite(field.upper)) range = strictly_between(field.lower, field.upper);
  return table.number(field.key, otherwise, range);
}
int read_setting(const TomlTable& table, const ContactCount& field, int otherwise) {
  return table.integer(field.key, otherwise, field.lower);
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
  scene.model.gravity = table.vector3("gravity", scene.model.gravity);
  step.law = table.choice<ContactLaw>("law", step.law,
                                      {{"smooth_coulomb", ContactLaw::smooth_coulomb},
                                       {"penalty", ContactLaw::penalty},
                                       {"lcp", ContactLaw::lcp},
                                       {"relaxed_complementarity", ContactLaw::relaxed_complementarity}});
  for (const StepConfigField& field : step_config_fields()) {
    if (const auto* number = std::get_if<double& (*)(StepConfig&)>(&field.get)) {
      double& value = (*number)(step);
      NumberRange range = positive();
      range.lower = field.lower;
      value = table.number(field.key, value, range);
    } else {
      int& value = std::get<int& (*)(StepConfig&)>(field.get)(step);
      value = table.integer(field.key, value, static_cast<int>(field.lower));
    }
  }
  read_contact_settings(table.table("contact"), step.contact);
  table.finish();
}

/// The body alone: from its asset, or from the keys of an asset that stand in the scene itself.
Body read_body_of_scene(const TomlTable& table, const std::string& name) {
  const bool fixed = table.boolean("fixed", false);
  if (table.has("asset") && table.has("primitive")) {
    table.fail("asset", "only one of 'asset' and [[body.primitive]] can be given");
  }
  if (!table.has("asset")) {
    if (!table.has("primitive"))
      table.fail("", "either 'asset' or at least one [[body.primitive]] is needed");
    return read_body_keys(table, name, read_material_keys(table, Material()), fixed);
  }

  const std::filesystem::path asset = table.required_text("asset");
  Body body;
  try {
    body = read_body(table.file().parent_path() / asset);
  } catch (const InputError& error) {
    // Where the asset itself is missing, the place to mend is the scene.
    if (std::error_code ignored; std::filesystem::exists(error.file(), ignored)) throw;
    table.fail("asset", error.what());
  }
  body.name = name;
  body.fixed = body.fixed || fixed;
  body.material = read_material_keys(table, body.material);
  read_selection_keys(table, body);
  table.require_one_of({"mass", "density"}, false);
  for (const std::string_view key : {"mass", "density"}) {
    if (!table.has(key)) continue;
    if (is_unbounded(body.shape)) table.fail(key, "a body with a half_space has no mass");
    const double value = table.required_number(key, positive());
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

void read_body_table(const TomlTable& table, Scene& scene) {
  const std::string name = table.required_text("name");
  for (const Body& other : scene.model.bodies) {
    if (other.name == name) table.fail("name", fmt::format("'{}' is the name of two bodies", name));
  }
  Body body = read_body_of_scene(table, name);
  if (is_unbounded(body.shape) && !table.boolean("fixed", true)) {
    table.fail("fixed", "false, but a body with a half_space never moves");
  }

  const Vec3<double> zero = Vec3<double>::Zero();
  const Pose<double> X_WA = read_asset_pose(table);
  const Pose<double> X_AB{Quat<double>::Identity(), -body.p_BA};
  const Vec6<double> V_WB =
      stack(table.vector3("angular_velocity", zero), table.vector3("linear_velocity", zero));
  for (const std::string_view key : {"linear_velocity", "angular_velocity"}) {
    if (body.fixed && table.has(key) && table.vector3(key, zero) != zero)
      table.fail(key, "a fixed body has no velocity");
  }
  body.linear_damping = table.number("linear_damping", 0.0, at_least(0.0));
  body.angular_damping = table.number("angular_damping", 0.0, at_least(0.0));
  body.external_wrench = stack(table.vector3("torque", zero), table.vector3("force", zero));
  table.finish();

  scene.model.bodies.push_back(std::move(body));
  scene.initial.X_WB.push_back(X_WA * X_AB);
  scene.initial.V_WB.push_back(V_WB);
}

void read_pair_table(const TomlTable& table, Model& model) {
  const std::vector<std::string> names = table.required_texts("bodies", 2);
  std::vector<std::string> known;
  for (const Body& body : model.bodies) known.push_back(body.name);
  std::vector<int> indices;
  for (const std::string& name : names) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      const std::string closest = closest_word(name, known);
      table.fail("bodies", fmt::format("there is no body '{}'{}", name,
                                       closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest)));
    }
    indices.push_back(static_cast<int>(found - known.begin()));
  }
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
  pair.friction = table.number("friction", pair.friction, at_least(0.0));
  pair.stiffness = table.number("stiffness", pair.stiffness, positive_or_infinite());
  pair.dissipation_time = table.number("dissipation_time", pair.dissipation_time, at_least(0.0));
  pair.restitution = table.number("restitution", pair.restitution, between(0.0, 1.0));
  pair.collide = table.boolean("collide", pair.collide);
  read_contact_overrides(table.table("contact"), pair.contact);
  table.finish();
  model.pair_overrides.push_back(pair);
}

}  // namespace

Scene read_scene(const std::filesystem::path& path) {
  const TomlTable table = TomlTable::read(path);
  Scene scene;
  scene.name = table.text("name", path.stem().string());
  read_simulation(table.table("simulation"), scene);
  const std::vector<TomlTable> bodies = table.tables("body"), pairs = table.tables("pair");
  table.finish();
  if (bodies.empty()) table.fail("", "no [[body]], a scene needs at least one");
  for (const TomlTable& body : bodies) read_body_table(body, scene);
  for (const TomlTable& pair : pairs) read_pair_table(pair, scene.model);
  try {
    validate(scene.config.step);
  } catch (const std::invalid_argument& error) {
    table.fail("simulation", error.what());
  }
  return scene;
}

}  // namespace abut
