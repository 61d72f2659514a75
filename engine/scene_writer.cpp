#include "engine/scene_writer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <sstream>
#include <string_view>
#include <system_error>

#include <spdlog/fmt/fmt.h>

#include "engine/atomic_file.h"
#include "engine/body_io.h"
#include "engine/check.h"
#include "engine/config_fields.h"
#include "engine/control.h"
#include "engine/input_error.h"
#include "engine/joint_geometry.h"
#include "engine/parameters.h"
#include "engine/scene_io.h"
#include "engine/toml_parse.h"

namespace abut {
namespace fs = std::filesystem;

namespace {

/// The keys of scenes and assets whose values are paths, relative to the folder of their file.
constexpr std::array<std::string_view, 4> k_path_keys{"asset", "mesh", "visual", "file"};

/// visit(value) for each path in the table and all below it.
template <typename Visit>
void each_path(toml::node& node, const Visit& visit) {
  if (toml::table* const table = node.as_table()) {
    for (auto&& [key, value] : *table) {
      const bool is_path = std::find(k_path_keys.begin(), k_path_keys.end(), key.str()) != k_path_keys.end();
      if (is_path && value.is_string()) {
        visit(value.as_string()->get());
      } else {
        each_path(value, visit);
      }
    }
  } else if (toml::array* const array = node.as_array()) {
    for (toml::node& element : *array) each_path(element, visit);
  }
}

template <typename Coefficients>
bool same(const Coefficients& a, const Coefficients& b) {
  return (a.array() == b.array()).all();
}

/// A quaternion whose normalisation, done when it is read, gives q; q itself where there is none nearby.
Quat<double> orientation_to_read(const Quat<double>& q) {
  constexpr int k_tries = 64;
  for (int i = 0; i < k_tries; ++i) {
    const int ulps = i % 2 == 0 ? i / 2 : -(i + 1) / 2;
    const double scale = 1.0 + ulps * std::numeric_limits<double>::epsilon();
    const Quat<double> scaled(scale * q.w(), scale * q.x(), scale * q.y(), scale * q.z());
    if (same(scaled.normalized().coeffs(), q.coeffs())) return scaled;
  }
  return q;
}

/// The position of A from which reading computes the one of B, to the last bit where there is one.
Vec3<double> position_to_read(const Pose<double>& X_WB, const Vec3<double>& p_BA) {
  const Pose<double> X_AB{Quat<double>::Identity(), -p_BA};
  Pose<double> X_WA{X_WB.q, X_WB * p_BA};
  constexpr int k_corrections = 4;
  for (int i = 0; i < k_corrections; ++i) X_WA.p += X_WB.p - (X_WA * X_AB).p;
  return X_WA.p;
}

/// The x from which reading computes `sum` as x + summand, to the last bit where there is one.
template <typename Vector>
Vector summand_to_read(const Vector& sum, const Vector& summand) {
  Vector x = sum - summand;
  constexpr int k_corrections = 4;
  for (int i = 0; i < k_corrections; ++i) x += sum - (x + summand);
  return x;
}

template <typename Values>
toml::array array_of(const Values& values) {
  toml::array array;
  for (const double x : values) array.push_back(x);
  return array;
}

void set_pose(toml::table& body, const Pose<double>& X_WB, const Vec3<double>& p_BA) {
  const Quat<double> q = orientation_to_read(X_WB.q);
  const Vec3<double> p = position_to_read({q.normalized(), X_WB.p}, p_BA);
  body.erase("rotation_vector");
  body.insert_or_assign("position", array_of(p));
  body.insert_or_assign("orientation", array_of(std::array<double, 4>{q.w(), q.x(), q.y(), q.z()}));
}

/// Velocities of the scene are those besides the oscillation, which reading adds at the time of the start.
///
/// @param before  as the table has it; null: not known
void set_twist(toml::table& body, const Oscillation& oscillation, double time_before,
               const Vec6<double>* before, double time, const Vec6<double>& V_WB) {
  const bool oscillates = oscillation.frequency != 0.0;
  if (before != nullptr && same(V_WB, *before) && (!oscillates || time == time_before)) return;
  const Vec6<double> V = oscillates ? summand_to_read<Vec6<double>>(V_WB, oscillation.twist(time)) : V_WB;
  body.insert_or_assign("angular_velocity", array_of(Vec3<double>(V.head<3>())));
  body.insert_or_assign("linear_velocity", array_of(Vec3<double>(V.tail<3>())));
}

/// The table under a key, made if there is none.
toml::table& table_in(toml::table& parent, std::string_view key) {
  if (!parent.contains(key)) parent.insert(key, toml::table());
  return *parent.get(key)->as_table();  // a table, or the scene would not have been read
}

// Numbers that differ ---------------------------------------------------------------------------------------

/// Assets to write bodies from, by body: paths as they are to stand in the scene.
using Assets = std::map<int, std::string>;

void set_number(toml::table& table, std::string_view key, double before, double after) {
  const bool is_same = before == after || (std::isnan(before) && std::isnan(after));
  if (!is_same) table.insert_or_assign(key, after);
}

void set_vector(toml::table& table, std::string_view key, const Vec3<double>& before,
                const Vec3<double>& after) {
  if (!same(before, after)) table.insert_or_assign(key, array_of(after));
}

bool same_shape(const Shape& a, const Shape& b) {
  return std::equal(a.primitives.begin(), a.primitives.end(), b.primitives.begin(), b.primitives.end(),
                    [](const Primitive& p, const Primitive& q) {
                      return p.parameters == q.parameters && p.values == q.values &&
                             same(p.X_BP.p, q.X_BP.p) && same(p.X_BP.q.coeffs(), q.X_BP.q.coeffs());
                    });
}

/// Whether a body is the other one with another mass at most, in proportion to which its inertia is.
bool same_geometry(const Body& before, const Body& after) {
  const Mat3<double> scaled = before.inertia * (after.mass / before.mass);
  constexpr double k_rounding = 1e-12;
  return same(before.p_BA, after.p_BA) && same_shape(before.shape, after.shape) &&
         (scaled - after.inertia).norm() <= k_rounding * scaled.norm();
}

/// The keys of a body that stand in its asset, or in the scene in place of one.
constexpr std::array<std::string_view, 13> k_asset_keys{
    "primitive",      "mesh",    "visual",          "mass",    "density",       "volume",
    "center_of_mass", "inertia", "union_smoothing", "contact", "distance_mode", "selected_vertices",
    "selected_edges"};

void set_body(toml::table& table, const Body& before, const Body& after, const std::string* asset) {
  for (const MaterialParameter& parameter : k_material_parameters) {
    set_number(table, parameter.key, before.material.*parameter.of_body, after.material.*parameter.of_body);
  }
  set_number(table, "linear_damping", before.linear_damping, after.linear_damping);
  set_number(table, "angular_damping", before.angular_damping, after.angular_damping);
  set_vector(table, "torque", before.external_wrench.head<3>(), after.external_wrench.head<3>());
  set_vector(table, "force", before.external_wrench.tail<3>(), after.external_wrench.tail<3>());
  if (asset != nullptr) {
    for (const std::string_view key : k_asset_keys) table.erase(key);
    table.insert_or_assign("asset", *asset);
  } else if (before.mass != after.mass) {
    table.erase("density");
    table.insert_or_assign("mass", after.mass);
    const Mat3<double>& I = after.inertia;
    if (table.contains("inertia")) {
      table.insert_or_assign(
          "inertia", array_of(std::array<double, 6>{I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)}));
    }
  }
}

/// The tables of an array of tables, made if there is none.
toml::array& tables_in(toml::table& parent, std::string_view key) {
  if (!parent.contains(key)) parent.insert(key, toml::array());
  return *parent.get(key)->as_array();
}

void set_pairs(toml::table& root, const Scene& before, const Scene& after) {
  for (const PairOverride& pair : after.model.pair_overrides) {
    const auto name = [&](int body) { return after.model.bodies[static_cast<std::size_t>(body)].name; };
    const auto& known = before.model.pair_overrides;
    const auto place = std::find_if(known.begin(), known.end(), [&](const PairOverride& other) {
      return other.body_A == pair.body_A && other.body_B == pair.body_B;
    });
    toml::array& tables = tables_in(root, "pair");
    if (place == known.end())
      tables.push_back(toml::table{{"bodies", toml::array{name(pair.body_A), name(pair.body_B)}}});
    const auto index =
        static_cast<std::size_t>(place - known.begin());  // overrides stand in the file's order
    toml::table& table = *tables.get(place == known.end() ? tables.size() - 1 : index)->as_table();
    const PairOverride old = place == known.end() ? PairOverride() : *place;
    for (const MaterialParameter& parameter : k_material_parameters)
      set_number(table, parameter.key, old.*parameter.of_pair, pair.*parameter.of_pair);
  }
}

void set_pushes(toml::table& root, const Scene& after) {
  root.erase("push");
  for (const Push& push : after.pushes) {
    tables_in(root, "push")
        .push_back(toml::table{{"body", after.model.bodies[static_cast<std::size_t>(push.body)].name},
                               {"from", push.from},
                               {"until", push.until},
                               {"force", array_of(Vec3<double>(push.wrench.tail<3>()))},
                               {"torque", array_of(Vec3<double>(push.wrench.head<3>()))}});
  }
}

/// Replaces all commands where any differs; those that were read from files become numbers in the scene.
void set_commands(toml::table& root, const Scene& before, const Scene& after) {
  const auto same_table = [](const CommandTable& a, const CommandTable& b) {
    return a.motor == b.motor && a.is_linear == b.is_linear && a.times == b.times && a.values == b.values;
  };
  if (std::equal(before.commands.begin(), before.commands.end(), after.commands.begin(), after.commands.end(),
                 same_table))
    return;
  root.erase("command");
  const std::vector<std::string> motors = motor_names(after.model);
  for (const CommandTable& command : after.commands) {
    toml::table table{{"joint", motors[static_cast<std::size_t>(command.motor)]},
                      {"times", array_of(command.times)},
                      {"values", array_of(command.values)}};
    if (command.is_linear) table.insert("interpolation", "linear");
    tables_in(root, "command").push_back(std::move(table));
  }
}

void set_settings(toml::table& simulation, const Scene& before, const Scene& after) {
  set_vector(simulation, "gravity", before.model.gravity, after.model.gravity);
  StepConfig old = before.config.step, now = after.config.step;
  for (const StepConfigField& field : step_config_fields()) {
    std::visit(
        [&](const auto& get) {
          if (get(old) == get(now)) return;
          if constexpr (std::is_same_v<decltype(get(now)), int&>) {
            simulation.insert_or_assign(field.key, static_cast<std::int64_t>(get(now)));
          } else {
            simulation.insert_or_assign(field.key, get(now));
          }
        },
        field.get);
  }
}

/// Numbers of joints, couplings and actuators, in their tables; of motors, in those of actuators or under `motor`.
template <typename Owner>
void set_joint_numbers(toml::table& table, double& (*JointParameter::*place)(Owner&), bool is_actuator,
                       const Owner& before, const Owner& after) {
  for (const JointParameter& parameter : joint_parameters()) {
    if (parameter.*place == nullptr) continue;
    const double old = (parameter.*place)(for_reading(before)), now = (parameter.*place)(for_reading(after));
    if (old == now || (std::isnan(old) && std::isnan(now))) continue;
    const bool is_apart = parameter.owner == ParameterOwner::motor && !is_actuator;
    (is_apart ? table_in(table, "motor") : table).insert_or_assign(parameter.key, now);
  }
}

void set_joints(toml::table& root, const Model& before, const Model& after) {
  const auto table = [&](std::string_view key, std::size_t i) -> toml::table& {
    return *root[key].as_array()->get(i)->as_table();
  };
  for (std::size_t j = 0; j < after.joints.size(); ++j)
    set_joint_numbers(table("joint", j), &JointParameter::of_joint, false, before.joints[j], after.joints[j]);
  const std::size_t couplings = root["coupling"].is_array() ? root["coupling"].as_array()->size() : 0;
  for (std::size_t c = 0; c < after.couplings.size(); ++c) {
    const bool is_actuator = c >= couplings;
    set_joint_numbers(is_actuator ? table("actuator", c - couplings) : table("coupling", c),
                      &JointParameter::of_coupling, is_actuator, before.couplings[c], after.couplings[c]);
  }
}

void set_scene(toml::table& root, const Scene& before, const Scene& after, const Assets& assets) {
  set_settings(table_in(root, "simulation"), before, after);
  for (std::size_t b = 0; b < before.model.bodies.size(); ++b) {
    const Body &old = before.model.bodies[b], &now = after.model.bodies[b];
    const auto asset = assets.find(static_cast<int>(b));
    require(
        asset != assets.end() || old.fixed || same_geometry(old, now),
        fmt::format("body '{}' has another shape, inertia or centre of mass: it takes an asset", old.name));
    set_body(*root["body"].as_array()->get(b)->as_table(), old, now,
             asset == assets.end() ? nullptr : &asset->second);
  }
  set_pairs(root, before, after);
  set_joints(root, before.model, after.model);
  set_pushes(root, after);
  set_commands(root, before, after);
}

/// A joint's place on each of its bodies, in place of one in the world: that is where the bodies were.
void set_frames(toml::table& table, const Joint& joint, const Model& model) {
  const auto frame = [&](int body, const Pose<double>& X_BJ) {
    const Vec3<double> p_BA =
        body < 0 ? Vec3<double>(Vec3<double>::Zero()) : model.bodies[static_cast<std::size_t>(body)].p_BA;
    const Quat<double> q = orientation_to_read(X_BJ.q);
    return toml::table{{"position", array_of(summand_to_read(X_BJ.p, p_BA))},
                       {"orientation", array_of(std::array<double, 4>{q.w(), q.x(), q.y(), q.z()})}};
  };
  for (const std::string_view key : {"position", "axis", "orientation"}) table.erase(key);
  table.insert_or_assign("frame_A", frame(joint.body_A, joint.X_AJ));
  table.insert_or_assign("frame_B", frame(joint.body_B, joint.X_BJ));
  if (joint.kind == JointKind::distance) table.insert_or_assign("length", joint.length);
}

/// Removes what moves bodies from where their tables put them. Whether there was any.
bool take_joint_starts(toml::table& root) {
  toml::array* const joints = root["joint"].as_array();
  bool found = false;
  for (std::size_t j = 0; joints != nullptr && j < joints->size(); ++j) {
    for (const std::string_view key : {"coordinate", "rate"})
      found = joints->get(j)->as_table()->erase(key) > 0 || found;
  }
  return found;
}

/// The coordinate of a hinge where its poses do not tell it.
void set_turns(toml::table& table, const Model& model, int j, const State& state) {
  const Joint& joint = model.joints[static_cast<std::size_t>(j)];
  if (joint.kind != JointKind::hinge) return;
  const double q = joint_coordinate(model, j, state);
  const bool is_told = std::abs(q) <= std::numbers::pi && q >= joint.lower && q <= joint.upper;
  if (!is_told) table.insert_or_assign("coordinate", q);
}

/// Pushes that begin with the scene go on to begin where that did.
void keep_push_starts(toml::table& root, double start_time) {
  toml::array* const pushes = root["push"].as_array();
  if (pushes == nullptr) return;
  for (toml::node& push : *pushes) {
    toml::table& table = *push.as_table();
    if (!table.contains("from")) table.insert("from", start_time);
  }
}

fs::path moved(const fs::path& path, const fs::path& from, const fs::path& to) {
  if (path.is_absolute()) return path;
  const fs::path target = fs::weakly_canonical(from / path), relative = target.lexically_relative(to);
  return relative.empty() ? target : relative;
}

}  // namespace

namespace {

std::string scene_text(const fs::path& scene_file, const SceneStart& start, const fs::path& folder,
                       const Assets& assets) {
  const Scene scene = read_scene(scene_file, start.make_surface);
  const std::size_t n = scene.model.bodies.size();
  require(start.state.X_WB.size() == n && start.state.V_WB.size() == n,
          fmt::format("a state of {} bodies for the {} of '{}'", start.state.X_WB.size(), n,
                      scene_file.string()));
  toml::table root = parse_toml(scene_file);

  const fs::path from = fs::weakly_canonical(fs::absolute(scene_file)).parent_path(),
                 to = fs::weakly_canonical(fs::absolute(folder));
  if (from != to) each_path(root, [&](std::string& path) { path = moved(path, from, to).generic_string(); });

  root.insert_or_assign("name", scene.name);
  toml::table& simulation = table_in(root, "simulation");
  simulation.insert_or_assign("time_step", start.time_step);
  simulation.insert_or_assign("steps", start.steps);
  simulation.insert_or_assign("start_time", start.state.time);
  if (start.state.time != scene.initial.time) keep_push_starts(root, scene.initial.time);
  if (start.changed != nullptr) set_scene(root, scene, *start.changed, assets);
  const Model& model = start.changed != nullptr ? start.changed->model : scene.model;
  const bool joints_move = take_joint_starts(root);
  std::vector<bool> has_moved(n);
  for (std::size_t b = 0; b < n; ++b) {
    toml::table& body = *root["body"].as_array()->get(b)->as_table();
    const Pose<double>&X_WB = start.state.X_WB[b], &initial = scene.initial.X_WB[b];
    has_moved[b] = joints_move || !same(X_WB.q.coeffs(), initial.q.coeffs()) || !same(X_WB.p, initial.p) ||
                   !same(model.bodies[b].p_BA, scene.model.bodies[b].p_BA);
    if (has_moved[b]) set_pose(body, X_WB, model.bodies[b].p_BA);
    set_twist(body, model.bodies[b].oscillation, scene.initial.time,
              joints_move ? nullptr : &scene.initial.V_WB[b], start.state.time, start.state.V_WB[b]);
  }

  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    const bool is_of_moved = (joint.body_A >= 0 && has_moved[static_cast<std::size_t>(joint.body_A)]) ||
                             has_moved[static_cast<std::size_t>(joint.body_B)];
    toml::table& table = *root["joint"].as_array()->get(j)->as_table();
    if (is_of_moved) set_frames(table, joint, model);
    set_turns(table, model, static_cast<int>(j), start.state);
  }

  std::ostringstream text;
  std::istringstream comment(start.comment);
  for (std::string line; std::getline(comment, line);) text << "# " << line << '\n';
  text << toml::toml_formatter{root} << '\n';
  return text.str();
}

/// Words of a file system's from a name.
std::string file_name_of(std::string name) {
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
  }
  return name;
}

/// Writes the bodies of `after` that the scene's own keys cannot say.
Assets write_assets(const Scene& before, const Scene& after, const fs::path& to) {
  Assets assets;
  const fs::path folder = to.stem().string() + "_bodies";
  for (std::size_t b = 0; b < after.model.bodies.size(); ++b) {
    const Body& body = after.model.bodies[b];
    if (body.fixed ? same_shape(before.model.bodies[b].shape, body.shape)
                   : same_geometry(before.model.bodies[b], body))
      continue;
    const fs::path asset = folder / fmt::format("{}_{}", b, file_name_of(body.name));
    std::error_code ignored;  // where it matters, writing says so
    fs::create_directories(to.parent_path() / folder, ignored);
    write_body(to.parent_path() / asset, body, "");
    assets.emplace(static_cast<int>(b), asset.generic_string());
  }
  return assets;
}

}  // namespace

std::string scene_text_at(const fs::path& scene, const SceneStart& start, const fs::path& folder) {
  return scene_text(scene, start, folder, {});
}

void write_scene_at(const fs::path& scene, const SceneStart& start, const fs::path& to) {
  std::error_code ignored;
  if (fs::equivalent(scene, to, ignored)) {
    throw InputError(to.string(), 0, "is the scene itself, which is not overwritten");
  }
  const fs::path target = fs::absolute(to);
  Assets assets;
  if (start.changed != nullptr)
    assets = write_assets(read_scene(scene, start.make_surface), *start.changed, target);
  write_file(target, scene_text(scene, start, target.parent_path(), assets));
}

std::vector<fs::path> scene_files(const fs::path& scene) {
  std::vector<fs::path> files;
  const auto add = [&](const fs::path& file) {
    const fs::path canonical = fs::weakly_canonical(fs::absolute(file));
    if (std::find(files.begin(), files.end(), canonical) == files.end()) files.push_back(canonical);
  };
  add(scene);
  for (std::size_t i = 0; i < files.size(); ++i) {  // grows on the way
    if (files[i].extension() != ".toml") continue;
    const fs::path folder = files[i].parent_path();
    toml::table table = parse_toml(files[i]);
    each_path(table, [&](const std::string& path) {
      std::error_code ignored;
      const fs::path target = folder / path;
      add(fs::is_directory(target, ignored) ? target / "body.toml" : target);
    });
  }
  return files;
}

}  // namespace abut
