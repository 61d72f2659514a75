/// Bodies of flat faces and cylinders whose meshes are as fine as one likes, regular or not.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "engine/body_builder.h"
#include "engine/primitive_check.h"
#include "engine/random.h"
#include "tests/support/scenes.h"

namespace abut::test {

/// How finely a surface is meshed. If `irregular`, cells have a third of the length at one end of a face that
/// they have at the other, vertices are moved within their faces by up to 0.3 of a cell, and diagonals are
/// random.
struct Tessellation {
  double cell = 0.01;  ///< longest side of a cell of the mesh, before vertices are moved [m]
  bool irregular = false;

  /// How many cells a length [m] is cut into.
  [[nodiscard]] int pieces(double length) const {
    return std::max(1, static_cast<int>(std::ceil((irregular ? 1.5 : 1.0) * length / cell - 1e-9)));
  }
  /// Where the cut at a share t of their number lies: the cells' lengths go from 1/2 to 3/2 of the mean.
  [[nodiscard]] double cut(double t) const { return irregular ? 0.5 * t * (1.0 + t) : t; }
};

/// A box with the axes of the body, added or subtracted.
struct BoxPart {
  Vec3<double> lower, upper;  ///< [m]
  PrimitiveOperation operation = PrimitiveOperation::add;
};

/// The surface of what is inside an added box and inside no subtracted one.
inline TriangleMesh mesh_of_boxes(const std::vector<BoxPart>& parts, const Tessellation& tessellation) {
  std::array<std::vector<double>, 3> lines;
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<double> breaks;
    for (const BoxPart& part : parts) {
      breaks.push_back(part.lower[axis]);
      breaks.push_back(part.upper[axis]);
    }
    std::sort(breaks.begin(), breaks.end());
    breaks.erase(std::unique(breaks.begin(), breaks.end(), [](double a, double b) { return b - a < 1e-9; }),
                 breaks.end());
    auto& line = lines[static_cast<std::size_t>(axis)];
    for (std::size_t i = 0; i + 1 < breaks.size(); ++i) {
      const double length = breaks[i + 1] - breaks[i];
      const int pieces = tessellation.pieces(length);
      for (int k = 0; k < pieces; ++k)
        line.push_back(breaks[i] + length * tessellation.cut(static_cast<double>(k) / pieces));
    }
    line.push_back(breaks.back());
  }
  using Place = std::array<int, 3>;
  const auto coordinate = [&](std::size_t axis, int i) { return lines[axis][static_cast<std::size_t>(i)]; };
  const auto count = [&](std::size_t axis) { return static_cast<int>(lines[axis].size()) - 1; };
  const auto flat = [&](const Place& place) {
    return (static_cast<std::size_t>(place[0]) * lines[1].size() + static_cast<std::size_t>(place[1])) *
               lines[2].size() +
           static_cast<std::size_t>(place[2]);
  };
  std::vector<char> solid(lines[0].size() * lines[1].size() * lines[2].size(), 0);  // by cell
  const auto for_each_cell = [&](const auto& visit) {
    for (int i = 0; i < count(0); ++i) {
      for (int j = 0; j < count(1); ++j) {
        for (int k = 0; k < count(2); ++k) visit(Place{i, j, k});
      }
    }
  };
  for_each_cell([&](const Place& cell) {
    Vec3<double> x;
    for (std::size_t a = 0; a < 3; ++a)
      x[static_cast<Eigen::Index>(a)] = 0.5 * (coordinate(a, cell[a]) + coordinate(a, cell[a] + 1));
    bool added = false, subtracted = false;
    for (const BoxPart& part : parts) {
      if (!((x - part.lower).array() > 0.0).all() || !((part.upper - x).array() > 0.0).all()) continue;
      (part.operation == PrimitiveOperation::add ? added : subtracted) = true;
    }
    solid[flat(cell)] = added && !subtracted ? 1 : 0;
  });

  Random random(7);
  TriangleMesh mesh;
  std::vector<int> index_of(solid.size(), -1);
  std::vector<Place> places;
  std::vector<std::array<bool, 3>> facing;  // axes of the faces at each vertex
  const auto vertex = [&](const Place& place, std::size_t axis) {
    int& index = index_of[flat(place)];
    if (index < 0) {
      index = static_cast<int>(places.size());
      places.push_back(place);
      facing.push_back({false, false, false});
    }
    facing[static_cast<std::size_t>(index)][axis] = true;
    return index;
  };
  for_each_cell([&](const Place& cell) {
    if (solid[flat(cell)] == 0) return;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (const bool upper : {false, true}) {
        Place beyond = cell;
        beyond[axis] += upper ? 1 : -1;
        if (beyond[axis] >= 0 && beyond[axis] < count(axis) && solid[flat(beyond)] != 0) continue;
        const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
        const auto corner = [&](int du, int dv) {
          Place place = cell;
          place[axis] += upper ? 1 : 0;
          place[u] += du;
          place[v] += dv;
          return vertex(place, axis);
        };
        std::array<int, 4> quad{corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)};
        const bool turned =
            tessellation.irregular ? random.uniform() < 0.5 : (cell[0] + cell[1] + cell[2]) % 2 == 1;
        if (turned) std::rotate(quad.begin(), quad.begin() + 1, quad.end());
        if (!upper) std::swap(quad[1], quad[3]);
        mesh.triangles.emplace_back(quad[0], quad[1], quad[2]);
        mesh.triangles.emplace_back(quad[0], quad[2], quad[3]);
      }
    }
  });
  mesh.vertices.resize(3, static_cast<Eigen::Index>(places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t a = 0; a < 3; ++a) {
      const int at = places[i][a];
      double x = coordinate(a, at);
      if (tessellation.irregular && !facing[i][a]) {
        const double room = std::min(coordinate(a, at + 1) - x, x - coordinate(a, at - 1));
        x += 0.3 * random.uniform(-1.0, 1.0) * room;
      }
      mesh.vertices(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(i)) = x;
    }
  }
  return mesh;
}

/// A body of boxes with sharp edges, B's origin at the origin of the boxes' frame.
inline Body body_of_boxes(std::string name, const std::vector<BoxPart>& parts,
                          const Tessellation& tessellation) {
  BodyDescription description;
  description.name = std::move(name);
  for (const BoxPart& part : parts) {
    Primitive box;
    box.kind = PrimitiveKind::rounded_box;
    box.operation = part.operation;
    const Vec3<double> half = 0.5 * (part.upper - part.lower);
    box.parameters = {half.x(), half.y(), half.z(), 0.0};
    box.X_BP.p = 0.5 * (part.upper + part.lower);
    description.shape.primitives.push_back(box);
  }
  description.mesh = mesh_of_boxes(parts, tessellation);
  description.mass_or_density = Mass{1.0};
  description.center_of_mass = Vec3<double>::Zero();
  description.inertia = Mat3<double>(Vec3<double>::Constant(0.01).asDiagonal());
  return make_body(description);
}

/// A cylinder about the z axis, its cells along the axis and those of its ends longer than `tessellation`
/// says, by these factors.
inline TriangleMesh cylinder_mesh(double radius, double half_length, const Tessellation& tessellation,
                                  double longer_along, double longer_ends) {
  const int segments = 2 * tessellation.pieces(std::numbers::pi * radius),
            rows = tessellation.pieces(2.0 * half_length / longer_along),
            rings = tessellation.pieces(radius / longer_ends);
  const bool irregular = tessellation.irregular;
  Random random(11);
  std::vector<Vec3<double>> vertices;
  const auto add_ring = [&](double r, double z) {
    for (int k = 0; k < segments; ++k) {
      double turn = static_cast<double>(k) / segments;
      if (irregular) {  // segments from 1/2 to 3/2 of the mean
        turn += (0.5 + 0.3 * random.uniform(-1.0, 1.0)) / segments;
        turn += 0.25 / std::numbers::pi * std::sin(2.0 * std::numbers::pi * turn);
      }
      const double angle = 2.0 * std::numbers::pi * turn;
      vertices.emplace_back(r * std::cos(angle), r * std::sin(angle), z);
    }
  };
  vertices.emplace_back(0.0, 0.0, -half_length);
  for (int ring = 1; ring < rings; ++ring)
    add_ring(radius * tessellation.cut(static_cast<double>(ring) / rings), -half_length);
  for (int row = 0; row <= rows; ++row)
    add_ring(radius, half_length * (2.0 * tessellation.cut(static_cast<double>(row) / rows) - 1.0));
  for (int ring = rings - 1; ring > 0; --ring)
    add_ring(radius * tessellation.cut(static_cast<double>(ring) / rings), half_length);
  vertices.emplace_back(0.0, 0.0, half_length);

  TriangleMesh mesh;
  const int last = static_cast<int>(vertices.size()) - 1, all_rings = (last - 1) / segments;
  for (int k = 0; k < segments; ++k) {
    const int next = (k + 1) % segments;
    mesh.triangles.emplace_back(0, 1 + next, 1 + k);
    for (int ring = 0; ring + 1 < all_rings; ++ring) {
      const int a = 1 + ring * segments + k, b = 1 + ring * segments + next, c = b + segments,
                d = a + segments;
      if ((ring + k) % 2 == 0) {
        mesh.triangles.emplace_back(a, b, c);
        mesh.triangles.emplace_back(a, c, d);
      } else {
        mesh.triangles.emplace_back(a, b, d);
        mesh.triangles.emplace_back(b, c, d);
      }
    }
    mesh.triangles.emplace_back(last, last - segments + k, last - segments + next);
  }
  mesh.vertices.resize(3, static_cast<Eigen::Index>(vertices.size()));
  for (std::size_t i = 0; i < vertices.size(); ++i)
    mesh.vertices.col(static_cast<Eigen::Index>(i)) = vertices[i];
  return mesh;
}

/// A cylinder about its z axis: a superquadric with the sharpest rims that there are.
inline Body cylinder_body(double radius, double half_length, const Tessellation& tessellation,
                          double longer_along, double longer_ends) {
  BodyDescription description;
  description.name = "cylinder";
  description.shape.primitives = {superquadric({radius, radius, half_length}, k_min_exponent, 1.0)};
  description.mesh = cylinder_mesh(radius, half_length, tessellation, longer_along, longer_ends);
  description.mass_or_density = Mass{1.0};
  return make_body(description);
}

}  // namespace abut::test
