/// Convex solids against exact projection: boxes as superquadrics, and polyhedra as smooth maxima of planes.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "accuracy_table.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/convex_hull.h"
#include "engine/random.h"
#include "samples.h"
#include "test_bodies.h"

namespace abut::accuracy {
namespace {

/// What the nearest point lies on.
enum class Feature { face, edge_or_corner };
constexpr std::array k_features{Feature::face, Feature::edge_or_corner};
constexpr std::array k_feature_names{"face", "edge or corner"};

/// An intersection of half-spaces n.x <= offset, n of unit length.
struct Planes {
  Points normals;
  std::vector<double> offsets;
};

Planes planes_of_box(const Vec3<double>& half) {
  Planes planes;
  planes.normals = Points::Zero(3, 6);
  for (int i = 0; i < 6; ++i) {
    planes.normals(i / 2, i) = i % 2 == 0 ? 1.0 : -1.0;
    planes.offsets.push_back(half[i / 2]);
  }
  return planes;
}

/// The hull of points on a ball of diameter 1.
Planes planes_of_hull(int points, Random& random) {
  Points on_ball(3, points);
  for (int i = 0; i < points; ++i) on_ball.col(i) = 0.5 * random.unit_vector();
  const ConvexHull hull = convex_hull(on_ball);
  return {hull.normals, hull.offsets};
}

/// The nearest point of the solid, by Dykstra's alternating projections.
/// @see  Boyle, Dykstra (1986), "A method for finding projections onto the intersection of convex sets in
///       Hilbert spaces".
Vec3<double> projection(const Planes& planes, const Vec3<double>& x) {
  constexpr int k_rounds = 10000;
  const auto count = static_cast<std::size_t>(planes.normals.cols());
  std::vector<double> corrections(count, 0.0);
  Vec3<double> y = x;
  for (int round = 0; round < k_rounds; ++round) {
    double moved = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      const Vec3<double> n = planes.normals.col(static_cast<Eigen::Index>(i));
      const double correction = std::max(0.0, n.dot(y) + corrections[i] - planes.offsets[i]);
      y += (corrections[i] - correction) * n;
      moved = std::max(moved, std::abs(corrections[i] - correction));
      corrections[i] = correction;
    }
    if (moved < 1e-14) break;
  }
  return y;
}

Feature feature_at(const Planes& planes, const Vec3<double>& on_surface) {
  int touched = 0;
  for (Eigen::Index i = 0; i < planes.normals.cols(); ++i) {
    const double distance =
        planes.normals.col(i).dot(on_surface) - planes.offsets[static_cast<std::size_t>(i)];
    touched += distance > -1e-9 ? 1 : 0;
  }
  return touched <= 1 ? Feature::face : Feature::edge_or_corner;
}

/// Points of a polyhedron's surface with a direction in which nothing of it is nearer than they are: those of
/// points on a ball around it, and their projections.
struct Projected {
  std::vector<Vec3<double>> points, directions;
  std::vector<Feature> features;

  Projected(const Planes& planes, int count, Random& random) {
    for (int i = 0; i < count; ++i) {
      const Vec3<double> far = 1.5 * random.unit_vector(), near = projection(planes, far);
      points.push_back(near);
      directions.push_back((far - near).normalized());
      features.push_back(feature_at(planes, near));
    }
  }
};

void add_rows(const std::string& name, const ShapeSdf& sdf, const Projected& places, Table& table) {
  for (const double gap : {1e-3, 1e-2, 1e-1}) {
    for (std::size_t kind = 0; kind < k_features.size(); ++kind) {
      Samples errors, angles;
      for (std::size_t i = 0; i < places.points.size(); ++i) {
        if (places.features[i] != k_features[kind]) continue;
        const SdfNormal<double> found =
            sdf.evaluate_normal<double>(places.points[i] + gap * places.directions[i]);
        errors.add(std::abs(found.distance - gap));
        angles.add(angle_between(found.normal, places.directions[i]));
      }
      table.add_row({name, gap, k_feature_names[kind], static_cast<double>(errors.size()), errors.median(),
                     errors.quantile(0.95), angles.median(), angles.quantile(0.95)});
    }
  }
}

}  // namespace

Table measure_convex(bool quick) {
  const int count = quick ? 300 : 4000;
  Table table(
      {"solid", "gap", "nearest to a", "points", "error median", "error 95 %", "angle median", "angle 95 %"});
  Random random(4);
  const Vec3<double> half(0.5, 0.4, 0.3);
  const Planes box = planes_of_box(half);
  const Projected at_box(box, count, random);
  for (const double exponent : {0.05, 0.1, 0.2}) {
    Primitive primitive;
    primitive.parameters = {half.x(), half.y(), half.z(), exponent, exponent};
    add_rows(fmt::format("superquadric box, exponents {}", exponent), ShapeSdf({.primitives = {primitive}}),
             at_box, table);
  }
  constexpr double k_smoothing = 0.002;
  const auto polyhedron = [](const Planes& planes, double smoothing) {
    Primitive primitive;
    primitive.kind = PrimitiveKind::convex_polyhedron;
    primitive.parameters = {smoothing};
    primitive.directions = planes.normals;
    primitive.values = planes.offsets;
    return ShapeSdf({.primitives = {primitive}});
  };
  const Planes hull = planes_of_hull(quick ? 12 : 20, random);
  const Projected at_hull(hull, count, random);
  add_rows("polyhedron of the box", polyhedron(box, k_smoothing), at_box, table);
  add_rows(fmt::format("polyhedron of {} planes", hull.offsets.size()), polyhedron(hull, k_smoothing),
           at_hull, table);
  return table;
}

}  // namespace abut::accuracy
