#include "engine/surface_seeds.h"

#include <algorithm>
#include <cstddef>
#include <numbers>
#include <set>
#include <vector>

#include "engine/dual_norm.h"

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

/// The extents of a vertex' edges along its parallel and along its meridian [m].
Vec2<double> cell_of(const Vec3<double>& v, const std::set<int>& neighbours, const Points& vertices_P,
                     double size) {
  Vec3<double> along(-v.y(), v.x(), 0.0);
  along = along.norm() > k_no_direction * size ? Vec3<double>(along.normalized())
                                               : Vec3<double>(Vec3<double>::UnitY());
  Vec2<double> cell = Vec2<double>::Zero();
  for (const int k : neighbours) {
    const Vec3<double> edge = vertices_P.col(k) - v;
    const double part = edge.dot(along);
    cell[0] = std::max(cell[0], std::abs(part));
    cell[1] = std::max(cell[1], std::sqrt(std::max(0.0, edge.squaredNorm() - part * part)));
  }
  return {std::max(cell[0], k_least_aspect * cell[1]), std::max(cell[1], k_least_aspect * cell[0])};
}

/// The outward normal at a vertex v: that whose point of the surface it is. On cones, which have rims, that of the area
/// around it.
Vec3<double> normal_of(const Primitive& primitive, const Vec3<double>& v, const Vec3<double>& area_vector) {
  const auto& q = primitive.parameters;
  const SeedPlace<double> place = seed_place<double>(primitive.kind, q, v);
  Vec2<double> l(place.c_x, place.c_y);  // of its horizontal part
  Vec2<double> on_meridian;
  if (primitive.kind == PrimitiveKind::superquadric) {
    const double q1 = 2.0 / (2.0 - q[3]), q2 = 2.0 / (2.0 - q[4]), mean_axis = std::sqrt(q[0] * q[1]);
    l = dual_direction(l, q[0], q[1], q2);
    on_meridian = dual_direction({place.r, place.z}, mean_axis, q[2], q1);
    on_meridian.x() *= mean_axis / DualPoint<double>(q[0] * l.x(), q[1] * l.y(), q2).norm;
  } else if (primitive.kind == PrimitiveKind::torus) {
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

}  // namespace

SurfaceSeeds surface_seeds(const Body& body) {
  const auto points = body.contact_points.cols();
  if (body.shape.primitives.size() != 1 || !has_seeds(body.shape.primitives.front().kind) ||
      body.contact_radius > 0.0 || body.contact_area_vectors.cols() != points)
    return {};
  const Primitive& primitive = body.shape.primitives.front();
  const Mat3<double> R_PB = primitive.X_BP.rotation().transpose();
  const Points vertices = R_PB * (body.contact_points.colwise() - primitive.X_BP.p);
  std::vector<std::set<int>> neighbours(static_cast<std::size_t>(points));
  for (const Eigen::Vector3i& corners : body.mesh.triangles) {
    for (const int i : corners)
      neighbours[static_cast<std::size_t>(i)].insert(corners.begin(), corners.end());
  }
  const SeedLengths<double> lengths = seed_lengths<double>(primitive.kind, primitive.parameters);
  SurfaceSeeds seeds;
  seeds.normals.resize(3, points);
  seeds.cells.resize(2, points);
  for (Eigen::Index i = 0; i < points; ++i) {
    const Vec3<double> v = vertices.col(i);
    seeds.normals.col(i) = normal_of(primitive, v, R_PB * body.contact_area_vectors.col(i));
    const Vec2<double> cell = cell_of(v, neighbours[static_cast<std::size_t>(i)], vertices, body.size);
    seeds.cells.col(i) << cell[0] / lengths.parallel, cell[1] / lengths.meridian;
  }
  return seeds;
}

}  // namespace abut
