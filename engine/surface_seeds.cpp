#include "engine/surface_seeds.h"

#include <algorithm>
#include <cstddef>
#include <numbers>
#include <set>
#include <vector>

#include "engine/dual_norm.h"
#include "engine/osculating_patches.h"

namespace abut {
namespace {

constexpr double k_least_aspect = 0.05;  // of both lengths of a cell
constexpr double k_no_direction = 1e-9;  // relative: no direction of a parallel

/// Unit vector g with dual_q(a g_x, b g_y) along (x, y), by bisection: of flat parts, where normals hardly turn, too.
Vec2<double> dual_direction(const Vec2<double>& x, double a, double b, double q) {
  const Vec2<double> sizes = x.cwiseAbs();
  double low = 0.0, high = 0.5 * std::numbers::pi;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    const DualPoint<double> at(a * std::cos(middle), b * std::sin(middle), q);
    (at.y * sizes.x() < at.x * sizes.y() ? low : high) = middle;
  }
  const double angle = sizes.y() == 0.0 ? 0.0 : sizes.x() == 0.0 ? 0.5 * std::numbers::pi : high;
  return {std::copysign(sizes.x() == 0.0 ? 0.0 : std::cos(angle), x.x()),
          std::copysign(std::sin(angle), x.y())};
}

/// The extents of a vector from a vertex along its parallel and along its meridian [m].
Vec2<double> extents_along(const Vec3<double>& v, const Vec3<double>& vector, double size) {
  Vec3<double> along(-v.y(), v.x(), 0.0);
  along = along.norm() > k_no_direction * size ? Vec3<double>(along.normalized())
                                               : Vec3<double>(Vec3<double>::UnitY());
  const double part = vector.dot(along);
  return {std::abs(part), std::sqrt(std::max(0.0, vector.squaredNorm() - part * part))};
}

/// The largest extents of a vertex' edges.
Vec2<double> cell_of(const Vec3<double>& v, const std::set<int>& neighbours, const Points& vertices_P,
                     double size) {
  Vec2<double> cell = Vec2<double>::Zero();
  for (const int k : neighbours) cell = cell.cwiseMax(extents_along(v, vertices_P.col(k) - v, size));
  return {std::max(cell[0], k_least_aspect * cell[1]), std::max(cell[1], k_least_aspect * cell[0])};
}

/// The outward normal at a vertex v of a seed surface: that whose point of the surface it is. On cones, which have rims, that of the area
/// around it.
Vec3<double> normal_of(const SeedSurface<double>& surface, const Vec3<double>& v,
                       const Vec3<double>& area_vector) {
  const auto& q = surface.parameters;
  const SeedPlace<double> place = seed_place<double>(surface.kind, q, v);
  Vec2<double> l(place.c_x, place.c_y);  // of its horizontal part
  Vec2<double> on_meridian;
  if (surface.kind == PrimitiveKind::superquadric) {
    const double q1 = 2.0 / (2.0 - q[3]), q2 = 2.0 / (2.0 - q[4]), mean_axis = std::sqrt(q[0] * q[1]);
    l = dual_direction(l, q[0], q[1], q2);
    on_meridian = dual_direction({place.r, place.z}, mean_axis, q[2], q1);
    on_meridian.x() *= mean_axis / DualPoint<double>(q[0] * l.x(), q[1] * l.y(), q2).norm;
  } else if (surface.kind == PrimitiveKind::torus) {
    on_meridian = {place.r - place.ring_r, place.z};
  } else {
    on_meridian = {area_vector.head<2>().dot(l), area_vector.z()};
  }
  on_meridian.normalize();
  if (on_meridian.x() < -k_no_direction) {
    on_meridian.x() = -on_meridian.x();
    l = -l;
  }
  // Along the axis, too, it keeps the direction of its parallel.
  Vec3<double> n;
  n << std::max(on_meridian.x(), k_no_direction) * l, on_meridian.y();
  return n;
}

using Neighbours = std::vector<std::set<int>>;

Neighbours neighbours_of(const Body& body) {
  Neighbours neighbours(static_cast<std::size_t>(body.contact_points.cols()));
  for (const Eigen::Vector3i& corners : body.mesh.triangles) {
    for (const int i : corners)
      neighbours[static_cast<std::size_t>(i)].insert(corners.begin(), corners.end());
  }
  return neighbours;
}

/// Those vertices of some that have all their neighbours among them.
std::vector<bool> all_around(const Neighbours& neighbours, const std::vector<bool>& some) {
  std::vector<bool> result;
  for (const std::set<int>& around : neighbours)
    result.push_back(std::all_of(around.begin(), around.end(),
                                 [&](int j) -> bool { return some[static_cast<std::size_t>(j)]; }));
  return result;
}

/// The vertices of a body in the frame of a primitive, and its surface.
struct SeedPrimitive {
  SeedSurface<double> surface;
  Mat3<double> R_PB;
  Points vertices;
  SeedLengths<double> lengths;

  SeedPrimitive(const Body& body, const Primitive& primitive)
      : surface(seed_surface<double>(primitive.kind, primitive.parameters)),
        R_PB(primitive.X_BP.rotation().transpose()),
        vertices(R_PB * (body.contact_points.colwise() - primitive.X_BP.p)),
        lengths(seed_lengths<double>(surface.kind, surface.parameters)) {}

  /// How far a vertex is from the surface, about [m].
  [[nodiscard]] double distance(Eigen::Index i) const {
    const auto& q = surface.parameters;
    const Vec3<double> v = vertices.col(i);
    if (surface.kind == PrimitiveKind::cone) {
      const double r = v.head<2>().norm(), slope = 0.5 * (q[1] - q[0]) / q[2];
      return std::abs(std::max((r - 0.5 * (q[0] + q[1]) - slope * v.z()) / std::hypot(1.0, slope),
                               std::abs(v.z()) - q[2]));
    }
    const SeedPlace<double> place = seed_place<double>(surface.kind, q, v);
    const Vec3<double> axes = surface.kind == PrimitiveKind::superquadric
                                  ? Vec3<double>(q[0], q[1], q[2])
                                  : Vec3<double>(Vec3<double>::Ones());
    const Vec3<double> x(place.r * place.c_x, place.r * place.c_y, place.z);
    return (axes.cwiseProduct(x) - v).norm();
  }
  /// Whether none but some vertices are within one and a half times a vertex' cell: beyond what is added a seed would slide
  /// into the solid, but beyond a cut into the air.
  [[nodiscard]] bool keeps_to(const std::vector<bool>& some, Eigen::Index i, const std::set<int>& neighbours,
                              double size) const {
    constexpr double k_margin = 1.5;
    const Vec3<double> v = vertices.col(i);
    const Vec2<double> cell = k_margin * cell_of(v, neighbours, vertices, size);
    for (int j = 0; j < vertices.cols(); ++j) {
      if (some[static_cast<std::size_t>(j)]) continue;
      const Vec2<double> away = extents_along(v, Vec3<double>(vertices.col(j)) - v, size);
      if (away[0] < cell[0] && away[1] < cell[1]) return false;
    }
    return true;
  }
  void set(const Body& body, Eigen::Index i, const std::set<int>& neighbours, SurfaceSeeds& seeds) const {
    const Vec3<double> v = vertices.col(i);
    seeds.normals.col(i) = normal_of(surface, v, R_PB * body.contact_area_vectors.col(i));
    const Vec2<double> cell = cell_of(v, neighbours, vertices, body.size);
    seeds.cells.col(i) << cell[0] / lengths.parallel, cell[1] / lengths.meridian;
  }
};

/// Whether the parts of a union have seeds on this primitive: not on boxes, whose corners are vertices.
bool is_round_part(const Primitive& primitive) {
  constexpr double k_box = 0.5;  // the larger exponent
  const bool is_superquadric =
      primitive.kind == PrimitiveKind::superquadric || primitive.kind == PrimitiveKind::extruded_superquadric;
  return is_seed_surface(primitive) &&
         !(is_superquadric && std::max(primitive.parameters[3], primitive.parameters[4]) < k_box);
}

constexpr double k_on_primitive = 1e-4;  // of the size: how far a seed may be from the surface that it is on
constexpr double k_near_primitive = 2e-3;  // of the size: and how far its neighbours
constexpr double k_least_round = 0.4;      // part of the area off flat faces that seeds have on round bodies

/// Whether a vertex lies within a flat face.
bool is_within_face(const Body& body, Eigen::Index i, const std::set<int>& neighbours) {
  constexpr double k_flat = 1e-3;  // [rad]
  const Vec3<double> n = body.contact_area_vectors.col(i).normalized();
  return std::all_of(neighbours.begin(), neighbours.end(), [&](int j) {
    const Vec3<double> edge = body.contact_points.col(j) - body.contact_points.col(i);
    return std::abs(edge.dot(n)) <= k_flat * edge.norm();
  });
}

/// Seeds on parts of a union, and on patches; none if most of the surface is neither.
SurfaceSeeds seeds_of_parts(const Body& body) {
  const Eigen::Index points = body.contact_points.cols();
  const Neighbours neighbours = neighbours_of(body);
  SurfaceSeeds seeds;
  seeds.normals = Points::Zero(3, points);
  seeds.cells = Eigen::Matrix2Xd::Ones(2, points);
  seeds.directions = Points::Zero(3, points);
  seeds.radii = Eigen::Matrix2Xd::Zero(2, points);
  seeds.primitives.assign(static_cast<std::size_t>(points), k_no_seed);
  const bool has_cutters = std::any_of(
      body.shape.primitives.begin(), body.shape.primitives.end(),
      [](const Primitive& primitive) { return primitive.operation == PrimitiveOperation::subtract; });
  for (std::size_t k = 0; k < body.shape.primitives.size(); ++k) {
    if (!is_round_part(body.shape.primitives[k])) continue;
    const SeedPrimitive primitive(body, body.shape.primitives[k]);
    const bool is_cut = has_cutters || body.shape.primitives[k].kind == PrimitiveKind::extruded_superquadric;
    std::vector<bool> is_near(static_cast<std::size_t>(points));
    for (Eigen::Index i = 0; i < points; ++i)
      is_near[static_cast<std::size_t>(i)] =
          primitive.distance(i) <= (is_cut ? k_on_primitive : k_near_primitive) * body.size;
    is_near = all_around(neighbours, is_near);
    for (Eigen::Index i = 0; i < points; ++i) {
      if (primitive.distance(i) > k_on_primitive * body.size || !is_near[static_cast<std::size_t>(i)])
        continue;
      const std::set<int>& around = neighbours[static_cast<std::size_t>(i)];
      if (is_cut && !primitive.keeps_to(is_near, i, around, body.size)) continue;
      primitive.set(body, i, around, seeds);
      seeds.primitives[static_cast<std::size_t>(i)] = static_cast<int>(k);
    }
  }
  const std::vector<OsculatingPatch> patches = osculating_patches(body.mesh, body.contact_area_vectors);
  double round = 0.0, all = 0.0;
  for (Eigen::Index i = 0; i < points; ++i) {
    int& primitive = seeds.primitives[static_cast<std::size_t>(i)];
    const OsculatingPatch& patch = patches[static_cast<std::size_t>(i)];
    if (primitive == k_no_seed && patch.is_round) {
      primitive = k_seed_on_patch;
      seeds.normals.col(i) = patch.normal;
      seeds.cells.col(i) = patch.cell;
      seeds.directions.col(i) = patch.direction;
      seeds.radii.col(i) = patch.radii;
    }
    if (is_within_face(body, i, neighbours[static_cast<std::size_t>(i)])) continue;
    const double area = body.contact_areas[static_cast<std::size_t>(i)];
    all += area;
    if (primitive != k_no_seed) round += area;
  }
  return round > 0.0 && round >= k_least_round * all ? seeds : SurfaceSeeds{};
}

}  // namespace

bool is_seed_surface(const Primitive& primitive) {
  const auto& q = primitive.parameters;
  switch (primitive.kind) {
    case PrimitiveKind::superquadric:
    case PrimitiveKind::extruded_superquadric:
      return primitive.operation == PrimitiveOperation::add &&
             std::max(q[3], q[4]) <= k_largest_seed_exponent;
    case PrimitiveKind::sphere:
    case PrimitiveKind::torus:
    case PrimitiveKind::cone:
      return primitive.operation == PrimitiveOperation::add;
    default:
      return false;
  }
}

SurfaceSeeds surface_seeds(const Body& body) {
  const auto points = body.contact_points.cols();
  if (body.contact_radius > 0.0 || points == 0 || body.contact_area_vectors.cols() != points) return {};
  const Primitive& first = body.shape.primitives.front();
  if (body.shape.primitives.size() > 1 || !has_seeds(first.kind) || !is_seed_surface(first))
    return seeds_of_parts(body);
  const Neighbours neighbours = neighbours_of(body);
  const SeedPrimitive primitive(body, first);
  SurfaceSeeds seeds;
  seeds.normals.resize(3, points);
  seeds.cells.resize(2, points);
  for (Eigen::Index i = 0; i < points; ++i)
    primitive.set(body, i, neighbours[static_cast<std::size_t>(i)], seeds);
  return seeds;
}

}  // namespace abut
