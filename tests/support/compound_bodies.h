/// Bodies that are not convex, as unions of convex pieces: frames, ladders, cages, chairs, notched blocks.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "collision/fitting/make_body.h"
#include "engine/body_builder.h"
#include "engine/random.h"
#include "tests/support/convex_bodies.h"
#include "tests/support/convex_pieces.h"
#include "tests/support/wrench_bodies.h"

namespace abut::test {

/// A body and the convex pieces that it is the union of, all in the frame of the body.
struct CompoundBody {
  Body body;
  std::vector<ConvexPiece> pieces;
  double mesh_error = 0.0;  ///< how far the collision mesh is off their surface where it is farthest [m]

  [[nodiscard]] double inradius() const {
    double least = std::numeric_limits<double>::infinity();
    for (const ConvexPiece& piece : pieces) least = std::min(least, piece.inradius);
    return least;
  }
  [[nodiscard]] double extent_along(const Pose<double>& X, const Vec3<double>& axis) const {
    double most = -std::numeric_limits<double>::infinity();
    for (const ConvexPiece& piece : pieces)
      for (const Vec3<double>& x : piece.vertices) most = std::max(most, axis.dot(X * x) + piece.radius);
    return most;
  }
};

/// How deep two unions of convex pieces lie in each other.
struct CompoundOverlap {
  double depth = 0.0;  ///< of the two pieces that overlap most [m]; no shorter translation parts the bodies
  double share = 0.0;  ///< the largest depth of two pieces over the inradius of the thinner
};

inline CompoundOverlap overlap(const CompoundBody& A, const Pose<double>& X_WA, const CompoundBody& B,
                               const Pose<double>& X_WB) {
  struct Placed {
    ConvexPiece piece;
    Eigen::AlignedBox3d box;
  };
  const auto placed = [](const CompoundBody& body, const Pose<double>& X) {
    std::vector<Placed> result;
    for (const ConvexPiece& piece : body.pieces) {
      result.push_back({moved(piece, X), {}});
      Eigen::AlignedBox3d& box = result.back().box;
      for (const Vec3<double>& x : result.back().piece.vertices) box.extend(x);
      const Vec3<double> margin = Vec3<double>::Constant(piece.radius);
      box = Eigen::AlignedBox3d(box.min() - margin, box.max() + margin);
    }
    return result;
  };
  const std::vector<Placed> all_A = placed(A, X_WA), all_B = placed(B, X_WB);
  CompoundOverlap most;
  for (const Placed& a : all_A) {
    for (const Placed& b : all_B) {
      if (!a.box.intersects(b.box)) continue;
      const double depth = overlap_depth(a.piece, b.piece);
      most.depth = std::max(most.depth, depth);
      most.share = std::max(most.share, depth / std::min(a.piece.inradius, b.piece.inradius));
    }
  }
  return most;
}

// How they are put together --------------------------------------------------------------------------------

/// Primitives and pieces in the frame of the asset.
struct CompoundParts {
  Shape shape;
  std::vector<ConvexPiece> pieces;

  /// @param X  pose of the convex body's frame
  void add(const ConvexBody& convex, const Pose<double>& X = {}) {
    Primitive primitive = convex.body.shape.primitives.front();
    primitive.X_BP = X * primitive.X_BP;
    shape.primitives.push_back(primitive);
    pieces.push_back(moved(convex, X));
  }
  void add_capsule(const Vec3<double>& from, const Vec3<double>& to, double radius) {
    Primitive capsule;
    capsule.kind = PrimitiveKind::capsule;
    capsule.parameters = {radius, 0.5 * (to - from).norm()};
    capsule.X_BP = {shortest_rotation(Vec3<double>::UnitZ(), to - from), 0.5 * (from + to)};
    shape.primitives.push_back(capsule);
    pieces.push_back(capsule_piece(from, to, radius));
  }
  void add_box(const Pose<double>& X, const Vec3<double>& half, double edge_radius = 0.0) {
    Primitive box;
    box.kind = PrimitiveKind::rounded_box;
    box.parameters = {half.x(), half.y(), half.z(), edge_radius};
    box.X_BP = X;
    shape.primitives.push_back(box);
    pieces.push_back(box_piece(X, half, edge_radius));
  }
};

/// The pieces with the body that has been made of their shape.
inline CompoundBody compound_body(const CompoundParts& parts, Body body) {
  const Vec3<double> shift = body.shape.primitives.front().X_BP.p - parts.shape.primitives.front().X_BP.p;
  CompoundBody result{std::move(body), {}, 0.0};
  for (const ConvexPiece& piece : parts.pieces)
    result.pieces.push_back(moved(piece, {Quat<double>::Identity(), shift}));
  return result;
}

/// @param mesh           the surface less `contact_radius`
/// @param divisions      how often every triangle is divided into four
inline CompoundBody compound_body(const std::string& name, const CompoundParts& parts, TriangleMesh mesh,
                                  double contact_radius, int divisions) {
  for (int k = 0; k < divisions; ++k) mesh = subdivided(mesh);
  BodyDescription description;
  description.name = name;
  description.shape = parts.shape;
  // Where faces of two pieces are coplanar, the union grows by its smoothing times log 2: less than contact
  // points may lie off the surface.
  description.shape.union_smoothing = 2e-4 * largest_extent(mesh);
  description.mesh = std::move(mesh);
  description.mass_or_density = Density{1000.0};
  description.contact_radius = contact_radius;
  return compound_body(parts, make_body(description));
}

/// With a collision mesh by marching cubes, as `abut fit` makes it.
inline CompoundBody meshed_compound(const std::string& name, const CompoundParts& parts, int vertices) {
  MeshedBodyOptions options;
  options.name = name;
  options.resolution = 64;
  options.mesh.vertices = vertices;
  options.mesh.rounds = 2;
  const MeshedBody made = make_meshed_body(parts.shape, options);
  if (!made.notes.empty()) throw std::invalid_argument(made.notes.front());
  CompoundBody result = compound_body(parts, made.body);
  result.mesh_error = made.report.max_sag;
  return result;
}

/// Boxes with the axes of the body; all edges are rounded by `edge_radius`.
inline CompoundBody box_compound(const std::string& name, const std::vector<BoxPart>& boxes,
                                 double edge_radius, int divisions) {
  CompoundParts parts;
  std::vector<BoxPart> inner = boxes;
  for (BoxPart& box : inner) {
    parts.add_box({Quat<double>::Identity(), 0.5 * (box.lower + box.upper)}, 0.5 * (box.upper - box.lower),
                  edge_radius);
    box.lower.array() += edge_radius;
    box.upper.array() -= edge_radius;
  }
  return compound_body(name, parts, mesh_of_boxes(inner, {1e3, false}), edge_radius, divisions);
}

// Bodies of about 1 m; t: half thickness of their bars -----------------------------------------------------

/// How edges and faces of a body are made.
struct Finish {
  double rounding = 0.0;  ///< radius of edges over the half thickness of bars, < 1
  int divisions = 0;      ///< how often every triangle is divided into four
};

inline BoxPart box_about(const Vec3<double>& center, const Vec3<double>& half) {
  return {center - half, center + half};
}

inline CompoundBody bar(const std::string& name, const Vec3<double>& half, const Finish& finish = {}) {
  return box_compound(name, {box_about(Vec3<double>::Zero(), half)}, finish.rounding * half.minCoeff(),
                      finish.divisions);
}

/// Four bars around a square hole about the z axis; `half` is that of their centre lines.
inline CompoundBody square_ring(const std::string& name, double half, double t, const Finish& finish = {}) {
  const double outer = half + t;
  return box_compound(
      name,
      {box_about({0.0, -half, 0.0}, {outer, t, t}), box_about({0.0, half, 0.0}, {outer, t, t}),
       box_about({-half, 0.0, 0.0}, {t, outer, t}), box_about({half, 0.0, 0.0}, {t, outer, t})},
      finish.rounding * t, finish.divisions);
}

/// Two rails along x with rungs along y between them.
inline CompoundBody ladder(const std::string& name, double half_length, double half_width, int rungs,
                           double t, const Finish& finish = {}) {
  std::vector<BoxPart> boxes{box_about({0.0, -half_width, 0.0}, {half_length, t, t}),
                             box_about({0.0, half_width, 0.0}, {half_length, t, t})};
  for (int i = 0; i < rungs; ++i) {
    const double x = half_length * (2.0 * (i + 0.5) / rungs - 1.0);
    boxes.push_back(box_about({x, 0.0, 0.0}, {t, half_width + t, t}));
  }
  return box_compound(name, boxes, finish.rounding * t, finish.divisions);
}

/// The twelve edges of a box; `half` is that of their centre lines.
inline CompoundBody cage(const std::string& name, const Vec3<double>& half, double t,
                         const Finish& finish = {}) {
  std::vector<BoxPart> boxes;
  for (int axis = 0; axis < 3; ++axis) {
    for (int i = 0; i < 4; ++i) {
      Vec3<double> center = Vec3<double>::Zero(), extent = Vec3<double>::Constant(t);
      center[(axis + 1) % 3] = half[(axis + 1) % 3] * (i & 1 ? 1.0 : -1.0);
      center[(axis + 2) % 3] = half[(axis + 2) % 3] * (i & 2 ? 1.0 : -1.0);
      extent[axis] += half[axis];
      boxes.push_back(box_about(center, extent));
    }
  }
  return box_compound(name, boxes, finish.rounding * t, finish.divisions);
}

/// A seat in the plane z = 0 on four legs, and a back.
inline CompoundBody chair(const std::string& name, double half_width, double leg, double back, double t,
                          const Finish& finish = {}) {
  const double outer = half_width + t;
  std::vector<BoxPart> boxes{
      box_about(Vec3<double>::Zero(), {outer, outer, t}),
      {{-outer, -outer, -t}, {-half_width + t, outer, back}},
  };
  for (const double x : {-half_width, half_width}) {
    for (const double y : {-half_width, half_width})
      boxes.push_back({{x - t, y - t, -leg}, {x + t, y + t, t}});
  }
  return box_compound(name, boxes, finish.rounding * t, finish.divisions);
}

/// A block with a rectangular groove along y, open at the top; its origin is in the middle of the floor.
inline CompoundBody grooved_block(const std::string& name, double half_groove, double depth,
                                  double half_length, double t, const Finish& finish = {}) {
  const double outer = half_groove + 2.0 * t;
  return box_compound(name,
                      {{{-outer, -half_length, -2.0 * t}, {outer, half_length, 0.0}},
                       {{-outer, -half_length, -2.0 * t}, {-half_groove, half_length, depth}},
                       {{half_groove, -half_length, -2.0 * t}, {outer, half_length, depth}}},
                      finish.rounding * t, finish.divisions);
}

/// A block with a notch of V shape along y, open at the top: sharp. Its tip is the origin.
inline CompoundBody notched_block(const std::string& name, double half_width, double half_notch, double depth,
                                  double floor, double half_length, int divisions = 0) {
  const double foot = half_notch * floor / depth;  // where a wall of the notch, prolonged, meets the bottom
  CompoundParts parts;
  for (const double side : {-1.0, 1.0}) {
    std::vector<Vec3<double>> corners;
    for (const double y : {-half_length, half_length}) {
      corners.emplace_back(side * half_width, y, -floor);
      corners.emplace_back(-side * foot, y, -floor);
      corners.emplace_back(side * half_notch, y, depth);
      corners.emplace_back(side * half_width, y, depth);
    }
    const double inradius =
        std::min(0.5 * (half_width - half_notch), 0.5 * floor);  // not above that of a cross-section
    const ConvexBody wall = convex_body(
        name, corners, {{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}},
        inradius);
    parts.add(wall, {Quat<double>::Identity(), corners[0] - wall.vertices[0]});
  }
  const std::vector<Vec3<double>> outline{{0.0, 0.0, 0.0},           {-half_notch, 0.0, depth},
                                          {-half_width, 0.0, depth}, {-half_width, 0.0, -floor},
                                          {half_width, 0.0, -floor}, {half_width, 0.0, depth},
                                          {half_notch, 0.0, depth}};
  TriangleMesh mesh;
  const int n = static_cast<int>(outline.size());
  mesh.vertices.resize(3, 2 * n);
  for (int i = 0; i < n; ++i) {
    const Vec3<double> along(0.0, half_length, 0.0);
    mesh.vertices.col(i) = outline[static_cast<std::size_t>(i)] - along;
    mesh.vertices.col(n + i) = outline[static_cast<std::size_t>(i)] + along;
    const int next = (i + 1) % n;
    mesh.triangles.emplace_back(i, n + next, next);
    mesh.triangles.emplace_back(i, n + i, n + next);
    if (i == 0 || next == 0) continue;
    mesh.triangles.emplace_back(0, i, next);
    mesh.triangles.emplace_back(n, n + next, n + i);
  }
  return compound_body(name, parts, mesh, 0.0, divisions);
}

/// A long thin triangle as a plate.
inline CompoundBody triangle_plate(const std::string& name, double length, double width, double t,
                                   int divisions = 0) {
  std::vector<Vec3<double>> corners;
  for (const double z : {-t, t}) {
    corners.emplace_back(-0.5 * length, 0.0, z);
    corners.emplace_back(0.5 * length, -0.5 * width, z);
    corners.emplace_back(0.5 * length, 0.5 * width, z);
  }
  const double side = std::hypot(length, 0.5 * width), inradius = length * width / (2.0 * side + width);
  const ConvexBody plate =
      convex_body(name, corners, {{0, 1, 2}, {3, 4, 5}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}},
                  std::min(inradius, t), divisions);
  return {plate.body, {plate}, 0.0};
}

}  // namespace abut::test
