/// Convex bodies that pass each other along a plane between them: nothing may happen.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "collision/manifold/mesh_edges.h"
#include "engine/model.h"
#include "engine/state.h"
#include "tests/support/convex_bodies.h"

namespace abut::test {

/// How the two bodies lie on either side of the plane.
enum class NearMiss { any, edge_over_edge, vertex_over_face, faces_flush };

/// B passes A without gravity, at a clearance of 0.1 to 1 % of the size of the smaller body.
struct NearPass {
  Model model;
  State start;
  double size = 0.0;                           ///< of the smaller body [m]
  double clearance = 0.0;                      ///< [m]
  Vec3<double> normal = Vec3<double>::Zero();  ///< of the plane, from A to B
  Vec3<double> velocity = Vec3<double>::Zero();
  int steps = 0;
};

/// How far a body reaches along an axis [m].
inline double support_along(const ConvexBody& of, const Pose<double>& X, const Vec3<double>& axis) {
  double most = -1e30;
  for (const Vec3<double>& x : of.vertices) most = std::max(most, axis.dot(X * x));
  return most;
}

/// Poses at which an edge of each body is its farthest feature along the normal n, from A to B, and both cross
/// between their ends. False if none is found.
inline bool cross_edges(const ConvexBody& A, const ConvexBody& B, Random& random, Pose<double>& X_A,
                        Pose<double>& X_B, Vec3<double>& n) {
  struct PlacedEdge {
    Vec3<double> point, direction, out;
    double cosine;  ///< of half the angle of its cone
  };
  const auto random_edge = [&](const ConvexBody& of, const Pose<double>& X) {
    const std::vector<MeshEdge> edges = contact_edges(of.body);
    const MeshEdge& edge = edges[static_cast<std::size_t>(random.integer(edges.size()))];
    const Vec3<double> a = of.body.contact_points.col(edge.start), b = of.body.contact_points.col(edge.end),
                       out = edge.face_normals[0] + edge.face_normals[1];
    return PlacedEdge{X * Vec3<double>(a + random.uniform() * (b - a)),
                      X.q * Vec3<double>((b - a).normalized()), X.q * Vec3<double>(out.normalized()),
                      0.5 * out.norm()};
  };
  for (int attempt = 0; attempt < 2000; ++attempt) {
    X_A = {random.quaternion(), Vec3<double>::Zero()};
    X_B = {random.quaternion(), Vec3<double>::Zero()};
    const PlacedEdge a = random_edge(A, X_A), b = random_edge(B, X_B);
    n = a.direction.cross(b.direction);
    if (n.norm() < 0.1) continue;
    n.normalize();
    if (n.dot(a.out) < 0.0) n = -n;
    if (n.dot(a.out) < a.cosine + 1e-3 || -n.dot(b.out) < b.cosine + 1e-3) continue;
    X_B.p += a.point - b.point;
    return true;
  }
  return false;
}

/// @param motion  of a step, in clearances, at most; 0.3 of that at least
/// @param h       time step [s]
inline NearPass make_near_pass(NearMiss kind, Random& random, double motion, double h) {
  ConvexBody A = random_convex_body("A", random), B = random_convex_body("B", random);
  if (kind == NearMiss::faces_flush) {
    const auto half = [&] {
      return Vec3<double>(random.uniform(0.1, 0.5), random.uniform(0.1, 0.5), random.uniform(0.1, 0.5));
    };
    A = block("A", half());
    B = block("B", half());
  }
  NearPass pass;
  pass.size = std::min(A.body.size, B.body.size);
  pass.clearance = pass.size * std::pow(10.0, random.uniform(-3.0, -2.0));
  Pose<double> X_A{random.quaternion(), Vec3<double>::Zero()}, X_B{random.quaternion(), Vec3<double>::Zero()};
  Vec3<double> n = random.unit_vector(), along = random.unit_vector();  // of the plane; of the motion
  if (kind == NearMiss::edge_over_edge && !cross_edges(A, B, random, X_A, X_B, n)) return pass;
  if (kind == NearMiss::vertex_over_face)
    n = X_A.q * A.face_normals[static_cast<std::size_t>(random.integer(A.face_normals.size()))];
  if (kind == NearMiss::faces_flush) {
    X_B.q = X_A.q;
    const int axis = static_cast<int>(random.integer(3));
    n = X_A.rotation().col(axis);
    along = X_A.rotation().col((axis + 1) % 3);
  }
  along = (along - n * n.dot(along)).normalized();
  const auto reach = [&](const ConvexBody& of, const Pose<double>& X, const Vec3<double>& axis) {
    return support_along(of, X, axis);
  };
  X_B.p += (pass.clearance + reach(B, X_B, -n) + reach(A, X_A, n)) * n;
  if (kind != NearMiss::edge_over_edge) X_B.p += random.uniform(-0.3, 0.3) * pass.size * n.cross(along);
  const double before = reach(B, X_B, along) + reach(A, X_A, -along) + 0.02 * pass.size;
  X_B.p -= before * along;
  const double way = reach(A, X_A, along) + reach(A, X_A, -along) + reach(B, X_B, along) +
                     reach(B, X_B, -along) + 0.04 * pass.size;
  const double a_step = motion * pass.clearance * random.uniform(0.3, 1.0);
  pass.steps = static_cast<int>(way / a_step) + 1;
  pass.normal = n;
  pass.velocity = a_step / h * along;
  pass.model.bodies = {A.body, B.body};
  pass.model.gravity.setZero();
  pass.start.X_WB = {X_A, X_B};
  pass.start.V_WB.assign(2, Vec6<double>::Zero());
  pass.start.V_WB[1].tail<3>() = pass.velocity;
  return pass;
}

}  // namespace abut::test
