#include "collision/fitting/marching_cubes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "collision/manifold/kernel/point_kernels.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/check.h"
#include "engine/instruction_set.h"

namespace abut {
namespace {

// A cube's corner c lies at the bits (x, y, z) = (c & 1, c >> 1 & 1, c >> 2 & 1). Its edge along axis a that
// starts at corner c (bit a of c is 0) has the number 4 a + (the other two bits of c, the lower axis first).

constexpr int k_edges = 12;
using Loop = std::vector<int>;  // edges of a cube in the order in which the surface crosses them

struct GridEdge {
  int corner, axis;
};

int edge_number(int corner_a, int corner_b) {
  const int bit = corner_a ^ corner_b, axis = bit >> 1;  // bits 1, 2, 4 -> axes 0, 1, 2
  const int from = corner_a & corner_b;
  const int low = axis == 0 ? 1 : 0, high = axis == 2 ? 1 : 2;
  return 4 * axis + (from >> low & 1) + 2 * (from >> high & 1);
}

GridEdge edge_of_number(int edge) {
  const int axis = edge / 4, low = axis == 0 ? 1 : 0, high = axis == 2 ? 1 : 2;
  return {((edge & 1) << low) | ((edge >> 1 & 1) << high), axis};
}

/// The four corners of face (axis, side), counter-clockwise seen from outside the cube.
std::array<int, 4> face_corners(int axis, int side) {
  const int u = 1 << ((axis + 1) % 3), v = 1 << ((axis + 2) % 3), base = side << axis;
  if (side == 1) return {base, base | u, base | u | v, base | v};
  return {base, base | v, base | u | v, base | u};
}

bool share_a_face(int edge_a, int edge_b) {
  const auto corners = [](int edge) {
    const GridEdge e = edge_of_number(edge);
    return std::array<int, 2>{e.corner, e.corner | 1 << e.axis};
  };
  const auto a = corners(edge_a), b = corners(edge_b);
  const int all = a[0] & a[1] & b[0] & b[1], any = a[0] | a[1] | b[0] | b[1];
  return all != 0 || any != 7;  // some coordinate is 1, or 0, at all four corners
}

/// Cuts a loop into triangles without a diagonal that lies in a face of the cube: the neighbour cube might
/// draw the same one, and the edge would have four triangles. Clips ears, going back where that ends in a
/// dead end.
bool triangulate(const Loop& loop, std::vector<std::array<int, 3>>& triangles) {
  const std::size_t n = loop.size();
  if (n == 3) {
    triangles.push_back({loop[0], loop[1], loop[2]});
    return true;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const int before = loop[i], ear = loop[(i + 1) % n], after = loop[(i + 2) % n];
    if (share_a_face(before, after)) continue;
    triangles.push_back({before, ear, after});
    Loop rest = loop;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>((i + 1) % n));
    if (triangulate(rest, triangles)) return true;
    triangles.pop_back();
  }
  return false;
}

/// The triangles of a cube, each three of its edges, for every set of corners inside (bit c of the index:
/// corner c).
///
/// Going round a face counter-clockwise, the surface leaves it through the edge that enters the inside, and
/// comes in through the next one that exits: that leaves the inside to its left, and cuts off each run of
/// inside corners by itself. An edge is entered in one of its two faces and exited in the other, so following
/// these segments from face to face gives closed loops.
std::array<std::vector<std::array<int, 3>>, 256> make_case_table() {
  std::array<std::vector<std::array<int, 3>>, 256> table;
  for (int inside = 0; inside < 256; ++inside) {
    const auto is_inside = [&](int corner) { return (inside >> corner & 1) != 0; };
    std::array<int, k_edges> next;
    next.fill(-1);
    for (int face = 0; face < 6; ++face) {
      const auto corners = face_corners(face / 2, face % 2);
      for (std::size_t i = 0; i < 4; ++i) {
        if (is_inside(corners[i]) || !is_inside(corners[(i + 1) % 4])) continue;
        std::size_t j = i + 1;
        while (is_inside(corners[(j + 1) % 4])) ++j;
        next[static_cast<std::size_t>(edge_number(corners[i], corners[(i + 1) % 4]))] =
            edge_number(corners[j % 4], corners[(j + 1) % 4]);
      }
    }
    std::array<bool, k_edges> done{};
    for (int start = 0; start < k_edges; ++start) {
      Loop loop;
      for (int edge = start;
           next[static_cast<std::size_t>(edge)] >= 0 && !done[static_cast<std::size_t>(edge)];
           edge = next[static_cast<std::size_t>(edge)]) {
        done[static_cast<std::size_t>(edge)] = true;
        loop.push_back(edge);
      }
      if (loop.empty()) continue;
      if (!triangulate(loop, table[static_cast<std::size_t>(inside)])) {
        throw std::logic_error("marching cubes: a loop cannot be cut into triangles");
      }
    }
  }
  return table;
}

/// An interval with values of opposite sign, or zero, at its ends a and b.
struct Bracket {
  Vec3<double> a, b;
  double fa, fb;
  double ta = 0.0, tb = 1.0;  // where the root is known to be, and the values there
  [[nodiscard]] double next() const { return (ta * fb - tb * fa) / (fb - fa); }
  [[nodiscard]] Vec3<double> at(double t) const { return a + t * (b - a); }
};

/// The roots of all brackets at once, as points. Secant steps that keep the bracket, with the value of an end
/// that stays halved each time (Illinois).
Points roots(const ScalarField& field, std::vector<Bracket> brackets) {
  std::vector<std::size_t> open(brackets.size());  // those not converged yet
  std::iota(open.begin(), open.end(), std::size_t{0});
  std::vector<double> values;
  for (int i = 0; i < 100 && !open.empty(); ++i) {
    Points points(3, static_cast<Eigen::Index>(open.size()));
    for (std::size_t n = 0; n < open.size(); ++n) {
      const Bracket& k = brackets[open[n]];
      points.col(static_cast<Eigen::Index>(n)) = k.at(k.next());
    }
    values.resize(open.size());
    field(points, values);
    std::size_t still_open = 0;
    for (std::size_t n = 0; n < open.size(); ++n) {
      Bracket& k = brackets[open[n]];
      const double t = k.next(), f = values[n];
      if ((f < 0.0) == (k.fb < 0.0)) {
        k.fa *= 0.5;
      } else {
        k.ta = k.tb;
        k.fa = k.fb;
      }
      const bool is_done = f == 0.0 || std::abs(t - k.tb) < 1e-12;
      k.tb = t;
      k.fb = f;
      if (!is_done) open[still_open++] = open[n];
    }
    open.resize(still_open);
  }
  Points result(3, static_cast<Eigen::Index>(brackets.size()));
  for (std::size_t n = 0; n < brackets.size(); ++n) {
    result.col(static_cast<Eigen::Index>(n)) = brackets[n].at(brackets[n].tb);
  }
  return result;
}

class Marcher {
 public:
  Marcher(const ScalarField& field, const SampleGrid& grid) : field_(field), grid_(grid) {
    const std::size_t corners =
        static_cast<std::size_t>(grid.cells.x() + 1) * static_cast<std::size_t>(grid.cells.y() + 1);
    layer_points_.resize(3, static_cast<Eigen::Index>(corners));
    for (auto& layer : values_) layer.resize(corners);
    for (auto& layer : vertex_of_edge_) {
      for (auto& axis : layer) axis.assign(corners, -1);
    }
  }

  TriangleMesh run(const MeshingProgress& progress) {
    sample(0);
    for (int k = 0; k < grid_.cells.z(); ++k) {  // only two layers of corners are ever in memory
      sample(k + 1);
      for (int j = 0; j < grid_.cells.y(); ++j) {
        for (int i = 0; i < grid_.cells.x(); ++i) march(i, j, k);
      }
      if (progress) progress("layers", k + 1, grid_.cells.z());
    }
    TriangleMesh mesh;
    mesh.vertices = roots(field_, std::move(brackets_));
    mesh.triangles = std::move(triangles_);
    return mesh;
  }

 private:
  [[nodiscard]] Vec3<double> position(int i, int j, int k) const {
    return grid_.lower + grid_.cell_size * Vec3<double>(i, j, k);
  }
  [[nodiscard]] std::size_t index(int i, int j) const {
    return static_cast<std::size_t>(i) +
           static_cast<std::size_t>(grid_.cells.x() + 1) * static_cast<std::size_t>(j);
  }
  [[nodiscard]] double value(int i, int j, int k) const {
    return values_[static_cast<std::size_t>(k & 1)][index(i, j)];
  }

  void sample(int k) {
    for (auto& axis : vertex_of_edge_[static_cast<std::size_t>(k & 1)]) axis.assign(axis.size(), -1);
    std::vector<double>& values = values_[static_cast<std::size_t>(k & 1)];
    for (int j = 0; j <= grid_.cells.y(); ++j) {
      for (int i = 0; i <= grid_.cells.x(); ++i) {
        layer_points_.col(static_cast<Eigen::Index>(index(i, j))) = position(i, j, k);
      }
    }
    field_(layer_points_, values);
    for (int j = 0; j <= grid_.cells.y(); ++j) {
      for (int i = 0; i <= grid_.cells.x(); ++i) {
        const double f = values[index(i, j)];
        require(!std::isnan(f), "marching cubes: the field is NaN in the grid");
        const bool on_border = i == 0 || j == 0 || k == 0 || i == grid_.cells.x() || j == grid_.cells.y() ||
                               k == grid_.cells.z();
        require(!on_border || f >= 0.0, "marching cubes: the surface crosses the border of the grid");
      }
    }
  }

  void march(int i, int j, int k) {
    int inside = 0;
    for (int c = 0; c < 8; ++c) {
      if (value(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2 & 1)) < 0.0) inside |= 1 << c;
    }
    if (inside == 0 || inside == 255) return;
    static const auto table = make_case_table();
    for (const auto& edges : table[static_cast<std::size_t>(inside)]) {
      triangles_.emplace_back(vertex(i, j, k, edges[0]), vertex(i, j, k, edges[1]),
                              vertex(i, j, k, edges[2]));
    }
  }

  /// The vertex on an edge of cube (i, j, k), made when first asked for.
  int vertex(int i, int j, int k, int edge) {
    const GridEdge e = edge_of_number(edge);
    i += e.corner & 1;
    j += e.corner >> 1 & 1;
    k += e.corner >> 2 & 1;
    int& v = vertex_of_edge_[static_cast<std::size_t>(k & 1)][static_cast<std::size_t>(e.axis)][index(i, j)];
    if (v < 0) {
      const int i1 = i + (e.axis == 0), j1 = j + (e.axis == 1), k1 = k + (e.axis == 2);
      v = static_cast<int>(brackets_.size());
      brackets_.push_back({position(i, j, k), position(i1, j1, k1), value(i, j, k), value(i1, j1, k1)});
    }
    return v;
  }

  const ScalarField& field_;
  const SampleGrid& grid_;
  std::array<std::vector<double>, 2> values_;                      // of corner layers k (by k mod 2)
  std::array<std::array<std::vector<int>, 3>, 2> vertex_of_edge_;  // of edges that start in these layers
  Points layer_points_;
  std::vector<Bracket> brackets_;  // one a vertex
  std::vector<Eigen::Vector3i> triangles_;
};

}  // namespace

ScalarField field_of(std::function<double(const Vec3<double>&)> function) {
  return [function = std::move(function)](const Points& points, std::span<double> values) {
    for (Eigen::Index i = 0; i < points.cols(); ++i)
      values[static_cast<std::size_t>(i)] = function(points.col(i));
  };
}

ScalarField field_of(const ShapeSdf& sdf) {
  return [&sdf](const Points& points, std::span<double> values) {
    constexpr Eigen::Index k_most = 1024;  // points at a time
    for (Eigen::Index first = 0; first < points.cols(); first += k_most) {
      const auto count = static_cast<int>(std::min(k_most, points.cols() - first));
      const auto row = [&](int axis) { return points.row(axis).data() + first; };
      chosen_kernels<PointKernels>().sample_points(sdf, SdfOrder::distance, row(0), row(1), row(2), count,
                                                   values.data() + first);
    }
  };
}

SampleGrid grid_around(const Eigen::AlignedBox3d& box, int resolution) {
  require(resolution >= 4, "the resolution of a grid must be at least 4");
  const Vec3<double> sizes = box.sizes();
  require(sizes.allFinite() && sizes.minCoeff() > 0.0, "a grid needs a finite box with a volume");
  SampleGrid grid;
  grid.cell_size = sizes.maxCoeff() / resolution;
  const Vec3<double> margin(1.3819, 1.4142, 1.4472);  // in cells: no multiple of a half
  grid.lower = box.min() - grid.cell_size * margin;
  grid.cells = (sizes.array() / grid.cell_size + margin.array() + 1.0).ceil().cast<int>();
  return grid;
}

TriangleMesh marching_cubes(const ScalarField& field, const SampleGrid& grid,
                            const MeshingProgress& progress) {
  require(std::isfinite(grid.cell_size) && grid.cell_size > 0.0 && grid.cells.minCoeff() > 0 &&
              grid.lower.allFinite(),
          "marching cubes: the grid must have cubes of finite size");
  return Marcher(field, grid).run(progress);
}

}  // namespace abut
