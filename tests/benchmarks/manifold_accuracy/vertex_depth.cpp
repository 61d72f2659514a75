/// Distances of points inside a body, in each mode of superquadrics, against the nearest point of the
/// surface.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "accuracy_table.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/random.h"
#include "samples.h"
#include "test_bodies.h"

namespace abut::accuracy {
namespace {

constexpr double k_at_depth = 0.98;  ///< points nearer to another part of the surface are left out
constexpr double k_wrong = 0.1;      ///< relative error from which on a distance counts as wrong

/// The surface {d = 0} of a body, as many points of it.
class ZeroLevel {
 public:
  ZeroLevel(const Body& body, int count) : sdf_(body.shape) {
    const Surface mesh(body.mesh);
    Random random(7);
    for (int i = 0; i < count; ++i) points_.push_back(projected(mesh.random_place(random).point));
  }

  [[nodiscard]] const std::vector<Vec3<double>>& points() const { return points_; }
  [[nodiscard]] Vec3<double> normal(const Vec3<double>& x) const {
    return sdf_.evaluate<double>(x).gradient.normalized();
  }

  /// Distance [m] of x from the surface: of the best of the points, moved along the surface to where they are
  /// nearest.
  [[nodiscard]] double distance(const Vec3<double>& x) const {
    constexpr std::size_t k_starts = 4;
    std::array<std::pair<double, std::size_t>, k_starts> nearest;
    nearest.fill({std::numeric_limits<double>::infinity(), 0});
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const double square = (points_[i] - x).squaredNorm();
      if (!(square < nearest.back().first)) continue;
      nearest.back() = {square, i};
      std::sort(nearest.begin(), nearest.end());
    }
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [square, i] : nearest) least = std::min(least, refined(points_[i], x));
    return least;
  }

 private:
  /// Onto the surface, by Newton's method along the gradient.
  [[nodiscard]] Vec3<double> projected(Vec3<double> x) const {
    for (int i = 0; i < 20; ++i) {
      const SdfSample<double> at = sdf_.evaluate<double>(x);
      x -= at.distance * at.gradient / at.gradient.squaredNorm();
      if (std::abs(at.distance) < 1e-14) break;
    }
    return x;
  }

  [[nodiscard]] double refined(Vec3<double> y, const Vec3<double>& x) const {
    double distance = (y - x).norm(), step = 1.0;
    for (int i = 0; i < 100 && step > 1e-3; ++i) {
      const Vec3<double> n = normal(y), along = (x - y) - n * n.dot(x - y);
      if (along.norm() < 1e-10) break;
      const Vec3<double> next = projected(y + step * along);
      if ((next - x).norm() < distance) {
        y = next;
        distance = (next - x).norm();
      } else {
        step *= 0.5;
      }
    }
    return distance;
  }

  ShapeSdf sdf_;
  std::vector<Vec3<double>> points_;
};

/// Whether one of the primitives within `near` [m] of the nearest one gives up projecting at x and answers as
/// in Taubin's mode.
bool gives_up(const ShapeSdf& sdf, const Vec3<double>& x, double near) {
  const auto& primitives = sdf.primitives<double>();
  std::vector<double> taubin, projected;
  for (const auto& primitive : primitives) {
    taubin.push_back(primitive_sample<SdfOrder::normal, double>(primitive, DistanceMode::taubin, x).distance);
    projected.push_back(
        primitive_sample<SdfOrder::normal, double>(primitive, DistanceMode::projected, x).distance);
  }
  const double least = *std::min_element(projected.begin(), projected.end());
  for (std::size_t i = 0; i < primitives.size(); ++i) {
    if (projected[i] < least + near && projected[i] == taubin[i]) return true;
  }
  return false;
}

}  // namespace

Table measure_vertex_depth(bool quick) {
  const int dense = quick ? 4000 : 30000;
  const std::size_t count = quick ? 60 : 700;
  const Body body = unit_size_asset("armadillo");
  const ZeroLevel surface(body, dense);
  Table table({"mode", "depth", "points", "excess % median", "excess % 5 %", "excess % 95 %", "off by > 10 %",
               "gave up", "dn/dx median", "dn/dx 99 %", "dn/dx max"});
  struct Place {
    Vec3<double> point;
    double depth;
  };
  for (const double depth : {0.002, 0.01, 0.03}) {
    std::vector<Place> places;
    for (std::size_t i = 0; places.size() < count && i < surface.points().size(); ++i) {
      const Vec3<double>& y = surface.points()[i];
      const Vec3<double> x = y - depth * surface.normal(y);
      const double distance = surface.distance(x);
      if (distance > k_at_depth * depth) places.push_back({x, distance});
    }
    for (const DistanceMode mode : {DistanceMode::taubin, DistanceMode::radial, DistanceMode::projected}) {
      Shape shape = body.shape;
      shape.distance_mode = mode;
      const ShapeSdf sdf(shape);
      Samples excess, bends;
      double wrong = 0.0, given_up = 0.0;
      for (const Place& place : places) {
        const SdfSampleJacobian<double> found = sdf.evaluate_jacobian<double>(place.point);
        const double relative = -found.distance / place.depth - 1.0;
        excess.add(100.0 * relative);
        bends.add(found.normal_jacobian.norm());
        wrong += std::abs(relative) > k_wrong ? 1.0 : 0.0;
        if (mode == DistanceMode::projected)
          given_up += gives_up(sdf, place.point, 4.0 * sdf.smoothing()) ? 1.0 : 0.0;
      }
      const char* name = mode == DistanceMode::taubin   ? "taubin"
                         : mode == DistanceMode::radial ? "radial"
                                                        : "projected";
      table.add_row({name, depth, static_cast<double>(places.size()), excess.median(), excess.quantile(0.05),
                     excess.quantile(0.95), wrong, given_up, bends.median(), bends.quantile(0.99),
                     bends.largest()});
    }
  }
  return table;
}

}  // namespace abut::accuracy
