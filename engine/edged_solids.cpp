#include "engine/edged_solids.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

#include "engine/check.h"
#include "engine/convex_hull.h"

namespace abut {
namespace {

constexpr double k_on_plane = 1e-9;  // distance of a corner from its faces, by the size
constexpr double k_coarser = 1.02;   // from one spacing that is tried to the next
// More than 2 pi/0.2: so neighbours on the side bend too little to be flat faces (flat_faces.h).
constexpr int k_meridians = 36;
constexpr double k_side_stretch = 3.0;  // spacing along straight lines of the side, by that on the ends
// Of rims that are not acute, by 3 volume/area. Two round rims, as of a peg and of its hole, cross each other
// where their chords are nearly parallel, and the entry of an edge into a right-angled wedge is smoothed by
// 0.8 % of the depth (convex_edges.h): without a bevel a peg is held as soon as it is deep enough in its
// hole.
constexpr double k_bevel = 7.5e-3, k_most_bevel = 0.25;  // the second by the radius
constexpr int k_sides_of_disc = 6, k_rings_of_end = 6;   // with which points are spread evenly

using Chain = std::vector<int>;   // vertices along a line
using Ring = std::vector<Chain>;  // around a face: each chain begins where the one before ends

class MeshBuilder {
 public:
  int add(const Vec3<double>& x) {
    positions_.push_back(x);
    return static_cast<int>(positions_.size()) - 1;
  }
  [[nodiscard]] const Vec3<double>& position(int v) const { return positions_[at(v)]; }
  [[nodiscard]] int vertex_count() const { return static_cast<int>(positions_.size()); }

  /// The points that divide the line from a to b into equal pieces, both ends included.
  Chain line(int a, int b, int pieces) {
    Chain chain{a};
    for (int i = 1; i < pieces; ++i) {
      const double t = static_cast<double>(i) / pieces;
      chain.push_back(add((1.0 - t) * position(a) + t * position(b)));
    }
    chain.push_back(b);
    return chain;
  }

  /// Triangles between two lines, `left` being on the left of `right`, seen from outside. Either may be one
  /// point. The next triangle stands on the edge whose middle comes first, so that what is its own mirror
  /// image has triangles that are.
  void fill(const Chain& right, const Chain& left) {
    const std::size_t n = right.size() - 1, m = left.size() - 1;
    for (std::size_t i = 0, j = 0; i < n || j < m;) {
      const std::size_t of_right = (2 * i + 1) * m, of_left = (2 * j + 1) * n;
      const bool is_right_first = of_right < of_left || (of_right == of_left && 2 * i + 1 > n);
      if (j == m || (i < n && is_right_first)) {
        triangles_.emplace_back(right[i], right[i + 1], left[j]);
        ++i;
      } else {
        triangles_.emplace_back(right[i], left[j + 1], left[j]);
        ++j;
      }
    }
  }
  void fill(const Ring& outer, const Ring& inner) {
    for (std::size_t side = 0; side < outer.size(); ++side) fill(outer[side], inner[side]);
  }

  [[nodiscard]] TriangleMesh mesh() && {
    TriangleMesh mesh;
    mesh.vertices.resize(3, vertex_count());
    for (int v = 0; v < vertex_count(); ++v) mesh.vertices.col(v) = position(v);
    mesh.triangles = std::move(triangles_);
    return mesh;
  }

 private:
  std::vector<Vec3<double>> positions_;
  std::vector<Eigen::Vector3i> triangles_;
};

Chain reversed(const Chain& chain) { return {chain.rbegin(), chain.rend()}; }
int pieces_of(const Chain& chain) { return static_cast<int>(chain.size()) - 1; }

/// The corners of a polyhedron and of each of its faces, anticlockwise seen from outside.
struct Polyhedron {
  Points corners;
  std::vector<std::vector<int>> faces;
  double area = 0.0;
};

/// Whether each edge of a face is one of another face, in the opposite direction.
bool is_closed(const Polyhedron& solid) {
  std::set<std::pair<int, int>> edges;
  for (const std::vector<int>& face : solid.faces) {
    for (std::size_t k = 0; k < face.size(); ++k) {
      if (!edges.emplace(face[k], face[(k + 1) % face.size()]).second) return false;
    }
  }
  return std::all_of(edges.begin(), edges.end(), [&](const auto& edge) {
    return edges.contains({edge.second, edge.first});
  });
}

Polyhedron polyhedron_of(const Points& normals, std::span<const double> offsets) {
  Polyhedron solid;
  solid.corners = polyhedron_vertices(normals, offsets);
  const double size = solid.corners.colwise().norm().maxCoeff();
  for (Eigen::Index i = 0; i < normals.cols(); ++i) {
    const Vec3<double> n = normals.col(i);
    std::vector<int> face;
    Vec3<double> middle = Vec3<double>::Zero();
    for (int v = 0; v < static_cast<int>(solid.corners.cols()); ++v) {
      if (offsets[static_cast<std::size_t>(i)] - n.dot(solid.corners.col(v)) > k_on_plane * size) continue;
      face.push_back(v);
      middle += solid.corners.col(v);
    }
    if (face.size() < 3) continue;  // the plane touches a corner or an edge at most
    middle /= static_cast<double>(face.size());
    const Vec3<double> e_x = (solid.corners.col(face[0]) - middle).normalized(), e_y = n.cross(e_x);
    const auto angle = [&](int v) {
      const Vec3<double> r = solid.corners.col(v) - middle;
      return std::atan2(r.dot(e_y), r.dot(e_x));
    };
    std::sort(face.begin(), face.end(), [&](int a, int b) { return angle(a) < angle(b); });
    for (std::size_t k = 0; k < face.size(); ++k) {
      const Vec3<double> a = solid.corners.col(face[k]) - middle,
                         b = solid.corners.col(face[(k + 1) % face.size()]) - middle;
      solid.area += 0.5 * n.dot(a.cross(b));
    }
    solid.faces.push_back(std::move(face));
  }
  return solid;
}

/// A polyhedron whose edges are cut into pieces of about a spacing.
class PolyhedronMesher {
 public:
  /// @param least  pieces of an edge: 2, or 1
  PolyhedronMesher(const Polyhedron& solid, double spacing, int least)
      : solid_(solid), spacing_(spacing), least_(least) {
    for (Eigen::Index v = 0; v < solid.corners.cols(); ++v) builder_.add(solid.corners.col(v));
    for (const std::vector<int>& corners : solid.faces) cover(corners);
  }
  [[nodiscard]] bool is_coarsest() const { return is_coarsest_; }
  [[nodiscard]] TriangleMesh mesh() && { return std::move(builder_).mesh(); }

 private:
  /// The edge from a to b; the same vertices as from b to a.
  Chain edge(int a, int b) {
    if (const auto found = edges_.find({b, a}); found != edges_.end()) return reversed(found->second);
    const double length = (builder_.position(b) - builder_.position(a)).norm();
    int pieces = 2 * static_cast<int>(std::lround(0.5 * length / spacing_));
    if (pieces < 2) pieces = length < std::numbers::sqrt2 * spacing_ ? least_ : 2;
    is_coarsest_ = is_coarsest_ && pieces == least_;
    return edges_[{a, b}] = builder_.line(a, b, pieces);
  }

  void cover(const std::vector<int>& corners) {
    Ring outline;
    for (std::size_t k = 0; k < corners.size(); ++k)
      outline.push_back(edge(corners[k], corners[(k + 1) % corners.size()]));
    if (is_parallelogram(corners, outline))
      cover_by_grid(outline);
    else
      cover_by_rings(std::move(outline));
  }

  [[nodiscard]] bool is_parallelogram(const std::vector<int>& corners, const Ring& outline) const {
    if (corners.size() != 4) return false;
    const auto x = [&](std::size_t k) { return builder_.position(corners[k]); };
    return (x(0) - x(1) + x(2) - x(3)).norm() <= k_on_plane * (x(2) - x(0)).norm() &&
           outline[0].size() == outline[2].size() && outline[1].size() == outline[3].size();
  }

  /// Rows from the first side to the third; all diagonals point to the middle.
  void cover_by_grid(const Ring& outline) {
    const Chain last = reversed(outline[2]), left = reversed(outline[3]);
    const int rows = pieces_of(left);
    Chain row = outline[0];
    for (int k = 1; k <= rows; ++k) {
      const Chain next = k == rows ? last : builder_.line(left[at(k)], outline[1][at(k)], pieces_of(row));
      if (2 * k <= rows + 1)
        builder_.fill(row, next);
      else
        builder_.fill(reversed(next), reversed(row));
      row = next;
    }
  }

  /// Copies of the outline, smaller by equal steps, as many as its sides have pieces if it is regular.
  void cover_by_rings(Ring outline) {
    int pieces = 0;
    for (const Chain& side : outline) pieces += pieces_of(side);
    const auto sides = static_cast<double>(outline.size());
    if (pieces == 3) {
      builder_.fill(outline[0], Chain{outline[2][0]});
      return;
    }
    const int rings =
        std::max(1, static_cast<int>(std::lround(0.5 * pieces / sides / std::tan(std::numbers::pi / sides))));
    const Ring whole = outline;
    const Vec3<double> middle = centroid(whole);
    for (int ring = rings - 1; ring >= 0; --ring) {
      const double scale = static_cast<double>(ring) / rings;
      Ring inner;
      if (ring == 0) {
        inner.assign(whole.size(), Chain{builder_.add(middle)});
      } else {
        Chain corners;
        for (const Chain& side : whole)
          corners.push_back(builder_.add(middle + scale * (builder_.position(side[0]) - middle)));
        for (std::size_t k = 0; k < whole.size(); ++k) {
          int count = std::max(1, static_cast<int>(std::lround(scale * pieces_of(whole[k]))));
          // Two odd numbers would have edges with one middle, between which no triangle is its own mirror
          // image.
          const int outside = pieces_of(outline[k]);
          if (outside > 1 && outside % 2 == 1 && count % 2 == 1) count += count > 1 ? -1 : 1;
          inner.push_back(builder_.line(corners[k], corners[(k + 1) % corners.size()], count));
        }
      }
      builder_.fill(outline, inner);
      outline = std::move(inner);
    }
  }

  [[nodiscard]] Vec3<double> centroid(const Ring& outline) const {
    const Vec3<double> first = builder_.position(outline[0][0]);
    double area = 0.0;
    Vec3<double> sum = Vec3<double>::Zero();
    for (std::size_t k = 1; k + 1 < outline.size(); ++k) {
      const Vec3<double> a = builder_.position(outline[k][0]) - first,
                         b = builder_.position(outline[k + 1][0]) - first;
      const double of_triangle = a.cross(b).norm();
      area += of_triangle;
      sum += of_triangle / 3.0 * (a + b);
    }
    return first + sum / area;
  }

  const Polyhedron& solid_;
  double spacing_;
  int least_;
  bool is_coarsest_ = true;
  MeshBuilder builder_;
  std::map<std::pair<int, int>, Chain> edges_;
};

/// Circles about the z axis from below to above, the rims among them.
struct ConeRings {
  struct Circle {
    double radius, z;
    int points;
  };
  std::vector<Circle> circles;
  int vertices = 0;

  ConeRings(double base_radius, double top_radius, double half_length, double spacing) {
    const auto pieces = [&](double length) {
      return std::max(1, static_cast<int>(std::lround(length / spacing)));
    };
    const double slant = std::hypot(2.0 * half_length, base_radius - top_radius);
    const MassProperties solid = cone_mass_properties(base_radius, top_radius, half_length, 1.0);
    const double area = std::numbers::pi * (base_radius * base_radius + top_radius * top_radius +
                                            (base_radius + top_radius) * slant),
                 bevel = k_bevel * 3.0 * solid.volume / area;
    const auto bevel_of = [&](double radius, double other) {
      return radius <= other ? std::min(bevel, k_most_bevel * radius) : 0.0;
    };
    const double of_base = bevel_of(base_radius, top_radius), of_top = bevel_of(top_radius, base_radius);
    const int pieces_of_side = pieces(slant / k_side_stretch);
    const auto add_on_side = [&](double from_base) {
      const double t = from_base / slant, radius = (1.0 - t) * base_radius + t * top_radius;
      add({radius, (2.0 * t - 1.0) * half_length, radius > 0.0 ? k_meridians : 1});
    };
    if (base_radius > 0.0) {
      const int rings = std::min(pieces(base_radius), k_rings_of_end);
      for (int k = 0; k < rings; ++k) add_of_end(base_radius - of_base, -half_length, k, rings);
      if (of_base > 0.0) add_of_end(base_radius - of_base, -half_length, rings, rings);
    }
    for (int k = 0; k <= pieces_of_side; ++k)
      add_on_side(of_base + (slant - of_base - of_top) * k / pieces_of_side);
    if (top_radius > 0.0) {
      const int rings = std::min(pieces(top_radius), k_rings_of_end);
      for (int k = of_top > 0.0 ? rings : rings - 1; k >= 0; --k)
        add_of_end(top_radius - of_top, half_length, k, rings);
    }
  }

 private:
  void add(const Circle& circle) {
    circles.push_back(circle);
    vertices += circle.points;
  }
  void add_of_end(double radius, double z, int k, int rings) {
    const auto on_side = std::lround(static_cast<double>(k_meridians) / k_sides_of_disc * k / rings);
    add({radius * k / rings, z, k == 0 ? 1 : k_sides_of_disc * static_cast<int>(on_side)});
  }
};

/// A circle as so many chains of equally many pieces; a point as chains of that point.
Ring divided(const Chain& circle, std::size_t chains) {
  const std::size_t count = circle.size();
  if (count == 1) return Ring(chains, circle);
  Ring ring;
  for (std::size_t c = 0; c < chains; ++c) {
    Chain& chain = ring.emplace_back();
    for (std::size_t i = 0; i <= count / chains; ++i)
      chain.push_back(circle[(c * (count / chains) + i) % count]);
  }
  return ring;
}

void require_cone(double base_radius, double top_radius, double half_length) {
  require_positive(std::max(base_radius, top_radius), "the larger radius");
  require(std::min(base_radius, top_radius) >= 0.0, "the smaller radius is less than 0");
  require_positive(half_length, "half_length");
}

}  // namespace

std::optional<TriangleMesh> polyhedron_mesh(const Points& normals, std::span<const double> offsets,
                                            int vertices) {
  require(vertices > 0, "a mesh needs vertices");
  const Polyhedron solid = polyhedron_of(normals, offsets);
  if (!is_closed(solid)) return std::nullopt;
  const auto mesh_of_pieces = [&](int least) {
    for (double spacing = std::sqrt(solid.area / vertices);; spacing *= k_coarser) {
      PolyhedronMesher mesher(solid, spacing, least);
      const bool is_coarsest = mesher.is_coarsest();
      TriangleMesh mesh = std::move(mesher).mesh();
      if (is_coarsest || mesh.vertex_count() <= vertices) return mesh;
    }
  };
  // A face of one row of quadrangles is not its own mirror image.
  const TriangleMesh even = mesh_of_pieces(2);
  return even.vertex_count() <= vertices ? even : mesh_of_pieces(1);
}

TriangleMesh cone_mesh(double base_radius, double top_radius, double half_length, int vertices) {
  require_cone(base_radius, top_radius, half_length);
  require(vertices > 0, "a mesh needs vertices");
  const double length = 2.0 * half_length + base_radius + top_radius;
  double spacing = length / vertices;
  ConeRings rings(base_radius, top_radius, half_length, spacing);
  while (rings.vertices > vertices && spacing < 2.0 * length) {
    spacing *= k_coarser;
    rings = ConeRings(base_radius, top_radius, half_length, spacing);
  }
  MeshBuilder builder;
  Chain before;
  for (const ConeRings::Circle& circle : rings.circles) {
    Chain points;
    for (int i = 0; i < circle.points; ++i) {
      const double angle = 2.0 * std::numbers::pi * i / circle.points;
      points.push_back(
          builder.add({circle.radius * std::cos(angle), circle.radius * std::sin(angle), circle.z}));
    }
    // Of two circles with as many points each quadrangle is divided alike: all points have equal areas.
    const auto chains =
        static_cast<std::size_t>(points.size() == before.size() ? circle.points : k_sides_of_disc);
    if (!before.empty()) builder.fill(divided(before, chains), divided(points, chains));
    before = std::move(points);
  }
  return std::move(builder).mesh();
}

MassProperties cone_mass_properties(double base_radius, double top_radius, double half_length,
                                    double density) {
  require_cone(base_radius, top_radius, half_length);
  require_positive(density, "density");
  using std::numbers::pi;
  const double h = half_length, m = 0.5 * (base_radius + top_radius), d = 0.5 * (top_radius - base_radius);
  const double m2 = m * m, d2 = d * d, xx = 0.5 * pi * h * (m2 * m2 + 2.0 * m2 * d2 + d2 * d2 / 5.0);
  MassProperties result;
  result.volume = 2.0 * pi * h * (m2 + d2 / 3.0);
  result.mass = density * result.volume;
  const double z = 4.0 / 3.0 * pi * h * h * m * d / result.volume,
               zz = 2.0 * pi * h * h * h * (m2 / 3.0 + d2 / 5.0) - result.volume * z * z;
  result.center_of_mass = {0.0, 0.0, z};
  result.inertia = Vec3<double>(density * (xx + zz), density * (xx + zz), 2.0 * density * xx).asDiagonal();
  return result;
}

}  // namespace abut
