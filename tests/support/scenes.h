/// Small scenes made by a program, for tests of contact and motion. Lengths in m, masses in kg.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "collision/sdf/shape_sdf.h"
#include "engine/body_builder.h"
#include "engine/config.h"
#include "engine/law_settings.h"
#include "engine/mesh_shapes.h"
#include "engine/model.h"
#include "engine/random.h"
#include "engine/state.h"
#include "tests/support/cases.h"

namespace abut::test {

/// A model with a state of it.
struct TestScene {
  Model model;
  State state;

  /// Adds a body and returns its number.
  int add(Body body, const Pose<double>& X_WB = {}, const Vec6<double>& V_WB = Vec6<double>::Zero()) {
    model.bodies.push_back(std::move(body));
    state.X_WB.push_back(X_WB);
    state.V_WB.push_back(V_WB);
    return model.body_count() - 1;
  }
  [[nodiscard]] Body& body(int i) { return model.bodies[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Pose<double>& X_WB(int i) { return state.X_WB[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Vec6<double>& V_WB(int i) { return state.V_WB[static_cast<std::size_t>(i)]; }

  /// One friction coefficient for all: that of every pair, then.
  void set_friction(double friction) {
    for (Body& b : model.bodies) b.material.friction = friction;
  }
};

inline Pose<double> pose_at(const Vec3<double>& p,
                            const Vec3<double>& rotation_vector = Vec3<double>::Zero()) {
  return {exp_quaternion<double>(rotation_vector), p};
}

inline Vec6<double> moving_at(const Vec3<double>& v) { return stack<double>(Vec3<double>::Zero(), v); }

// Bodies ---------------------------------------------------------------------------------------------------

/// A box of the given mass with edges rounded by 5 % of its shortest half extent.
inline Body box_of_mass(const Vec3<double>& half_extents, double mass, int subdivisions = 4) {
  Body body = make_box(half_extents, 0.05 * half_extents.minCoeff(), subdivisions, 1000.0);
  set_mass(body, mass);
  return body;
}

inline Body sphere_of_mass(double radius, double mass) {
  Body body = make_sphere(radius, 1000.0);
  set_mass(body, mass);
  return body;
}

/// A body with any shape that is star-shaped about its origin: 10 4^n + 2 vertices of its mesh on the
/// surface, found by bisection along rays.
inline Body star_shaped_body(Shape shape, double mass, int subdivisions = 2) {
  TriangleMesh mesh = sphere_mesh(1.0, subdivisions);
  double extent = 0.0;
  for (const Primitive& primitive : shape.primitives) {
    const auto& q = primitive.parameters;
    extent = std::max(extent, primitive.X_BP.p.norm() + 2.0 * Vec3<double>(q[0], q[1], q[2]).norm());
  }
  if (shape.union_smoothing == 0.0) shape.union_smoothing = k_union_smoothing_per_size * extent;
  const ShapeSdf sdf(shape);
  for (int i = 0; i < mesh.vertex_count(); ++i) {
    const Vec3<double> ray = mesh.vertices.col(i);
    double inside = 0.0, outside = extent;
    for (int k = 0; k < 60; ++k) {
      const double middle = 0.5 * (inside + outside);
      (sdf.distance<double>(middle * ray) < 0.0 ? inside : outside) = middle;
    }
    mesh.vertices.col(i) = outside * ray;
  }
  return make_body("star", std::move(shape), std::move(mesh), Mass{mass});
}

inline Primitive superquadric(const Vec3<double>& axes, double eps1, double eps2,
                              const Pose<double>& X_BP = {}) {
  return {
      PrimitiveKind::superquadric, PrimitiveOperation::add, {axes.x(), axes.y(), axes.z(), eps1, eps2}, X_BP};
}

inline Body superquadric_of_mass(const Vec3<double>& axes, double eps1, double eps2, double mass,
                                 int subdivisions = 2) {
  Shape shape;
  shape.primitives = {superquadric(axes, eps1, eps2)};
  return star_shaped_body(std::move(shape), mass, subdivisions);
}

/// A superquadric with a thinner, longer one through it: a union, hence not convex.
inline Body cross_of_mass(const Vec3<double>& axes, double eps1, double eps2, double mass,
                          int subdivisions = 2) {
  Shape shape;
  shape.primitives = {superquadric(axes, eps1, eps2),
                      superquadric({0.5 * axes.x(), 0.5 * axes.y(), 1.4 * axes.z()}, 0.7, 0.8,
                                   pose_at({0.1 * axes.x(), 0.2 * axes.y(), 0.0}))};
  return star_shaped_body(std::move(shape), mass, subdivisions);
}

/// A box on the outside that is no rounded box but a union of three: a channel along y, open at the top. The
/// floor of the channel is z = 0; the walls, `wall` thick, rise to `height` at x = +-half_width.
inline Body fixed_channel(double half_width, double height, double half_length, double wall) {
  BodyDescription description;
  description.name = "channel";
  description.fixed = true;
  const double edge = 0.1 * wall, outer = half_width + wall;
  const auto block = [&](double x0, double x1, double z0, double z1) {
    Primitive p;
    p.kind = PrimitiveKind::rounded_box;
    p.parameters = {0.5 * (x1 - x0), half_length, 0.5 * (z1 - z0), edge};
    p.X_BP.p = {0.5 * (x0 + x1), 0.0, 0.5 * (z0 + z1)};
    return p;
  };
  description.shape.primitives = {block(-outer, outer, -wall, 0.0), block(-outer, -half_width, -wall, height),
                                  block(half_width, outer, -wall, height)};
  Points corners(3, 8);
  int i = 0;
  for (const double x : {-outer, outer}) {
    for (const double y : {-half_length, half_length}) {
      for (const double z : {-wall, height}) corners.col(i++) << x, y, z;
    }
  }
  description.contact_points = corners;
  return make_body(description);
}

// Scenes ---------------------------------------------------------------------------------------------------

/// A floor (body 0) through the origin whose slope falls by `angle` [rad] towards +x.
inline TestScene floor_scene(double friction = 0.5, double angle = 0.0) {
  TestScene scene;
  const int floor = scene.add(make_half_space(), pose_at(Vec3<double>::Zero(), {0.0, angle, 0.0}));
  scene.body(floor).material.friction = friction;
  return scene;
}

/// A box (body 1) flat on such a floor, moving down the slope at `speed`.
inline TestScene box_on_floor(const Body& box, const Vec3<double>& half_extents, double friction,
                              double angle = 0.0, double speed = 0.0) {
  TestScene scene = floor_scene(friction, angle);
  const Vec3<double> normal(std::sin(angle), 0.0, std::cos(angle)),
      down(std::cos(angle), 0.0, -std::sin(angle));
  scene.add(box, pose_at(half_extents.z() * normal, {0.0, angle, 0.0}), moving_at(speed * down));
  scene.set_friction(friction);
  return scene;
}

/// `count` cubes (bodies 1 ... count) on each other on a floor, just touching.
/// Of so many bodies, to be changed.
inline Control zero_wrenches(int bodies) {
  return {std::vector<Vec6<double>>(static_cast<std::size_t>(bodies), Vec6<double>::Zero()), {}};
}

inline TestScene stack_scene(int count, double edge, double mass, double friction = 0.5,
                             int subdivisions = 4) {
  TestScene scene = floor_scene(friction);
  const Body cube = box_of_mass(Vec3<double>::Constant(0.5 * edge), mass, subdivisions);
  for (int i = 0; i < count; ++i) scene.add(cube, pose_at({0.0, 0.0, (i + 0.5) * edge}));
  scene.set_friction(friction);
  return scene;
}

/// What random_contact_scene may do.
struct RandomSceneOptions {
  int min_bodies = 1, max_bodies = 3;  ///< moving ones
  bool gravity = true;
  bool aligned = false;            ///< boxes with the floor's axes
  double speed = 0.5, spin = 2.0;  ///< of every component [m/s, rad/s]
  std::vector<Body>
      instead_of_boxes{};           ///< one of these at random in the place of each box, if there are any
  std::vector<Body> more_bodies{};  ///< each drawn as often as a box, a sphere, ...
  bool only_more_bodies = false;    ///< no boxes, spheres, ... but these
};

/// Boxes, spheres, capsules, superquadrics and unions of them, of 8 to 24 cm, on top of each other on a
/// tilted floor (body 0), close enough to touch at once; friction 0 to 1 (the last body's exactly 0 in a
/// tenth of the scenes), half of them compliant, with damping and dissipation times.
inline TestScene random_contact_scene(Random& random, const RandomSceneOptions& options = {}) {
  TestScene scene = floor_scene();
  if (!options.gravity) scene.model.gravity.setZero();
  scene.X_WB(0).q = exp_quaternion<double>(
      options.aligned ? Vec3<double>(Vec3<double>::Zero())
                      : Vec3<double>(random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1), 0.0));
  const int bodies = options.min_bodies + static_cast<int>(random.integer(static_cast<std::uint64_t>(
                                              options.max_bodies - options.min_bodies + 1)));
  const std::uint64_t own_kinds = options.only_more_bodies ? 0 : options.aligned ? 1 : 5;
  double top = 0.0;
  for (int i = 0; i < bodies; ++i) {
    const double size = random.uniform(0.04, 0.12), mass = random.uniform(0.2, 1.8);
    const Vec3<double> half = size * Vec3<double>(random.uniform(0.7, 1.3), random.uniform(0.7, 1.3), 1.0);
    const auto kind = random.integer(own_kinds + options.more_bodies.size());
    Body body =
        kind >= own_kinds ? options.more_bodies[kind - own_kinds]
        : kind == 0       ? (options.instead_of_boxes.empty()
                                 ? box_of_mass(half, mass)
                                 : options.instead_of_boxes[random.integer(options.instead_of_boxes.size())])
        : kind == 1       ? sphere_of_mass(size, mass)
        : kind == 2       ? make_capsule(0.6 * size, 0.8 * size, 1000.0)
        : kind == 3 ? superquadric_of_mass(half, random.uniform(0.2, 1.2), random.uniform(0.2, 1.2), mass)
                    : cross_of_mass(half, random.uniform(0.2, 0.8), random.uniform(0.3, 1.0), mass);
    set_mass(body, mass);
    Pose<double> X = pose_at({random.uniform(-0.03, 0.03), random.uniform(-0.03, 0.03), 0.0});
    if (!options.aligned) X.q = random.quaternion();
    double low = 0.0, high = 0.0;
    for (Eigen::Index k = 0; k < body.contact_points.cols(); ++k) {
      const double z = (X.q * Vec3<double>(body.contact_points.col(k))).z();
      low = std::min(low, z - body.contact_radius);
      high = std::max(high, z + body.contact_radius);
    }
    X.p.z() = top - low - random.uniform(0.0, 0.002);
    top = X.p.z() + high - (options.aligned ? 0.0 : 0.15 * (high - low));
    Vec6<double> V;
    for (int j = 0; j < 6; ++j) V[j] = random.uniform(-1.0, 1.0) * (j < 3 ? options.spin : options.speed);
    V[5] -= 0.2;
    body.linear_damping = random.uniform(0.0, 0.2);
    body.angular_damping = random.uniform(0.0, 0.4);
    scene.add(std::move(body), X, V);
  }
  for (Body& body : scene.model.bodies) {
    body.material.friction = random.uniform(0.0, 1.0);
    body.material.dissipation_time = random.uniform(0.002, 0.05);
    body.material.stiffness = random.uniform() < 0.5 ? k_infinity : std::pow(10.0, random.uniform(3.5, 5.0));
  }
  if (random.uniform() < 0.1) scene.model.bodies.back().material.friction = 0.0;
  return scene;
}

/// The scene without what a law ignores of its materials, and hence refuses.
inline TestScene without_ignored(TestScene scene, ContactLaw law) {
  for (const LawSetting& setting : law_settings()) {
    if (!setting.is_of_material || setting_use(setting.key, law) == SettingUse::honoured) continue;
    for (Body& body : scene.model.bodies) body.material.*setting.of_body = Material().*setting.of_body;
    for (PairOverride& pair : scene.model.pair_overrides)
      pair.*setting.of_pair = PairOverride().*setting.of_pair;
  }
  return scene;
}

[[nodiscard]] inline StateTangent random_tangent(Random& random, int bodies) {
  StateTangent tangent(bodies);
  for (Vec6<double>& x : tangent.pose) x = random_vector<6>(random);
  for (Vec6<double>& x : tangent.twist) x = random_vector<6>(random);
  return tangent;
}

using abut::inner_product;

}  // namespace abut::test
