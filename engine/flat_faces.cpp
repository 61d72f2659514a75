#include "engine/flat_faces.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <Eigen/QR>

namespace abut {
namespace {

constexpr double k_flat = 1e-5;          // [rad]: triangles whose normals differ by less are one face
constexpr double k_least_bend = 0.2;     // [rad]
constexpr double k_least_radius = 0.02;  // by the largest extent of the mesh
constexpr double k_same = 1e-6;          // lengths that count as equal, by the size of the face
constexpr double k_least_share = 1e-3;   // of a support, by the mean of all
constexpr double k_lever = 0.02;  // by which the torque of friction may differ from that of an even load
constexpr double k_coarse_lever = 0.06;  // where there are no such supports, from that of all points

using Moments = Eigen::Matrix<double, 6, 1>;

Moments moments(const Eigen::Vector2d& x) {
  Moments m;
  m << 1.0, x[0], x[1], x[0] * x[0], x[0] * x[1], x[1] * x[1];
  return m;
}

/// Triangles with one normal that hang together by their edges.
class Faces {
 public:
  explicit Faces(const TriangleMesh& mesh) : mesh_(mesh), face_(mesh.triangles.size(), -1) {
    std::map<std::pair<int, int>, int> triangle_of;  // by the edge it runs along
    for (int t = 0; t < mesh.triangle_count(); ++t) {
      const Eigen::Vector3i& corners = mesh.triangles[at(t)];
      const Vec3<double> a = mesh.vertices.col(corners[0]);
      normals_.push_back((mesh.vertices.col(corners[1]) - a).cross(mesh.vertices.col(corners[2]) - a));
      normals_.back().stableNormalize();
      for (int k = 0; k < 3; ++k) triangle_of[{corners[k], corners[(k + 1) % 3]}] = t;
    }
    for (const Eigen::Vector3i& corners : mesh.triangles) {
      std::array<int, 3>& across = across_.emplace_back();
      for (int k = 0; k < 3; ++k) {
        const auto other = triangle_of.find({corners[(k + 1) % 3], corners[k]});
        across[at(k)] = other == triangle_of.end() ? -1 : other->second;
      }
    }
    for (int t = 0; t < mesh.triangle_count(); ++t) {
      if (face_[at(t)] < 0) grow(t);
    }
  }

  struct Face {
    std::vector<int> triangles;
    Vec3<double> normal;
    bool bends = true;  ///< at all of its border
  };
  [[nodiscard]] const std::vector<Face>& all() const { return faces_; }

 private:
  void grow(int seed) {
    const int number = static_cast<int>(faces_.size());
    Face face{{seed}, normals_[at(seed)]};
    face_[at(seed)] = number;
    for (std::size_t i = 0; i < face.triangles.size(); ++i) {
      for (const int next : across_[at(face.triangles[i])]) {
        if (next < 0 || face_[at(next)] == number) continue;
        const double off = (normals_[at(next)] - face.normal).norm();
        if (off <= k_flat && face_[at(next)] < 0) {
          face_[at(next)] = number;
          face.triangles.push_back(next);
        } else if (off < k_least_bend) {
          face.bends = false;
        }
      }
    }
    faces_.push_back(std::move(face));
  }

  const TriangleMesh& mesh_;
  std::vector<Vec3<double>> normals_;
  std::vector<std::array<int, 3>> across_;  // triangles beyond their edges
  std::vector<int> face_;                   // of each triangle
  std::vector<Face> faces_;
};

/// Points of a face in its plane.
struct PlanePoints {
  std::vector<int> vertices;
  std::vector<Eigen::Vector2d> x;  ///< from the middle, by the radius of gyration
  std::vector<double> areas;       ///< a_i, by their sum
  double radius = 0.0;             ///< of gyration [m]
  double lever = 0.0;              ///< mean distance of the face from the middle, by the radius of gyration
};

/// Integral of |x| over the triangle of the origin, a and b, n.(a x b) > 0 counting positive: with the
/// distance d of the line through a and b and s along it,  d/6 [s |x| + d^2 asinh(s/d)]  from a to b.
double integral_of_distance(const Vec3<double>& a, const Vec3<double>& b, const Vec3<double>& n) {
  const double length = (b - a).norm(), d = n.dot(a.cross(b)) / length;
  const Vec3<double> along = (b - a) / length;
  if (std::abs(d) <= k_same * length) return 0.0;
  const auto up_to = [&](const Vec3<double>& x) {
    const double s = along.dot(x);
    return s * x.norm() + d * d * std::asinh(s / std::abs(d));
  };
  return d / 6.0 * (up_to(b) - up_to(a));
}

PlanePoints in_plane(const TriangleMesh& mesh, std::span<const double> areas, const Points& area_vectors,
                     const Faces::Face& face) {
  PlanePoints out;
  for (const int t : face.triangles)
    for (const int v : mesh.triangles[at(t)]) out.vertices.push_back(v);
  std::sort(out.vertices.begin(), out.vertices.end());
  out.vertices.erase(std::unique(out.vertices.begin(), out.vertices.end()), out.vertices.end());
  double sum = 0.0;
  Vec3<double> middle = Vec3<double>::Zero();
  for (const int v : out.vertices) {
    out.areas.push_back(k_any_facing * areas[at(v)] + std::max(0.0, area_vectors.col(v).dot(face.normal)));
    sum += out.areas.back();
    middle += out.areas.back() * mesh.vertices.col(v);
  }
  middle /= sum;
  const Vec3<double> e_x = face.normal.unitOrthogonal(), e_y = face.normal.cross(e_x);
  double second_moment = 0.0;
  for (std::size_t i = 0; i < out.vertices.size(); ++i) {
    const Vec3<double> r = mesh.vertices.col(out.vertices[i]) - middle;
    out.areas[i] /= sum;
    out.x.emplace_back(r.dot(e_x), r.dot(e_y));
    second_moment += out.areas[i] * out.x.back().squaredNorm();
  }
  out.radius = std::sqrt(second_moment);
  for (Eigen::Vector2d& x : out.x) x /= out.radius;
  double area = 0.0;
  for (const int t : face.triangles) {
    for (int k = 0; k < 3; ++k) {
      const Vec3<double> a = mesh.vertices.col(mesh.triangles[at(t)][k]) - middle,
                         b = mesh.vertices.col(mesh.triangles[at(t)][(k + 1) % 3]) - middle;
      area += 0.5 * face.normal.dot(a.cross(b));
      out.lever += integral_of_distance(a, b, face.normal);
    }
  }
  out.lever /= area * out.radius;
  return out;
}

double cross(const Eigen::Vector2d& a, const Eigen::Vector2d& b) { return a[0] * b[1] - a[1] * b[0]; }

/// Corners of the convex hull, none on a straight side (Andrew's monotone chain).
std::vector<int> hull_corners(const std::vector<Eigen::Vector2d>& x) {
  std::vector<int> order(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) order[i] = static_cast<int>(i);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(x[at(a)][0], x[at(a)][1]) < std::pair(x[at(b)][0], x[at(b)][1]);
  });
  const auto turns_left = [&](int a, int b, int c) {
    const Eigen::Vector2d first = x[at(b)] - x[at(a)], second = x[at(c)] - x[at(b)];
    return cross(first, second) > k_same * (first.norm() + second.norm());
  };
  std::vector<int> hull;
  for (int way = 0; way < 2; ++way) {
    const std::size_t begin = hull.size();
    for (const int i : order) {
      while (hull.size() >= begin + 2 && !turns_left(hull[hull.size() - 2], hull.back(), i)) hull.pop_back();
      hull.push_back(i);
    }
    hull.pop_back();
    std::reverse(order.begin(), order.end());
  }
  return hull;
}

/// Areas of supports with the moments of all; none if there are no positive ones. Of all that there are,
/// those with the least sum of c_k^2/a_k.
std::optional<std::vector<double>> areas_of_supports(const PlanePoints& points,
                                                     const std::vector<int>& supports) {
  Moments wanted = Moments::Zero();
  for (std::size_t i = 0; i < points.x.size(); ++i) wanted += points.areas[i] * moments(points.x[i]);
  const auto count = static_cast<Eigen::Index>(supports.size());
  Eigen::MatrixXd M(6, count);
  Eigen::VectorXd root(count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const std::size_t i = at(supports[static_cast<std::size_t>(k)]);
    root[k] = std::sqrt(points.areas[i]);
    M.col(k) = root[k] * moments(points.x[i]);
  }
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
  decomposition.setThreshold(k_same);
  decomposition.compute(M);
  const Eigen::VectorXd solution = decomposition.solve(wanted);
  if (!((M * solution - wanted).norm() <= 1e-9)) return std::nullopt;
  const Eigen::VectorXd areas = root.cwiseProduct(solution);
  if (!(areas.minCoeff() >= k_least_share / static_cast<double>(count))) return std::nullopt;
  return std::vector<double>(areas.data(), areas.data() + count);
}

/// Sum of area and distance from the middle, of which the friction of a face that turns is made.
double lever(const PlanePoints& points, const std::vector<int>& some, const std::vector<double>& areas) {
  double sum = 0.0;
  for (std::size_t k = 0; k < some.size(); ++k) sum += areas[k] * points.x[at(some[k])].norm();
  return sum;
}

/// Points that are no corners, as rings about the middle.
std::vector<std::vector<int>> rings_of(const PlanePoints& points, const std::vector<int>& corners) {
  std::vector<int> others;
  for (int i = 0; i < static_cast<int>(points.x.size()); ++i) {
    if (std::find(corners.begin(), corners.end(), i) == corners.end()) others.push_back(i);
  }
  std::stable_sort(others.begin(), others.end(),
                   [&](int a, int b) { return points.x[at(a)].norm() < points.x[at(b)].norm(); });
  std::vector<std::vector<int>> rings;
  for (const int i : others) {
    if (rings.empty() || points.x[at(i)].norm() > points.x[at(rings.back().front())].norm() + k_same)
      rings.emplace_back();
    rings.back().push_back(i);
  }
  return rings;
}

/// Rings that may be enough, few points before many: one, two, so many at equal steps.
std::vector<std::vector<std::size_t>> choices_of_rings(const std::vector<std::vector<int>>& rings) {
  constexpr std::size_t k_few_rings = 24;
  std::vector<std::vector<std::size_t>> choices;
  if (rings.size() <= k_few_rings) {
    for (std::size_t a = 0; a < rings.size(); ++a) {
      choices.push_back({a});
      for (std::size_t b = a + 1; b < rings.size(); ++b) choices.push_back({a, b});
    }
  }
  for (std::size_t count = 3; count < rings.size(); count += (count + 1) / 2) {
    choices.emplace_back();
    for (std::size_t a = 0; a < count; ++a)
      choices.back().push_back((2 * a + 1) * rings.size() / (2 * count));
  }
  const auto points = [&](const std::vector<std::size_t>& choice) {
    std::size_t sum = 0;
    for (const std::size_t ring : choice) sum += rings[ring].size();
    return sum;
  };
  std::stable_sort(choices.begin(), choices.end(),
                   [&](const auto& a, const auto& b) { return points(a) < points(b); });
  return choices;
}

/// The first choice of rings whose supports keep the torque of friction within a part of `lever`.
std::optional<FlatFace> with_supports(const PlanePoints& points, const std::vector<int>& corners,
                                      double lever_of_face, double part) {
  const std::vector<std::vector<int>> rings = rings_of(points, corners);
  for (const std::vector<std::size_t>& choice : choices_of_rings(rings)) {
    std::vector<int> supports = corners;
    for (const std::size_t ring : choice)
      supports.insert(supports.end(), rings[ring].begin(), rings[ring].end());
    if (supports.size() == points.x.size()) continue;
    const auto areas = areas_of_supports(points, supports);
    if (!areas || !(std::abs(lever(points, supports, *areas) - lever_of_face) <= part * lever_of_face))
      continue;
    FlatFace face;
    for (std::size_t k = 0; k < supports.size(); ++k) {
      face.points.push_back(points.vertices[at(supports[k])]);
      face.factors.push_back((*areas)[k] / points.areas[at(supports[k])]);
    }
    for (int i = 0; i < static_cast<int>(points.x.size()); ++i) {
      if (std::find(supports.begin(), supports.end(), i) == supports.end())
        face.points.push_back(points.vertices[at(i)]);
    }
    return face;
  }
  return std::nullopt;
}

FlatFace with_supports(const PlanePoints& points) {
  const std::vector<int> corners = hull_corners(points.x);
  std::vector<int> all(points.x.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  if (auto face = with_supports(points, corners, points.lever, k_lever)) return *face;
  if (auto face = with_supports(points, corners, lever(points, all, points.areas), k_coarse_lever))
    return *face;
  FlatFace face;
  face.points = points.vertices;
  face.factors.assign(points.vertices.size(), 1.0);
  return face;
}

}  // namespace

bool operator==(const FlatFace& a, const FlatFace& b) {
  return a.points == b.points && a.factors == b.factors && a.normal == b.normal && a.reach == b.reach;
}

std::vector<FlatFace> flat_faces(const TriangleMesh& mesh, std::span<const double> areas,
                                 const Points& area_vectors) {
  std::vector<FlatFace> out;
  const double least_radius = k_least_radius * largest_extent(mesh);
  const Faces faces(mesh);
  for (const Faces::Face& face : faces.all()) {
    if (!face.bends) continue;
    const PlanePoints points = in_plane(mesh, areas, area_vectors, face);
    if (points.radius < least_radius) continue;
    out.push_back(with_supports(points));
    FlatFace& flat = out.back();
    flat.normal = face.normal;
    Vec3<double> middle = Vec3<double>::Zero();
    for (const int v : std::span(flat.points).first(flat.factors.size())) middle += mesh.vertices.col(v);
    middle /= static_cast<double>(flat.factors.size());
    flat.reach = (mesh.vertices.colwise() - middle).colwise().norm().maxCoeff();
  }
  return out;
}

}  // namespace abut
