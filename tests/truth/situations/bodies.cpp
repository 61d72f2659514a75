#include "tests/truth/situations/bodies.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "collision/fitting/shape_surface.h"
#include "engine/body_builder.h"
#include "engine/mesh_shapes.h"
#include "engine/primitive_builder.h"

namespace abut::truth {

namespace {

constexpr double k_density = 1000.0;     // [kg/m^3]
constexpr double k_edge_per_half = 0.1;  // edge radius of a rounded box over its smallest half extent

Points box_normals() {
  Points normals(3, 6);
  normals << 1, -1, 0, 0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 0, 0, 1, -1;
  return normals;
}

Primitive scaled(Primitive primitive, double length) {
  for (std::size_t i = 0; i < parameter_count(primitive); ++i) {
    if (is_length(primitive.kind, i)) shape_parameter(primitive, primitive.kind, i) *= length;
  }
  primitive.X_BP.p *= length;
  return primitive;
}

/// The surface that a scene would get, of a shape at unit length.
const ShapeSurface& unit_surface(const std::vector<Primitive>& unit) {
  static std::mutex mutex;
  static const SurfaceMaker make_surface = surface_maker();
  static std::map<std::vector<double>, ShapeSurface> surfaces;
  std::vector<double> key;
  for (const Primitive& part : unit) {
    key.push_back(static_cast<double>(part.kind));
    key.push_back(static_cast<double>(part.operation));
    key.insert(key.end(), part.parameters.begin(), part.parameters.end());
    key.insert(key.end(), part.values.begin(), part.values.end());
    key.insert(key.end(), {part.X_BP.p.x(), part.X_BP.p.y(), part.X_BP.p.z(), part.X_BP.q.w(),
                           part.X_BP.q.x(), part.X_BP.q.y(), part.X_BP.q.z()});
  }
  const std::scoped_lock lock(mutex);
  const auto found = surfaces.find(key);
  if (found != surfaces.end()) return found->second;
  Shape shape;
  shape.primitives = unit;
  return surfaces.emplace(std::move(key), make_surface(shape)).first->second;
}

/// A kind of flat_kinds() at unit length, lying on z = -height.
struct Flat {
  Primitive primitive;
  double height, half_width;
};

Primitive box_primitive(const std::string& kind, const Vec3<double>& half) {
  if (kind == "box") return primitive(PrimitiveKind::rounded_box, {half.x(), half.y(), half.z(), 0.0});
  if (kind == "rounded_box")
    return primitive(PrimitiveKind::rounded_box,
                     {half.x(), half.y(), half.z(), k_edge_per_half * half.minCoeff()});
  if (kind == "polyhedron")
    return make_convex_polyhedron(box_normals(),
                                  {half.x(), half.x(), half.y(), half.y(), half.z(), half.z()});
  if (kind == "superquadric")
    return primitive(PrimitiveKind::superquadric, {half.x(), half.y(), half.z(), 0.05, 0.05});
  if (kind == "extrusion") {
    constexpr double pi = std::numbers::pi;
    return make_extruded_superquadric({2.0 * half.x(), 2.0 * half.y(), half.z()}, 0.05, 1.0,
                                      {0.0, 0.5 * pi, pi, 1.5 * pi},
                                      {half.x(), half.y(), half.x(), half.y()});
  }
  throw std::invalid_argument("no such box: " + kind);
}

Flat flat_primitive(const std::string& kind) {
  if (kind == "cylinder")
    return {primitive(PrimitiveKind::superquadric, {0.8, 0.8, 0.6, 0.05, 1.0}), 0.6, 0.8};
  if (kind == "drum") return {primitive(PrimitiveKind::cone, {0.8, 0.8, 0.6, 0.003}), 0.6, 0.8};
  if (kind == "cone") return {primitive(PrimitiveKind::cone, {0.8, 0.0, 0.6, 0.003}), 0.6, 0.8};
  if (kind == "torus") return {primitive(PrimitiveKind::torus, {0.7, 0.3}), 0.3, 0.7};
  if (kind == "padded_polygon") {
    const std::vector<Vec2<double>> corners{{-0.7, -0.6}, {0.7, -0.6}, {0.7, 0.6}, {-0.7, 0.6}};
    return {make_padded_polygon(corners, 0.3), 0.3, 0.7};
  }
  return {box_primitive(kind, {1.0, 0.8, 0.6}), 0.6, 1.0};
}

}  // namespace

Primitive primitive(PrimitiveKind kind, const std::array<double, 5>& parameters, const Vec3<double>& at,
                    PrimitiveOperation operation) {
  Primitive result;
  result.kind = kind;
  result.operation = operation;
  result.parameters = parameters;
  result.X_BP.p = at;
  return result;
}

Body fixed(Body body) {
  body.fixed = true;
  return body;
}

Eigen::Quaterniond along_y() {
  return exp_quaternion<double>(Vec3<double>(-0.5 * std::numbers::pi, 0.0, 0.0));
}
Eigen::Quaterniond along_x() {
  return exp_quaternion<double>(Vec3<double>(0.0, 0.5 * std::numbers::pi, 0.0));
}

double Actor::inertia_ratio() const {
  const Vec3<double> y = q.conjugate() * Vec3<double>(0.0, 1.0, 0.0);
  return y.dot(body.inertia * y) / (body.mass * height * height);
}

const std::vector<std::string>& box_kinds() {
  static const std::vector<std::string> kinds{"box", "rounded_box", "polyhedron", "superquadric",
                                              "extrusion"};
  return kinds;
}

const std::vector<std::string>& flat_kinds() {
  static const std::vector<std::string> kinds = [] {
    std::vector<std::string> all = box_kinds();
    all.insert(all.end(), {"cylinder", "drum", "cone", "torus", "padded_polygon"});
    return all;
  }();
  return kinds;
}

const std::vector<std::string>& rolling_kinds() {
  static const std::vector<std::string> kinds{"sphere", "capsule",   "cylinder",   "drum",
                                              "torus",  "ellipsoid", "point_cloud"};
  return kinds;
}

const std::vector<std::string>& ball_kinds() {
  static const std::vector<std::string> kinds{"sphere", "ellipsoid", "point_cloud"};
  return kinds;
}

const std::vector<std::string>& plane_kinds() {
  static const std::vector<std::string> kinds{"box", "rounded_box", "polyhedron"};
  return kinds;
}

double foot_radius(const std::string& kind, const Vec3<double>& half) {
  return kind == "rounded_box" ? k_edge_per_half * half.minCoeff() : 0.0;
}

Body scaled_body(const std::string& name, const std::vector<Primitive>& unit, double length) {
  BodyDescription description;
  description.name = name;
  for (const Primitive& part : unit) description.shape.primitives.push_back(scaled(part, length));
  if (!has_closed_form(description.shape)) {
    const ShapeSurface& surface = unit_surface(unit);
    description.mesh = surface.mesh;
    description.mesh.vertices *= length;
    description.shape.union_smoothing = length * surface.union_smoothing;
  }
  description.mass_or_density = Density{k_density};
  return make_body(description);
}

Actor flat_actor(const std::string& kind, double L) {
  const Flat flat = flat_primitive(kind);
  Actor actor;
  actor.body = scaled_body(kind, {flat.primitive}, L);
  actor.height = L * flat.height - actor.body.p_BA.z();
  actor.half_width = L * flat.half_width;
  return actor;
}

Actor rolling_actor(const std::string& kind, double L) {
  Actor actor;
  actor.height = L;
  actor.q = along_y();
  if (kind == "sphere" || kind == "point_cloud")
    actor.body = ball_body(kind, L);
  else if (kind == "capsule")
    actor.body = capsule_body(L, 0.5 * L);
  else if (kind == "torus")
    actor.body = torus_body(0.7 * L, 0.3 * L);
  else if (kind == "ellipsoid") {
    actor.body = scaled_body(kind, {primitive(PrimitiveKind::superquadric, {0.7, 0.7, 1.0, 1.0, 1.0})}, L);
    actor.height = 0.7 * L;
  } else {
    actor.body = cylinder_body(kind, L, 0.5 * L);
  }
  return actor;
}

Body box_body(const std::string& kind, const Vec3<double>& half) {
  const double length = half.maxCoeff();
  return scaled_body(kind, {box_primitive(kind, half / length)}, length);
}

Body cylinder_body(const std::string& kind, double radius, double half_length) {
  const double length = std::max(radius, half_length), r = radius / length, c = half_length / length;
  if (kind == "cylinder")
    return scaled_body(kind, {primitive(PrimitiveKind::superquadric, {r, r, c, 0.05, 1.0})}, length);
  if (kind == "drum")
    return scaled_body(kind, {primitive(PrimitiveKind::cone, {r, r, c, 0.004 * std::min(r, c)})}, length);
  throw std::invalid_argument("no such cylinder: " + kind);
}

Body sphere_body(double radius) { return make_sphere(radius, k_density); }
Body ball_body(const std::string& kind, double radius) {
  if (kind == "sphere") return sphere_body(radius);
  if (kind == "ellipsoid")
    return scaled_body(kind, {primitive(PrimitiveKind::superquadric, {1.0, 1.0, 1.0, 1.0, 1.0})}, radius);
  if (kind == "point_cloud") {
    // The surface of a cloud lies a little outside of its points where it is curved: by 4.7 % of 642 on a sphere.
    const Primitive unit = make_oriented_point_cloud(sphere_mesh(1.0, 3));
    static const double unit_radius = scaled_body(kind, {unit}, 1.0).contact_points.colwise().norm().mean();
    return scaled_body(kind, {unit}, radius / unit_radius);
  }
  throw std::invalid_argument("no such ball: " + kind);
}
Body capsule_body(double radius, double half_length) { return make_capsule(radius, half_length, k_density); }
Body torus_body(double radius, double tube_radius) {
  return scaled_body("torus", {primitive(PrimitiveKind::torus, {1.0, tube_radius / radius})}, radius);
}

void add_ground(test::TestScene& scene, const std::string& kind, const Ground& ground, double L) {
  const auto add = [&](Body body, const Pose<double>& X) {
    const int b = scene.add(fixed(std::move(body)), X);
    scene.body(b).material.friction = ground.friction;
  };
  if (kind == "half_space") {
    add(make_half_space(), ground.pose(0.0, 0.0));
  } else if (kind == "seam") {
    const Vec3<double> half(1.15 * L, 4.0 * L, L);
    for (int i = -3; i <= 5; ++i) add(box_body("box", half), ground.pose(2.3 * L * i, -L));
  } else {
    add(box_body(kind, {12.0 * L, 6.0 * L, 2.0 * L}), ground.pose(0.0, -2.0 * L));
  }
}

}  // namespace abut::truth
