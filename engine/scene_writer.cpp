#include "engine/scene_writer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>
#include <string_view>
#include <system_error>

#include <spdlog/fmt/fmt.h>
#include <toml++/toml.h>

#include "engine/atomic_file.h"
#include "engine/check.h"
#include "engine/input_error.h"
#include "engine/scene_io.h"

namespace abut {
namespace fs = std::filesystem;

namespace {

/// The keys of scenes and assets whose values are paths, relative to the folder of their file.
constexpr std::array<std::string_view, 2> k_path_keys{"asset", "mesh"};

toml::table parse(const fs::path& file) {
  try {
    return toml::parse(read_file(file));
  } catch (const toml::parse_error& error) {
    throw InputError(file.string(), static_cast<int>(error.source().begin.line),
                     fmt::format("not valid TOML: {}", error.description()));
  }
}

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

/// The table under a key, made if there is none.
toml::table& table_in(toml::table& parent, std::string_view key) {
  if (!parent.contains(key)) parent.insert(key, toml::table());
  return *parent.get(key)->as_table();  // a table, or the scene would not have been read
}

fs::path moved(const fs::path& path, const fs::path& from, const fs::path& to) {
  if (path.is_absolute()) return path;
  const fs::path target = fs::weakly_canonical(from / path), relative = target.lexically_relative(to);
  return relative.empty() ? target : relative;
}

}  // namespace

std::string scene_text_at(const fs::path& scene_file, const SceneStart& start, const fs::path& folder) {
  const Scene scene = read_scene(scene_file);
  const std::size_t n = scene.model.bodies.size();
  require(start.state.X_WB.size() == n && start.state.V_WB.size() == n,
          fmt::format("a state of {} bodies for the {} of '{}'", start.state.X_WB.size(), n,
                      scene_file.string()));
  toml::table root = parse(scene_file);

  const fs::path from = fs::weakly_canonical(fs::absolute(scene_file)).parent_path(),
                 to = fs::weakly_canonical(fs::absolute(folder));
  if (from != to) each_path(root, [&](std::string& path) { path = moved(path, from, to).generic_string(); });

  root.insert_or_assign("name", scene.name);
  toml::table& simulation = table_in(root, "simulation");
  simulation.insert_or_assign("time_step", start.time_step);
  simulation.insert_or_assign("steps", start.steps);
  simulation.insert_or_assign("start_time", start.state.time);
  for (std::size_t b = 0; b < n; ++b) {
    toml::table& body = *root["body"].as_array()->get(b)->as_table();
    const Pose<double>&X_WB = start.state.X_WB[b], &initial = scene.initial.X_WB[b];
    if (!same(X_WB.q.coeffs(), initial.q.coeffs()) || !same(X_WB.p, initial.p)) {
      set_pose(body, X_WB, scene.model.bodies[b].p_BA);
    }
    const Vec6<double>& V_WB = start.state.V_WB[b];
    if (!same(V_WB, scene.initial.V_WB[b])) {
      body.insert_or_assign("angular_velocity", array_of(Vec3<double>(V_WB.head<3>())));
      body.insert_or_assign("linear_velocity", array_of(Vec3<double>(V_WB.tail<3>())));
    }
  }

  std::ostringstream text;
  std::istringstream comment(start.comment);
  for (std::string line; std::getline(comment, line);) text << "# " << line << '\n';
  text << toml::toml_formatter{root} << '\n';
  return text.str();
}

void write_scene_at(const fs::path& scene, const SceneStart& start, const fs::path& to) {
  std::error_code ignored;
  if (fs::equivalent(scene, to, ignored)) {
    throw InputError(to.string(), 0, "is the scene itself, which is not overwritten");
  }
  write_file(to, scene_text_at(scene, start, fs::absolute(to).parent_path()));
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
    toml::table table = parse(files[i]);
    each_path(table, [&](const std::string& path) {
      std::error_code ignored;
      const fs::path target = folder / path;
      add(fs::is_directory(target, ignored) ? target / "body.toml" : target);
    });
  }
  return files;
}

}  // namespace abut
