#include "collision/sdf/frank_wolfe.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <spdlog/fmt/fmt.h>

#include "collision/convex/planar_hull.h"
#include "collision/sdf/triangle_minimum.h"
#include "engine/check.h"
#include "engine/pack.h"

namespace abut {
namespace {

using TriangleLanes = Pack<double, 4>;

/// Two unit vectors that span the plane perpendicular to n.
std::pair<Vec3<double>, Vec3<double>> plane_of(const Vec3<double>& n) {
  const Vec3<double> first = n.unitOrthogonal();
  return {first, n.cross(first)};
}

/// Whether some plane through point i lies below all the others, distances being heights: the lower convex
/// hull has a corner there. Of equal points the first counts.
///
/// @param distances  in ascending order [m]
bool is_lower_corner(std::span<const Vec2<double>> points, std::span<const double> distances, std::size_t i,
                     double tolerance) {
  // Points that a plane hull leaves out for the tolerance would need slopes beyond 16.
  constexpr double k_steepest = 8.0;
  const double least_depth = 16.0 * tolerance;
  // Slopes g of these planes: g.(x_j - x_i) <= phi_j - phi_i for all j.
  std::vector<Vec2<double>> slopes{{-k_steepest, -k_steepest},
                                   {k_steepest, -k_steepest},
                                   {k_steepest, k_steepest},
                                   {-k_steepest, k_steepest}},
      clipped;
  for (std::size_t j = 0; j < points.size() && !slopes.empty(); ++j) {
    const Vec2<double> to_other = points[j] - points[i];
    if (j == i || to_other.norm() <= tolerance) {
      if (j < i) return false;
      continue;
    }
    const double most = distances[j] - distances[i] - least_depth;
    clipped.clear();
    for (std::size_t k = 0; k < slopes.size(); ++k) {
      const Vec2<double>&a = slopes[k], &b = slopes[(k + 1) % slopes.size()];
      const double over_a = to_other.dot(a) - most, over_b = to_other.dot(b) - most;
      if (over_a <= 0.0) clipped.push_back(a);
      if ((over_a < 0.0 && over_b > 0.0) || (over_a > 0.0 && over_b < 0.0))
        clipped.push_back(a + over_a / (over_a - over_b) * (b - a));
    }
    slopes.swap(clipped);
  }
  return !slopes.empty();
}

}  // namespace

void validate(const FrankWolfeSettings& settings) {
  require(std::isfinite(settings.margin), fmt::format("margin must be finite, not {}", settings.margin));
  require(settings.iterations >= 0,
          fmt::format("iterations must not be negative, as {} is", settings.iterations));
  require(settings.normal_angle >= 0.0 && settings.normal_angle <= std::numbers::pi,
          fmt::format("normal_angle must be from 0 to pi, not {}", settings.normal_angle));
  require(settings.hull_tolerance >= 0.0 && std::isfinite(settings.hull_tolerance),
          fmt::format("hull_tolerance must be finite and not negative, not {}", settings.hull_tolerance));
}

TriangleSearch::TriangleSearch(const TriangleMesh& mesh_M) : mesh_(mesh_M) {
  require(mesh_.vertices.allFinite(), "the vertices of a mesh must be finite");
  const int count = mesh_.triangle_count();
  centroids_.resize(3, count);
  for (int t = 0; t < count; ++t) {
    const Eigen::Vector3i& triangle = mesh_.triangles[at(t)];
    require(triangle.minCoeff() >= 0 && triangle.maxCoeff() < mesh_.vertex_count(),
            fmt::format("triangle {} has a vertex that the mesh has not", t));
    Vec3<double> corner[3];
    corners(t, corner);
    const Vec3<double> centroid = (corner[0] + corner[1] + corner[2]) / 3.0;
    centroids_.col(t) = centroid;
    radii_.push_back(std::max(
        {(corner[0] - centroid).norm(), (corner[1] - centroid).norm(), (corner[2] - centroid).norm()}));
  }
  if (mesh_.vertex_count() > 0) size_ = largest_extent(mesh_);

  first_triangle_.assign(at(mesh_.vertex_count() + 1), 0);
  for (const Eigen::Vector3i& triangle : mesh_.triangles)
    for (const int vertex : triangle) ++first_triangle_[at(vertex + 1)];
  std::partial_sum(first_triangle_.begin(), first_triangle_.end(), first_triangle_.begin());
  triangles_at_.resize(at(3 * count));
  std::vector<int> next = first_triangle_;
  for (int t = 0; t < count; ++t)
    for (const int vertex : mesh_.triangles[at(t)]) triangles_at_[at(next[at(vertex)]++)] = t;
}

bool TriangleSearch::is_held(const TriangleContact& contact, const Vec3<double>& gradient_M) const {
  constexpr double k_near = 1e-3, k_rounding = 1e-9;
  int corner = 0;
  if (contact.weights.maxCoeff(&corner) < 1.0 - k_rounding) return false;
  const int vertex = mesh_.triangles[at(contact.triangle)][corner];
  const Vec3<double> x = mesh_.vertices.col(vertex);
  const auto begin = triangles_at_.begin() + first_triangle_[at(vertex)],
             end = triangles_at_.begin() + first_triangle_[at(vertex + 1)];
  return std::any_of(begin, end, [&](int t) {
    const Eigen::Vector3i& triangle = mesh_.triangles[at(t)];
    return std::all_of(triangle.begin(), triangle.end(), [&](int other) {
      const Vec3<double> side = mesh_.vertices.col(other) - x;
      return other == vertex || gradient_M.dot(side) > k_near * gradient_M.norm() * side.norm();
    });
  });
}

void TriangleSearch::corners(int triangle, Vec3<double> (&corners_M)[3]) const {
  for (int k = 0; k < 3; ++k) corners_M[k] = mesh_.vertices.col(mesh_.triangles[at(triangle)][k]);
}

void TriangleSearch::candidates(const ShapeSdf& sdf, const Pose<double>& X_SM, double margin,
                                std::vector<int>& triangles) const {
  triangles.clear();
  const Mat3<double> R_SM = X_SM.rotation();
  const double ratio = sdf.distance_ratio();
  const int count = mesh_.triangle_count();
  for (int begin = 0; begin < count; begin += TriangleLanes::k_lanes) {
    Vec3<TriangleLanes> x;
    for (int lane = 0; lane < TriangleLanes::k_lanes; ++lane) {
      const int t = std::min(begin + lane, count - 1);
      const Vec3<double> x_S = R_SM * Vec3<double>(centroids_.col(t)) + X_SM.p;
      for (int i = 0; i < 3; ++i) x[i].set_lane(lane, x_S[i]);
    }
    const TriangleLanes distance = sdf.distance(x);
    for (int lane = 0; lane < TriangleLanes::k_lanes && begin + lane < count; ++lane) {
      if (distance[lane] <= ratio * radii_[at(begin + lane)] + margin) triangles.push_back(begin + lane);
    }
  }
}

void TriangleSearch::contacts(const ShapeSdf& sdf, const Pose<double>& X_SM,
                              const FrankWolfeSettings& settings,
                              std::vector<TriangleContact>& contacts) const {
  contacts.clear();
  std::vector<int> triangles;
  candidates(sdf, X_SM, settings.margin, triangles);
  search(sdf, X_SM, triangles, settings.iterations, settings.margin, contacts);
}

TriangleContact TriangleSearch::contact(const ShapeSdf& sdf, const Pose<double>& X_SM, int triangle,
                                        const FrankWolfeSettings& settings) const {
  std::vector<TriangleContact> found;
  search(sdf, X_SM, {&triangle, 1}, settings.iterations, k_infinity, found);
  return found.at(0);
}

void TriangleSearch::search(const ShapeSdf& sdf, const Pose<double>& X_SM, std::span<const int> triangles,
                            int iterations, double margin, std::vector<TriangleContact>& contacts) const {
  const Mat3<double> R_SM = X_SM.rotation();
  const int count = static_cast<int>(triangles.size());
  const auto sample = [&](const Vec3<TriangleLanes>& x) { return sdf.evaluate(x); };
  for (int begin = 0; begin < count; begin += TriangleLanes::k_lanes) {
    Vec3<TriangleLanes> corner[3];
    for (int lane = 0; lane < TriangleLanes::k_lanes; ++lane) {
      Vec3<double> corner_M[3];
      corners(triangles[at(std::min(begin + lane, count - 1))], corner_M);
      for (int k = 0; k < 3; ++k) {
        const Vec3<double> corner_S = R_SM * corner_M[k] + X_SM.p;
        for (int i = 0; i < 3; ++i) corner[k][i].set_lane(lane, corner_S[i]);
      }
    }
    const TriangleMinimum<TriangleLanes> least = frank_wolfe_minimum(corner, sample, iterations);
    const Vec3<TriangleLanes> x = least.point(corner);
    const SdfNormal<TriangleLanes> at_least = sdf.evaluate_normal(x);
    for (int lane = 0; lane < TriangleLanes::k_lanes && begin + lane < count; ++lane) {
      if (!(least.distance[lane] <= margin)) continue;
      TriangleContact contact;
      contact.triangle = triangles[at(begin + lane)];
      contact.distance = least.distance[lane];
      for (int i = 0; i < 3; ++i) {
        contact.weights[i] = least.weights[i][lane];
        contact.point[i] = x[i][lane];
        contact.normal[i] = at_least.normal[i][lane];
      }
      contacts.push_back(contact);
    }
  }
}

std::vector<TriangleContact> TriangleSearch::filtered(const std::vector<TriangleContact>& contacts,
                                                      const FrankWolfeSettings& settings) const {
  std::vector<int> by_depth(contacts.size());
  std::iota(by_depth.begin(), by_depth.end(), 0);
  std::stable_sort(by_depth.begin(), by_depth.end(),
                   [&](int a, int b) { return contacts[at(a)].distance < contacts[at(b)].distance; });
  std::vector<bool> is_taken(contacts.size(), false);
  const double longest_chord = 2.0 * std::sin(0.5 * settings.normal_angle),
               tolerance = settings.hull_tolerance * size_;
  std::vector<TriangleContact> kept;
  for (const int deepest : by_depth) {
    if (is_taken[at(deepest)]) continue;
    const Vec3<double> normal = contacts[at(deepest)].normal.normalized();
    const auto [e_1, e_2] = plane_of(normal);
    std::vector<int> members;
    std::vector<Vec2<double>> points;
    std::vector<double> distances;
    for (const int i : by_depth) {
      // Cosines of small angles are 1 but for rounding; chords are not.
      const double chord = (contacts[at(i)].normal.normalized() - normal).norm();
      if (is_taken[at(i)] || (i != deepest && !(chord <= longest_chord))) continue;
      is_taken[at(i)] = true;
      members.push_back(i);
      points.emplace_back(e_1.dot(contacts[at(i)].point), e_2.dot(contacts[at(i)].point));
      distances.push_back(contacts[at(i)].distance);
    }
    kept.push_back(contacts[at(deepest)]);
    std::vector<bool> is_corner(members.size(), false);
    for (const int corner : planar_hull(points, tolerance)) {
      is_corner[at(corner)] = true;
      const bool is_deepest = (points[at(corner)] - points[0]).norm() <= tolerance;
      if (!is_deepest) kept.push_back(contacts[at(members[at(corner)])]);
    }
    for (std::size_t i = 1; i < members.size(); ++i) {
      if (!is_corner[i] && is_lower_corner(points, distances, i, tolerance))
        kept.push_back(contacts[at(members[i])]);
    }
  }
  return kept;
}

}  // namespace abut
