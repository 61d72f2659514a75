#include "tests/support/mujoco_peer/mujoco_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "engine/convex_hull.h"
#include "engine/mass_properties.h"
#include "engine/mesh_shapes.h"

namespace abut::test {

namespace {

constexpr std::size_t k_parts = 18;        // convex parts of a coarse body
constexpr std::size_t k_part_points = 30;  // of their hulls
constexpr double k_convex = 5e-3;  // by so much of the volume may the hull of a convex body's mesh exceed it
constexpr double k_sharp = 0.1;    // largest exponent eps1 of a superquadric that is called a cylinder

/// 2 a b c eps1 eps2 B(eps1/2 + 1, eps1) B(eps2/2, eps2/2) [m^3].
double superquadric_volume(const std::array<double, 5>& p) {
  return 2.0 * p[0] * p[1] * p[2] * p[3] * p[4] * std::beta(0.5 * p[3] + 1.0, p[3]) *
         std::beta(0.5 * p[4], 0.5 * p[4]);
}

/// Points of the surface, far from each other in units of the semi-axes: of a grid of angles, always the one
/// that is farthest from those there are, beginning with the one farthest from the centre.
Points surface_points(const std::array<double, 5>& parameters) {
  constexpr int k_latitudes = 24, k_longitudes = 48;  // multiples of 8: corners are among them
  const auto power = [](double x, double exponent) {
    return std::copysign(std::pow(std::abs(x), exponent), x);
  };
  const double eps1 = parameters[3], eps2 = parameters[4];
  std::vector<Vec3<double>> grid;
  for (int i = 0; i <= k_latitudes; ++i) {
    const double latitude = std::numbers::pi * (static_cast<double>(i) / k_latitudes - 0.5);
    for (int j = 0; j < k_longitudes; ++j) {
      const double longitude = 2.0 * std::numbers::pi * j / k_longitudes;
      const double ring = power(std::cos(latitude), eps1);
      grid.emplace_back(ring * power(std::cos(longitude), eps2), ring * power(std::sin(longitude), eps2),
                        power(std::sin(latitude), eps1));
    }
  }
  std::vector<double> nearest(grid.size());
  std::transform(grid.begin(), grid.end(), nearest.begin(),
                 [](const Vec3<double>& p) { return p.squaredNorm(); });
  Points points(3, k_part_points);
  for (Eigen::Index k = 0; k < points.cols(); ++k) {
    const auto farthest =
        static_cast<std::size_t>(std::max_element(nearest.begin(), nearest.end()) - nearest.begin());
    const Vec3<double> point = grid[farthest];
    for (std::size_t i = 0; i < grid.size(); ++i) {
      const double squared = (grid[i] - point).squaredNorm();
      nearest[i] = k == 0 ? squared : std::min(nearest[i], squared);
    }
    points.col(k) = point.cwiseProduct(Vec3<double>(parameters[0], parameters[1], parameters[2]));
  }
  return points;
}

/// Points of the surface of a ball that is swept over a solid (the mesh of a rounded box is that of the box inside).
Points swept(const ConvexHull& solid, double radius) {
  const Points ball = sphere_mesh(1.0, 1).vertices;
  Points directions(3, ball.cols() + solid.normals.cols());
  directions << ball, solid.normals;
  Points points(3, solid.vertices.cols() * directions.cols());
  for (Eigen::Index i = 0; i < solid.vertices.cols(); ++i)
    points.middleCols(i * directions.cols(), directions.cols()) =
        (radius * directions).colwise() + Vec3<double>(solid.vertices.col(i));
  return convex_hull(points).vertices;
}

std::string box_text(const std::array<double, 5>& p) {
  return fmt::format("type=\"box\" size=\"{} {} {}\"", p[0], p[1], p[2]);
}

/// Type and size of a primitive of which MuJoCo has the kind, empty if it has not.
std::string own_kind(const Primitive& primitive) {
  const std::array<double, 5>& p = primitive.parameters;
  const auto cylinder = [](double radius, double half_length) {
    return fmt::format("type=\"cylinder\" size=\"{} {}\"", radius, half_length);
  };
  switch (primitive.kind) {
    case PrimitiveKind::half_space:
      return "type=\"plane\" size=\"0 0 1\"";
    case PrimitiveKind::sphere:
      return fmt::format("type=\"sphere\" size=\"{}\"", p[0]);
    case PrimitiveKind::capsule:
      return fmt::format("type=\"capsule\" size=\"{} {}\"", p[0], p[1]);
    case PrimitiveKind::rounded_box:
      return p[3] == 0.0 ? box_text(p) : "";
    case PrimitiveKind::superquadric:
      if (p[3] == 1.0 && p[4] == 1.0)
        return fmt::format("type=\"ellipsoid\" size=\"{} {} {}\"", p[0], p[1], p[2]);
      return p[0] == p[1] && p[3] <= k_sharp && p[4] == 1.0 ? cylinder(p[0], p[2]) : "";
    case PrimitiveKind::cone:
      return p[0] == p[1] ? cylinder(p[0], p[2]) : "";
    case PrimitiveKind::convex_polyhedron:
    case PrimitiveKind::oriented_point_cloud:
    case PrimitiveKind::extruded_superquadric:
    case PrimitiveKind::torus:
    case PrimitiveKind::padded_polygon:
      break;
  }
  return "";
}

}  // namespace

std::string vector_text(const Vec3<double>& v) { return fmt::format("{} {} {}", v.x(), v.y(), v.z()); }

std::string pose_text(const Pose<double>& X) {
  return fmt::format("pos=\"{}\" quat=\"{} {} {} {}\"", vector_text(X.p), X.q.w(), X.q.x(), X.q.y(), X.q.z());
}

std::vector<std::string> MujocoGeoms::of(const Body& body, double plane_box) {
  const std::vector<Primitive>& primitives = body.shape.primitives;
  if (primitives.size() == 1 && primitives[0].kind == PrimitiveKind::half_space && plane_box > 0.0) {
    const Pose<double> X_PG{Eigen::Quaterniond::Identity(), {0.0, 0.0, -plane_box}};
    return {box_text({plane_box, plane_box, plane_box}) + " " + pose_text(primitives[0].X_BP * X_PG)};
  }
  if (shapes_ == MujocoShapes::coarse) return coarse_geoms(body);
  std::vector<std::string> geoms;
  for (const Primitive& primitive : primitives) {
    if (primitive.operation != PrimitiveOperation::add)
      throw std::invalid_argument(body.name + ": MuJoCo subtracts no primitives");
    const std::string kind = own_kind(primitive);
    if (!kind.empty()) geoms.push_back(kind + " " + pose_text(primitive.X_BP));
  }
  if (geoms.size() == primitives.size()) return geoms;
  if (primitives.size() == 1 && primitives[0].kind == PrimitiveKind::convex_polyhedron)
    return {hull_of_points(polyhedron_vertices(primitives[0].directions, primitives[0].values)) + " " +
            pose_text(primitives[0].X_BP)};
  const ConvexHull hull = convex_hull(body.mesh.vertices);
  const double volume = mass_properties(body.mesh, 1.0).volume,
               hull_volume = mass_properties({hull.vertices, hull.triangles}, 1.0).volume;
  if (hull_volume > (1.0 + k_convex) * volume)
    throw std::invalid_argument(body.name +
                                ": MuJoCo takes the convex hull of a mesh, and this is not convex");
  const bool is_rounded = primitives.size() == 1 && primitives[0].kind == PrimitiveKind::rounded_box;
  return {hull_of_points(is_rounded ? swept(hull, primitives[0].parameters[3]) : hull.vertices)};
}

std::vector<std::string> MujocoGeoms::coarse_geoms(const Body& body) {
  std::vector<const Primitive*> parts;
  for (const Primitive& primitive : body.shape.primitives) {
    if (primitive.operation != PrimitiveOperation::add)
      throw std::invalid_argument(body.name + ": MuJoCo subtracts no primitives");
    parts.push_back(&primitive);
  }
  while (parts.size() > k_parts) {
    parts.erase(std::min_element(parts.begin(), parts.end(), [](const Primitive* a, const Primitive* b) {
      return superquadric_volume(a->parameters) < superquadric_volume(b->parameters);
    }));
  }
  std::vector<std::string> geoms;
  for (const Primitive* part : parts) {
    std::string text;
    if (part->kind == PrimitiveKind::superquadric) {
      text = hull_of_points(surface_points(part->parameters));
    } else {
      text = part->kind == PrimitiveKind::rounded_box ? box_text(part->parameters) : own_kind(*part);
      if (text.empty())
        throw std::invalid_argument(body.name + ": this kind of primitive is not translated for MuJoCo");
    }
    geoms.push_back(text + " " + pose_text(part->X_BP));
  }
  return geoms;
}

std::string MujocoGeoms::hull_of_points(const Points& points) {
  std::string vertices;
  for (Eigen::Index i = 0; i < points.cols(); ++i) vertices += vector_text(points.col(i)) + " ";
  const auto [entry, is_new] = mesh_names_.emplace(vertices, fmt::format("mesh{}", mesh_names_.size()));
  if (is_new) meshes_ += fmt::format("<mesh name=\"{}\" vertex=\"{}\"/>\n", entry->second, vertices);
  return fmt::format("type=\"mesh\" mesh=\"{}\"", entry->second);
}

}  // namespace abut::test
