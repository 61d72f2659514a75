/// Random convex polyhedra as bodies, and how deep two of them overlap, by brute force.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "engine/body_builder.h"
#include "engine/primitive_builder.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/convex_pieces.h"

namespace abut::test {

/// A convex polyhedron as a body.
struct ConvexBody : ConvexPiece {
  Body body;
};

/// Corners of faces, in either direction around them.
using Faces = std::vector<std::vector<int>>;

/// Every triangle divided into four.
inline TriangleMesh subdivided(const TriangleMesh& mesh) {
  std::vector<Vec3<double>> vertices;
  for (Eigen::Index i = 0; i < mesh.vertices.cols(); ++i) vertices.push_back(mesh.vertices.col(i));
  std::map<std::pair<int, int>, int> middles;
  const auto middle = [&](int a, int b) {
    const auto [found, is_new] = middles.emplace(std::minmax(a, b), static_cast<int>(vertices.size()));
    if (is_new) vertices.push_back(0.5 * (mesh.vertices.col(a) + mesh.vertices.col(b)));
    return found->second;
  };
  TriangleMesh fine;
  for (const Eigen::Vector3i& t : mesh.triangles) {
    const int ab = middle(t[0], t[1]), bc = middle(t[1], t[2]), ca = middle(t[2], t[0]);
    for (const Eigen::Vector3i& part : {Eigen::Vector3i(t[0], ab, ca), Eigen::Vector3i(ab, t[1], bc),
                                        Eigen::Vector3i(ca, bc, t[2]), Eigen::Vector3i(ab, bc, ca)})
      fine.triangles.push_back(part);
  }
  fine.vertices.resize(3, static_cast<Eigen::Index>(vertices.size()));
  for (std::size_t i = 0; i < vertices.size(); ++i)
    fine.vertices.col(static_cast<Eigen::Index>(i)) = vertices[i];
  return fine;
}

/// @param divisions  how often every triangle of the mesh is divided into four
inline ConvexBody convex_body(const std::string& name, const std::vector<Vec3<double>>& corners, Faces faces,
                              double inradius, int divisions = 0) {
  ConvexBody result;
  result.inradius = inradius;
  Vec3<double> center = Vec3<double>::Zero();
  for (const Vec3<double>& x : corners) center += x / static_cast<double>(corners.size());
  TriangleMesh mesh;
  mesh.vertices.resize(3, static_cast<Eigen::Index>(corners.size()));
  for (std::size_t i = 0; i < corners.size(); ++i)
    mesh.vertices.col(static_cast<Eigen::Index>(i)) = corners[i] - center;
  Points normals(3, static_cast<Eigen::Index>(faces.size()));
  std::vector<double> offsets;
  for (std::size_t f = 0; f < faces.size(); ++f) {
    std::vector<int>& face = faces[f];
    const auto corner = [&](std::size_t i) { return Vec3<double>(mesh.vertices.col(face[i % face.size()])); };
    Vec3<double> normal = (corner(1) - corner(0)).cross(corner(2) - corner(0)).normalized();
    if (normal.dot(corner(0)) < 0.0) {
      std::reverse(face.begin(), face.end());
      normal = -normal;
    }
    normals.col(static_cast<Eigen::Index>(f)) = normal;
    offsets.push_back(normal.dot(corner(0)));
    result.face_normals.push_back(normal);
    for (std::size_t i = 0; i < face.size(); ++i) {
      if (face[i] < face[(i + 1) % face.size()])
        result.add_edge_direction((corner(i + 1) - corner(i)).normalized());
      if (i >= 2) mesh.triangles.emplace_back(face[0], face[i - 1], face[i]);
    }
  }
  for (int k = 0; k < divisions; ++k) mesh = subdivided(mesh);
  const double size = (mesh.vertices.rowwise().maxCoeff() - mesh.vertices.rowwise().minCoeff()).maxCoeff();
  Shape shape;
  shape.primitives.push_back(make_convex_polyhedron(normals, offsets, 1e-5 * size));
  result.body = make_body(name, shape, mesh, Density{1000.0});
  for (const Vec3<double>& x : corners) result.vertices.push_back(x - center + result.body.p_BA);
  return result;
}

inline ConvexBody prism(const std::string& name, int sides, double radius, double length, int divisions = 0) {
  std::vector<Vec3<double>> corners;
  for (const double z : {-0.5 * length, 0.5 * length}) {
    for (int i = 0; i < sides; ++i) {
      const double angle = 2.0 * std::numbers::pi * i / sides;
      corners.emplace_back(radius * std::cos(angle), radius * std::sin(angle), z);
    }
  }
  Faces faces(2);
  for (int i = 0; i < sides; ++i) {
    const int next = (i + 1) % sides;
    faces[0].push_back(i);
    faces[1].push_back(sides + i);
    faces.push_back({i, next, sides + next, sides + i});
  }
  return convex_body(name, corners, faces,
                     std::min(radius * std::cos(std::numbers::pi / sides), 0.5 * length), divisions);
}

inline ConvexBody block(const std::string& name, const Vec3<double>& half, int divisions = 0) {
  std::vector<Vec3<double>> corners;
  for (int i = 0; i < 8; ++i) {
    corners.emplace_back(i & 1 ? half[0] : -half[0], i & 2 ? half[1] : -half[1], i & 4 ? half[2] : -half[2]);
  }
  return convex_body(name, corners,
                     {{0, 1, 3, 2}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 3, 7, 5}},
                     half.minCoeff(), divisions);
}

inline ConvexBody tetrahedron(const std::string& name, Random& random, int divisions = 0) {
  const Faces faces{{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}};
  while (true) {
    std::vector<Vec3<double>> corners;
    for (int i = 0; i < 4; ++i) corners.push_back(random_vector(random));
    double area = 0.0;
    for (const std::vector<int>& f : faces) {
      const auto corner = [&](int i) {
        return corners[static_cast<std::size_t>(f[static_cast<std::size_t>(i)])];
      };
      area += 0.5 * (corner(1) - corner(0)).cross(corner(2) - corner(0)).norm();
    }
    const double volume =
        std::abs((corners[1] - corners[0]).cross(corners[2] - corners[0]).dot(corners[3] - corners[0])) / 6.0;
    if (3.0 * volume / area > 0.03) return convex_body(name, corners, faces, 3.0 * volume / area, divisions);
  }
}

/// Bars, plates, prisms of 3 to 24 sides and tetrahedra of about 1 m, some with their faces divided.
inline ConvexBody random_convex_body(const std::string& name, Random& random) {
  const int divisions = random.uniform() < 0.2 ? 2 : 0;
  switch (random.integer(5)) {
    case 0:
      return prism(name, 3 + static_cast<int>(random.integer(22)), random.uniform(0.03, 0.3),
                   random.uniform(0.3, 1.0));
    case 1:
      return block(name, {random.uniform(0.03, 0.5), random.uniform(0.03, 0.5), random.uniform(0.03, 0.5)},
                   divisions);
    case 2:
      return tetrahedron(name, random, divisions);
    case 3:
      return prism(name, 3 + static_cast<int>(random.integer(6)), random.uniform(0.3, 0.6),
                   random.uniform(0.05, 0.2));
    default:
      return block(name, {random.uniform(0.02, 0.05), random.uniform(0.02, 0.05), 0.5}, divisions);
  }
}

/// The shortest translation that parts them [m], < 0 if they are apart.
inline double overlap_depth(const ConvexBody& A, const Pose<double>& X_WA, const ConvexBody& B,
                            const Pose<double>& X_WB) {
  return overlap_depth(moved(A, X_WA), moved(B, X_WB));
}

}  // namespace abut::test
