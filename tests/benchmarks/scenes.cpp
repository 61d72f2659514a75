#include "scenes.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "collision/manifold/contact_detector.h"
#include "engine/body_builder.h"
#include "engine/body_io.h"
#include "engine/lie.h"
#include "engine/random.h"

namespace abut::benchmarks {
namespace {

constexpr int k_poses = 100;
constexpr std::uint64_t k_seed = 1;
constexpr double k_nearest = 0.25, k_farthest = 0.75;  // distance of the centres, by the size

std::filesystem::path assets() { return std::filesystem::path(ABUT_SOURCE_DIR) / "assets"; }

PoseSet make_colliding_armadillos() {
  PoseSet set;
  const Body armadillo = read_body(assets() / "bodies" / "armadillo");
  for (const char* name : {"A", "B"}) {
    set.model.bodies.push_back(armadillo);
    set.model.bodies.back().name = name;
  }
  const ContactDetector detector(set.model, ContactConfig());
  DetectorScratch scratch;
  ContactManifold manifold;
  Random random(k_seed);
  while (set.X_WB.size() < k_poses) {
    PosePair X_WB;
    X_WB[0].q = random.quaternion();
    X_WB[1].q = random.quaternion();
    const Vec3<double> direction = random.unit_vector();
    X_WB[1].p = random.uniform(k_nearest, k_farthest) * armadillo.size * direction;
    detector.detect(X_WB, {}, scratch, manifold);
    const bool overlap = std::any_of(manifold.contacts.begin(), manifold.contacts.end(),
                                     [](const Contact& contact) { return contact.signed_distance < 0.0; });
    if (overlap) set.X_WB.push_back(X_WB);
  }
  return set;
}

void add(Body body, const std::string& name, const Pose<double>& X_WB, Scene& scene) {
  body.name = name;
  scene.model.bodies.push_back(std::move(body));
  scene.initial.X_WB.push_back(X_WB);
  scene.initial.V_WB.push_back(Vec6<double>::Zero());
}

/// A floor with four walls, `half_width` from the middle [m].
Scene bin(const std::string& name, double half_width) {
  Scene scene;
  scene.name = name;
  scene.config.steps = 1000;
  add(make_half_space(), "floor", {}, scene);
  for (int side = 0; side < 4; ++side) {  // the normal, z, turned to point inwards
    const double angle = 0.5 * std::numbers::pi * side;
    const Vec3<double> inwards(-std::cos(angle), -std::sin(angle), 0.0);
    Pose<double> X_WB;
    X_WB.q = shortest_rotation(Vec3<double>::UnitZ(), inwards);
    X_WB.p = -half_width * inwards;
    add(make_half_space(), fmt::format("wall {}", side + 1), X_WB, scene);
  }
  return scene;
}

}  // namespace

Scene read_asset_scene(const std::string& name) { return read_scene(assets() / "scenes" / (name + ".toml")); }

Scene box_pile() {
  constexpr int k_layers = 4, k_side = 5;
  constexpr double k_spacing = 0.1, k_height = 0.18, k_bin = 0.25;  // [m]
  Scene scene = bin("box_pile", k_bin);
  const Body box = read_body(assets() / "bodies" / "box");
  Random random(k_seed);
  for (int k = 0; k < k_layers * k_side * k_side; ++k) {
    const int row = k / k_side % k_side, column = k % k_side, layer = k / (k_side * k_side);
    Pose<double> X_WB;
    X_WB.q = random.quaternion();
    X_WB.p = Vec3<double>(k_spacing * (column - 2), k_spacing * (row - 2), k_height * (layer + 0.6));
    add(box, fmt::format("box {}", k + 1), X_WB, scene);
  }
  return scene;
}

Scene interlocked_armadillos() {
  Scene scene = bin("interlocked_armadillos", 0.11);
  const Body armadillo = read_body(assets() / "bodies" / "armadillo");
  Pose<double> X_WB;
  X_WB.p = {0.0, 0.0, 0.15};
  add(armadillo, "lower", X_WB, scene);
  X_WB.p = {0.02, 0.0, 0.35};
  X_WB.q = exp_quaternion<double>(Vec3<double>(0.2, 2.9, 0.3));
  add(armadillo, "upper", X_WB, scene);
  return scene;
}

Scene box_stack_of_corners() {
  Scene scene = read_asset_scene("box_stack");
  for (Body& body : scene.model.bodies) {
    if (body.fixed) continue;
    const auto& size = body.shape.primitives[0].parameters;
    Body corners = make_box({size[0], size[1], size[2]}, size[3], 1, body.mass / body.volume);
    corners.name = body.name;
    corners.material = body.material;
    body = corners;
  }
  return scene;
}

Scene read_benchmark_scene(const std::string& name) {
  if (name == "box_pile") return box_pile();
  if (name == "box_stack_of_corners") return box_stack_of_corners();
  if (name == "interlocked_armadillos") return interlocked_armadillos();
  return read_asset_scene(name);
}

const PoseSet& colliding_armadillos() {
  static const PoseSet set = make_colliding_armadillos();
  return set;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

std::string Hash::text() const { return text(hash_); }

std::string Hash::text(std::uint64_t hash) { return fmt::format("hash {:016x}", hash); }

}  // namespace abut::benchmarks
