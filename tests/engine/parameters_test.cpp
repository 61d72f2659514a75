#include "engine/parameters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <catch2/catch.hpp>

#include "engine/body_builder.h"
#include "engine/input_error.h"
#include "engine/primitive_builder.h"
#include "engine/scene_io.h"
#include "tests/support/temporary_folder.h"

using namespace abut;

namespace {

double refused_value(const NumberRange& range) {
  if (std::isfinite(range.upper)) return range.upper + 1.0;
  return std::isfinite(range.lower) ? range.lower - 1.0 : k_infinity;
}

double allowed_value(const NumberRange& range) {
  if (std::isfinite(range.upper)) return 0.5 * (range.lower + range.upper);
  return std::isfinite(range.lower) ? range.lower + 0.5 : 0.25;
}

/// A number, or an array whose last element is the value and whose others are allowed.
std::string array_text(const NumberRange& range, int count, double value) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", i + 1 == count ? value : allowed_value(range));
  return "[" + text + "]";
}

std::string value_text(const ParameterInfo& parameter, double value) {
  if (parameter.components == ParameterComponents::number) return fmt::format("{}", value);
  return array_text(parameter.range, 3, value);
}

/// Whether a scene file has the key with the parameter's own numbers: not those of what assets write in
/// another way.
bool is_key_of_scenes(const ParameterInfo& parameter) {
  return parameter.kind != ParameterKind::inertia && parameter.kind != ParameterKind::center_of_mass &&
         parameter.owner != ParameterOwner::primitive;
}

const std::string k_two_bodies = R"([[body]]
name = "floor"
primitive = [{kind = "half_space"}]
[[body]]
name = "ball"
primitive = [{kind = "sphere", radius = 0.1}]
)";

/// A scene in which the parameter's key is given, in the last line, and in the table of a pair if asked for.
std::string scene_with(const ParameterInfo& parameter, const std::string& value, bool of_pair = false) {
  const std::string line = fmt::format("{} = {}", parameter.key, value);
  if (parameter.owner == ParameterOwner::simulation)
    return k_two_bodies + "density = 500\n[simulation]\n" + line;
  if (of_pair) return k_two_bodies + "density = 500\n[[pair]]\nbodies = [\"floor\", \"ball\"]\n" + line;
  if (parameter.owner == ParameterOwner::joint || parameter.owner == ParameterOwner::motor ||
      parameter.owner == ParameterOwner::coupling) {
    const bool is_distance = parameter.kind == ParameterKind::joint_length;
    std::string text = k_two_bodies + "density = 500\nposition = [0, 0, 1]\n[[joint]]\nname = \"j\"\n" +
                       fmt::format("body_B = \"ball\"\nkind = \"{}\"\n", is_distance ? "distance" : "hinge");
    text += is_distance ? "frame_A = {position = [0, 0, 2]}\nframe_B = {}\n" : "axis = [0, 1, 0]\n";
    if (parameter.owner == ParameterOwner::motor) {
      const bool is_servo = parameter.kind == ParameterKind::motor_stiffness,
                 is_affine = parameter.kind == ParameterKind::motor_gain ||
                             parameter.kind == ParameterKind::motor_bias;
      text += fmt::format("[joint.motor]\nkind = \"{}\"\n", is_servo    ? "position"
                                                            : is_affine ? "affine"
                                                                        : "velocity");
      if (parameter.kind != ParameterKind::motor_target) text += "target = 0\n";
    }
    if (parameter.owner == ParameterOwner::coupling)
      text += "[[coupling]]\nname = \"c\"\njoints = [\"j\"]\ndamping = 1\n";
    return text + line;
  }
  const bool is_mass = parameter.kind == ParameterKind::mass || parameter.kind == ParameterKind::density;
  return k_two_bodies + (is_mass ? "" : "density = 500\n") + line;
}

struct Files {
  test::TemporaryFolder folder;
  [[nodiscard]] Scene read(const std::string& text) const {
    return read_scene(folder.write("scene.toml", text));
  }
  /// What reading complains of.
  [[nodiscard]] InputError refusal(const std::string& text) const {
    try {
      (void)read(text);
    } catch (const InputError& error) {
      return error;
    }
    return {"", 0, "nothing is refused"};
  }
};

int lines_of(const std::string& text) {
  return 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

/// Where the table finds the last number of the parameter in a scene of scene_with().
double value_in(Scene& scene, ParameterKind kind, bool of_pair) {
  if (kind == ParameterKind::gravity) return gravity_parameter().value(scene.model, 2);
  if (const MaterialParameter* const material = material_parameter(kind)) {
    return of_pair ? scene.model.pair_overrides.front().*material->of_pair
                   : scene.model.bodies[1].material.*material->of_body;
  }
  if (const BodyParameter* const body = body_parameter(kind)) return body->value(scene.model.bodies[1], 2);
  if (const StateParameter* const state = state_parameter(kind)) return state->value(scene.initial, 1, 2);
  const JointParameter* const joint = joint_parameter(kind);
  if (joint != nullptr) {
    return joint->of_joint != nullptr ? joint->of_joint(scene.model.joints.front())
                                      : joint->of_coupling(scene.model.couplings.front());
  }
  return std::nan("");
}

const std::string k_cube_normals =
    "normals = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]\n";

/// How many numbers a key has in scene_with_shape(), 0 of one that is no array.
int count_of(const ShapeKey& key) {
  switch (key.numbers) {
    case ShapeKey::Numbers::single:
      return 0;
    case ShapeKey::Numbers::vector:
      return 3;
    case ShapeKey::Numbers::pair:
      return 2;
    case ShapeKey::Numbers::sequence:
    case ShapeKey::Numbers::corners:
      break;
  }
  return key.kind == PrimitiveKind::convex_polyhedron ? 6 : 1;
}

/// A body of one primitive of the kind with one refused number, under a key of a line of its own; the other
/// keys come first.
std::string scene_with_shape(const ShapeKey& bad, std::string_view kind_word) {
  std::string text =
      fmt::format("[[body]]\nname = \"b\"\ndensity = 1\n[[body.primitive]]\nkind = \"{}\"\n", kind_word);
  if (bad.kind == PrimitiveKind::convex_polyhedron) text += k_cube_normals;
  if (bad.kind == PrimitiveKind::oriented_point_cloud)
    text +=
        "points = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]\n" + k_cube_normals;
  const auto line = [&](const ShapeKey& key, double value) {
    const int count = count_of(key);
    if (key.numbers == ShapeKey::Numbers::corners)
      return fmt::format("{} = [[0, 0], [1, 0], [0, {}]]", key.key, value);
    return fmt::format("{} = {}", key.key,
                       count == 0 ? fmt::format("{}", value) : array_text(key.range, count, value));
  };
  for (const ShapeKey& key : shape_keys(bad.kind)) {
    if (key.key != bad.key) text += line(key, allowed_value(key.range)) + "\n";
  }
  return text + line(bad, refused_value(bad.range));
}

const std::vector<std::pair<PrimitiveKind, std::string_view>> k_shapes{
    {PrimitiveKind::superquadric, "superquadric"},
    {PrimitiveKind::half_space, "half_space"},
    {PrimitiveKind::sphere, "sphere"},
    {PrimitiveKind::capsule, "capsule"},
    {PrimitiveKind::rounded_box, "rounded_box"},
    {PrimitiveKind::convex_polyhedron, "convex_polyhedron"},
    {PrimitiveKind::oriented_point_cloud, "oriented_point_cloud"},
    {PrimitiveKind::extruded_superquadric, "extruded_superquadric"},
    {PrimitiveKind::cone, "cone"},
    {PrimitiveKind::torus, "torus"},
    {PrimitiveKind::padded_polygon, "padded_polygon"}};

}  // namespace

TEST_CASE("parameters: each stands in the table once, under a key of its own", "[engine][value]") {
  std::set<ParameterKind> kinds;
  std::set<std::tuple<ParameterOwner, std::string_view>> keys;
  for (const ParameterInfo* const parameter : all_parameters()) {
    CAPTURE(parameter->key);
    CHECK(kinds.insert(parameter->kind).second);
    CHECK(keys.insert({parameter->owner, parameter->key}).second);
    CHECK(&parameter_info(parameter->kind) == parameter);
    const bool is_of_body = parameter->owner == ParameterOwner::body;
    const bool is_of_both = parameter->owner == ParameterOwner::body_or_pair;
    if (is_of_body) CHECK(keys.count({ParameterOwner::body_or_pair, parameter->key}) == 0);
    if (is_of_both) CHECK(keys.count({ParameterOwner::body, parameter->key}) == 0);
  }
  const int count = static_cast<int>(ParameterKind::coupling_held_at) + 1;
  CHECK(static_cast<int>(kinds.size()) == count - 2);  // all but step_setting and shape
}

TEST_CASE("parameters: scene files refuse what is out of the range, with file and line", "[engine][value]") {
  const Files files;
  int refused = 0;
  for (const ParameterInfo* const parameter : all_parameters()) {
    if (!is_key_of_scenes(*parameter)) continue;
    for (const bool of_pair : {false, true}) {
      if (of_pair && parameter->owner != ParameterOwner::body_or_pair) continue;
      const std::string text =
          scene_with(*parameter, value_text(*parameter, refused_value(parameter->range)), of_pair);
      const InputError error = files.refusal(text);
      CAPTURE(text, error.what());
      CHECK(error.line() == lines_of(text));
      CHECK_THAT(error.what(), Catch::Contains("scene.toml:") &&
                                   Catch::Contains(std::string(parameter->key)) &&
                                   Catch::Contains("allowed: " + parameter->range.text()));
      ++refused;
    }
  }
  CHECK(refused > 25);
}

TEST_CASE("parameters: what a scene file gives stands where the table finds it", "[engine][value]") {
  const Files files;
  int found = 0;
  for (const ParameterInfo* const parameter : all_parameters()) {
    for (const bool of_pair : {false, true}) {
      if (of_pair && parameter->owner != ParameterOwner::body_or_pair) continue;
      if (!is_key_of_scenes(*parameter)) continue;
      const double value = allowed_value(parameter->range);
      Scene scene = files.read(scene_with(*parameter, value_text(*parameter, value), of_pair));
      const double there = value_in(scene, parameter->kind, of_pair);
      if (std::isnan(there)) continue;  // a coordinate of something, which has no place of its own
      CAPTURE(parameter->key, of_pair);
      CHECK(there == value);
      ++found;
    }
  }
  CHECK(found == 4 * 2 + 5 + 2 + 1 + 19);
}

TEST_CASE("parameters: each number of a body or a state has a slot of its own in a tangent",
          "[engine][value]") {
  std::vector<BodyTangent> bodies;
  for (const MaterialParameter& parameter : k_material_parameters)
    bodies.emplace_back().*parameter.slot = 1.0;
  for (const BodyParameter& parameter : body_parameters()) {
    const auto count = static_cast<int>(component_endings(parameter.components).size());
    for (int i = 0; i < count; ++i) parameter.slot(bodies.emplace_back(), i) = 1.0;
  }
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    for (std::size_t j = 0; j < bodies.size(); ++j)
      CHECK(inner_product(bodies[i], bodies[j]) == (i == j ? 1.0 : 0.0));
  }
  std::vector<StateTangent> states;
  for (const StateParameter& parameter : state_parameters()) {
    for (int i = 0; i < 3; ++i) parameter.slot(states.emplace_back(3), 1, i) = 1.0;
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    for (std::size_t j = 0; j < states.size(); ++j)
      CHECK(states[i].twist[1].dot(states[j].twist[1]) == (i == j ? 1.0 : 0.0));
  }
  JointTangent joint;
  std::set<const double*> slots;
  for (const JointParameter& parameter : joint_parameters())
    CHECK(slots.insert(&parameter.slot(joint)).second);
}

TEST_CASE("parameters: a material moves by what its slot is of", "[engine][derivative]") {
  for (const MaterialParameter& parameter : k_material_parameters) {
    const double value = allowed_value(parameter.range), x = 1e-6;
    double up = value, down = value;
    parameter.move(up, x);
    parameter.move(down, -x);
    CAPTURE(parameter.key);
    CHECK(parameter.slope(value) * (up - down) == Approx(2.0 * x));
  }
}

TEST_CASE("parameters: shapes have a name, a unit and a range for each of their numbers", "[engine][value]") {
  for (const auto& [kind, word] : k_shapes) {
    CAPTURE(word);
    Primitive primitive;
    primitive.kind = kind;
    if (kind == PrimitiveKind::convex_polyhedron) primitive.values.resize(6);
    if (kind == PrimitiveKind::extruded_superquadric) primitive.values.resize(1 + 2 * 3);
    if (kind == PrimitiveKind::padded_polygon) primitive.values.resize(2 * 3);
    const std::vector<ShapeParameter> parameters = shape_parameters(primitive);
    CHECK(parameters.size() == parameter_count(primitive));
    std::set<std::string> names;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      CAPTURE(parameters[i].name);
      CHECK(names.insert(parameters[i].name).second);
      CHECK((parameters[i].unit == "m") == is_length(kind, i));
    }
  }
  Primitive cut;
  cut.kind = PrimitiveKind::extruded_superquadric;
  cut.values.resize(1 + 2 * 2);
  const std::vector<ShapeParameter> of_cut = shape_parameters(cut);
  CHECK(of_cut[5].name == "profile_power");
  CHECK(of_cut[8].name == "angles.1");
  CHECK(of_cut[9].name == "offsets.1");
  Primitive polygon;
  polygon.kind = PrimitiveKind::padded_polygon;
  polygon.values.resize(2 * 3);
  const std::vector<ShapeParameter> of_polygon = shape_parameters(polygon);
  CHECK(of_polygon[0].name == "radius");
  CHECK(of_polygon[1].name == "corners.0.x");
  CHECK(of_polygon[6].name == "corners.2.y");
}

TEST_CASE("parameters: scene files refuse numbers of a shape that are out of the range, with file and line",
          "[engine][value]") {
  const Files files;
  int refused = 0;
  for (const auto& [kind, word] : k_shapes) {
    for (const ShapeKey& key : shape_keys(kind)) {
      const std::string text = scene_with_shape(key, word);
      const InputError error = files.refusal(text);
      CAPTURE(text, error.what());
      CHECK(error.line() == lines_of(text));
      CHECK_THAT(error.what(),
                 Catch::Contains(std::string(key.key)) && Catch::Contains("allowed: " + key.range.text()));
      ++refused;
    }
  }
  CHECK(refused == 23);
}
