#include "collision/manifold/selection_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "collision/segment_distance.h"
#include "engine/body_builder.h"
#include "engine/check.h"
#include "engine/pack.h"

namespace abut {
namespace {

using Lanes = Pack<double, 4>;

/// phi less radius of every point, X_SO taking them to the solid's frame.
std::vector<double> distances(const ShapeSdf& sdf, const Pose<double>& X_SO, const Points& points,
                              double radius) {
  const auto count = static_cast<std::size_t>(points.cols());
  std::vector<double> result(count);
  for (std::size_t first = 0; first < count; first += Lanes::k_lanes) {
    alignas(64) double lanes[3][Lanes::k_lanes];
    for (std::size_t lane = 0; lane < Lanes::k_lanes; ++lane) {
      const Vec3<double> x =
          X_SO * Vec3<double>(points.col(static_cast<Eigen::Index>(std::min(first + lane, count - 1))));
      for (int axis = 0; axis < 3; ++axis) lanes[axis][lane] = x[axis];
    }
    const Lanes d =
        sdf.distance<Lanes>({Lanes::load(lanes[0]), Lanes::load(lanes[1]), Lanes::load(lanes[2])});
    for (std::size_t lane = 0; lane < Lanes::k_lanes && first + lane < count; ++lane)
      result[first + lane] = d[static_cast<int>(lane)] - radius;
  }
  return result;
}

double least_distance(const ShapeSdf& sdf, const Pose<double>& X_SO, const Points& points, double radius) {
  double least = k_infinity;
  for (const double d : distances(sdf, X_SO, points, radius)) least = std::min(least, d);
  return least;
}

int count_deepest(const std::vector<double>& d, const std::vector<std::vector<int>>& neighbours) {
  int count = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (!(d[i] < 0.0)) continue;
    count += std::all_of(neighbours[i].begin(), neighbours[i].end(), [&](int k) {
      const double other = d[static_cast<std::size_t>(k)];
      return d[i] < other || (d[i] == other && static_cast<int>(i) < k);
    });
  }
  return count;
}

struct Segment {
  Vec3<double> start, end, middle;
  double half_length;
};

std::vector<Segment> segments_of(const Points& vertices, const std::vector<MeshEdge>& edges,
                                 const Pose<double>& X) {
  std::vector<Segment> segments;
  segments.reserve(edges.size());
  for (const MeshEdge& edge : edges) {
    Segment s;
    s.start = X * Vec3<double>(vertices.col(edge.start));
    s.end = X * Vec3<double>(vertices.col(edge.end));
    s.middle = 0.5 * (s.start + s.end);
    s.half_length = 0.5 * (s.end - s.start).norm();
    segments.push_back(s);
  }
  return segments;
}

struct Closest {
  int index = -1;
  SegmentDistance<double> distance{k_infinity, 0.0, 0.0};
};

/// The closest of `others`, the first of several. Balls around segments rule out most.
Closest closest_segment(const Segment& s, const std::vector<Segment>& others) {
  Closest best;
  double limit = k_infinity;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const double reach = limit + s.half_length + others[i].half_length;
    if ((s.middle - others[i].middle).squaredNorm() > reach * reach) continue;
    const SegmentDistance<double> d = segment_distance(s.start, s.end, others[i].start, others[i].end);
    if (d.squared_distance < best.distance.squared_distance) {
      best = {static_cast<int>(i), d};
      limit = std::sqrt(d.squared_distance) * (1.0 + 1e-12);
    }
  }
  return best;
}

}  // namespace

SelectionSampler::Side::Side(const Body& of)
    : body(&of), sdf(of.shape), neighbours(static_cast<std::size_t>(of.contact_points.cols())) {
  if (of.mesh.vertex_count() > 0) edges = mesh_edges(of.mesh);
  if (of.contact_points.cols() == of.mesh.vertex_count() && of.contact_points == of.mesh.vertices) {
    for (const Eigen::Vector3i& triangle : of.mesh.triangles) {
      for (int i = 0; i < 3; ++i)  // the mesh is closed: the other direction belongs to the other triangle
        neighbours[static_cast<std::size_t>(triangle[i])].push_back(triangle[(i + 1) % 3]);
    }
  }
  if (is_unbounded(of.shape)) {
    reach = k_infinity;
    return;
  }
  for (const Points* points : {&of.contact_points, &of.mesh.vertices}) {
    if (points->cols() > 0) reach = std::max(reach, points->colwise().norm().maxCoeff() + of.contact_radius);
  }
  if (!of.shape.primitives.empty())
    reach = std::max(reach, sdf.bounds().min().cwiseAbs().cwiseMax(sdf.bounds().max().cwiseAbs()).norm());
}

SelectionSampler::SelectionSampler(const Body& A, const Body& B, double depth)
    : A_(A), B_(B), depth_(depth * std::min(A.size, B.size)) {
  require(depth > 0.0 && std::isfinite(depth), fmt::format("depth = {}, allowed: > 0, finite", depth));
  require(std::isfinite(A_.reach) || std::isfinite(B_.reach),
          fmt::format("'{}' and '{}' both extend for ever: no pose of them is a sample", A.name, B.name));
  require(A.contact_points.cols() + B.contact_points.cols() > 0,
          fmt::format("neither '{}' nor '{}' has contact points", A.name, B.name));
}

double SelectionSampler::gap(const Pose<double>& X_AB) const {
  return std::min(least_distance(A_.sdf, X_AB, B_.body->contact_points, B_.body->contact_radius),
                  least_distance(B_.sdf, X_AB.inverse(), A_.body->contact_points, A_.body->contact_radius));
}

Pose<double> SelectionSampler::colliding_pose(Random& random) const {
  constexpr int k_attempts = 1000;
  const bool is_unbounded = !std::isfinite(A_.reach) || !std::isfinite(B_.reach);
  const double reach = std::isfinite(A_.reach) && std::isfinite(B_.reach)
                           ? A_.reach + B_.reach
                           : 2.0 * std::min(A_.reach, B_.reach);
  const double least_step = 0.01 * depth_;
  for (int attempt = 0; attempt < k_attempts; ++attempt) {
    Pose<double> X_AB;
    X_AB.q = random.quaternion();
    const Vec3<double> direction = random.unit_vector();
    const double push = depth_ * random.uniform();
    // A half-space is met along its normal: any other direction only takes it farther.
    Vec3<double> away = direction;
    Vec3<double> start = Vec3<double>::Zero();
    if (!std::isfinite(A_.reach)) {
      away = A_.sdf.evaluate<double>(Vec3<double>::Zero()).gradient;
      start = -A_.sdf.distance<double>(Vec3<double>::Zero()) * away;
    } else if (!std::isfinite(B_.reach)) {
      const Vec3<double> normal_B = B_.sdf.evaluate<double>(Vec3<double>::Zero()).gradient;
      away = -(X_AB.q * normal_B);
      start = B_.sdf.distance<double>(Vec3<double>::Zero()) * (X_AB.q * normal_B);
    }
    // A distance never exceeds the true one, hence the way that is free.
    double s = reach;
    bool touches = false;
    while (!touches && s > -(is_unbounded ? reach : 0.0)) {
      X_AB.p = start + s * away;
      const double free = gap(X_AB);
      touches = free <= least_step;
      if (!touches) s -= free;
    }
    if (!touches) continue;
    X_AB.p = start + (s - push - least_step) * away;
    if (gap(X_AB) < 0.0) return X_AB;
  }
  throw std::runtime_error(fmt::format("no colliding pose of '{}' and '{}' found in {} attempts",
                                       A_.body->name, B_.body->name, k_attempts));
}

SelectionCounts SelectionSampler::counts(const Pose<double>& X_AB) const {
  const Pose<double> X_BA = X_AB.inverse();
  SelectionCounts counts;
  counts.vertices_A =
      count_deepest(distances(B_.sdf, X_BA, A_.body->contact_points, A_.body->contact_radius), A_.neighbours);
  counts.vertices_B =
      count_deepest(distances(A_.sdf, X_AB, B_.body->contact_points, B_.body->contact_radius), B_.neighbours);
  if (A_.edges.empty() || B_.edges.empty()) return counts;

  const std::vector<Segment> edges_A = segments_of(A_.body->mesh.vertices, A_.edges, Pose<double>()),
                             edges_B = segments_of(B_.body->mesh.vertices, B_.edges, X_AB);
  // A buddy of a touching pair has a point in the other body or is as close to its edges as its radius is.
  const double reach = A_.body->contact_radius + B_.body->contact_radius + 2.0 * depth_;
  const auto low = (A_.sdf.bounds().min().array() - reach).eval(),
             high = (A_.sdf.bounds().max().array() + reach).eval();
  for (std::size_t k = 0; k < edges_B.size(); ++k) {
    const Segment& edge = edges_B[k];
    if ((edge.start.cwiseMax(edge.end).array() < low).any() ||
        (edge.start.cwiseMin(edge.end).array() > high).any())
      continue;
    const Closest to_A = closest_segment(edge, edges_A);
    const Segment& other = edges_A[static_cast<std::size_t>(to_A.index)];
    const Vec3<double> e_B = edge.start + to_A.distance.parameter_A * (edge.end - edge.start),
                       e_A = other.start + to_A.distance.parameter_B * (other.end - other.start);
    const bool is_inside = A_.sdf.distance<double>(e_B) < B_.body->contact_radius ||
                           B_.sdf.distance<double>(Vec3<double>(X_BA * e_A)) < A_.body->contact_radius;
    if (!is_inside) continue;
    counts.edge_pairs += closest_segment(other, edges_B).index == static_cast<int>(k);
  }
  return counts;
}

int quantile_of(std::vector<int> values, double quantile) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(quantile * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

}  // namespace abut
