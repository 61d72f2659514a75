#include "engine/osculating_patches.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace abut {
namespace {

constexpr int k_rounds = 8;               // of the fit: its normal, and the semi-axis along it
constexpr int k_terms = 9;                // of a jet of third order without its value
constexpr double k_least_turn = 0.01;     // k L from which a direction is curved [rad]
constexpr double k_largest_turn = 0.7;    // between the normals of neighbours [rad]
constexpr double k_largest_error = 0.25;  // of heights at neighbours, by k L^2/2
constexpr double k_largest_gap = 5e-4;    // and by the size
constexpr double k_least_aspect = 0.05;   // of both lengths of a cell
constexpr double k_cell_share = 0.75;     // of the extents of edges, which cells overlap by

struct Fitter {
  const Points& vertices;
  std::vector<std::set<int>> neighbours;

  explicit Fitter(const TriangleMesh& mesh)
      : vertices(mesh.vertices), neighbours(static_cast<std::size_t>(mesh.vertex_count())) {
    for (const Eigen::Vector3i& corners : mesh.triangles) {
      for (const int i : corners) {
        for (const int j : corners) {
          if (i != j) neighbours[static_cast<std::size_t>(i)].insert(j);
        }
      }
    }
  }
  [[nodiscard]] const std::set<int>& of(int i) const { return neighbours[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Vec3<double> to(int i, int j) const { return vertices.col(j) - vertices.col(i); }

  /// The patch of a vertex; radii are 1/0 of directions that are flat, and 1/k < 0 of hollow ones.
  [[nodiscard]] OsculatingPatch fitted(int i, const Vec3<double>& area_vector) const {
    OsculatingPatch patch;
    std::set<int> around = of(i);
    for (const int j : of(i)) around.insert(of(j).begin(), of(j).end());
    around.erase(i);
    const auto count = static_cast<Eigen::Index>(around.size());
    if (count < k_terms) return patch;
    Vec3<double> n = area_vector.normalized(), e_1 = n.unitOrthogonal();
    double inverse_axis = 0.0;
    for (int round = 0; round < k_rounds; ++round) {
      const Vec3<double> e_2 = n.cross(e_1);
      Eigen::MatrixXd A(count, k_terms);
      Eigen::VectorXd b(count);
      double scale = 0.0;  // of lengths, so that all columns are of size 1
      for (const int j : around) scale = std::max(scale, to(i, j).norm());
      Eigen::Index row = 0;
      for (const int j : around) {
        const Vec3<double> d = to(i, j) / scale;
        const double u = d.dot(e_1), v = d.dot(e_2), z = d.dot(n), weight = 1.0 / d.squaredNorm();
        A.row(row) << u, v, -0.5 * u * u, -u * v, -0.5 * v * v, u * u * u, u * u * v, u * v * v, v * v * v;
        A.row(row) *= weight;
        b[row++] = weight * (z + 0.5 * inverse_axis * scale * z * z);
      }
      const Eigen::VectorXd jet = A.colPivHouseholderQr().solve(b);
      Eigen::Matrix2d K;
      K << jet[2], jet[3], jet[3], jet[4];
      const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> principal(K / scale);  // in rising order
      const Vec2<double> k(principal.eigenvalues()[1], principal.eigenvalues()[0]);
      const Vec2<double> along = principal.eigenvectors().col(1);
      const Vec3<double> direction = along.x() * e_1 + along.y() * e_2;
      n = (n - jet[0] * e_1 - jet[1] * e_2).normalized();
      e_1 = (direction - direction.dot(n) * n).normalized();
      set_cell(i, n, e_1, patch);
      const bool is_straight = !(k[1] * patch.cell[1] > k_least_turn);
      patch.radii = {1.0 / k[0], 1.0 / k[1]};
      inverse_axis = std::max(0.0, is_straight ? k[0] : k[1]);
    }
    patch.normal = n;
    patch.direction = e_1;
    return patch;
  }

  void set_cell(int i, const Vec3<double>& n, const Vec3<double>& e_1, OsculatingPatch& patch) const {
    const Vec3<double> e_2 = n.cross(e_1);
    Vec2<double> cell = Vec2<double>::Zero();
    for (const int j : of(i))
      cell = cell.cwiseMax(Vec2<double>(std::abs(to(i, j).dot(e_1)), std::abs(to(i, j).dot(e_2))));
    patch.cell = {std::max(cell[0], k_least_aspect * cell[1]), std::max(cell[1], k_least_aspect * cell[0])};
  }
};

/// Where the ellipsoid of a patch has the normal m, from its vertex [m].
Vec3<double> point_of(const OsculatingPatch& patch, const Vec3<double>& m) {
  const Vec3<double>&n = patch.normal, &e_1 = patch.direction, e_2 = n.cross(e_1);
  const double a = std::max(patch.radii[0], patch.radii[1]);
  const Vec3<double> squares = a * Vec3<double>(patch.radii[0], patch.radii[1], a),
                     by_axes(m.dot(e_1), m.dot(e_2), m.dot(n)),
                     to = squares.cwiseProduct(by_axes) /
                          std::sqrt(squares.dot(Vec3<double>(by_axes.cwiseProduct(by_axes))));
  return to[0] * e_1 + to[1] * e_2 + (to[2] - a) * n;
}

}  // namespace

std::vector<OsculatingPatch> osculating_patches(const TriangleMesh& mesh, const Points& area_vectors) {
  const Fitter fitter(mesh);
  std::vector<OsculatingPatch> patches;
  for (int i = 0; i < mesh.vertex_count(); ++i) patches.push_back(fitter.fitted(i, area_vectors.col(i)));
  std::vector<bool> fits(patches.size());
  const double size = (mesh.vertices.rowwise().maxCoeff() - mesh.vertices.rowwise().minCoeff()).maxCoeff();
  for (int i = 0; i < mesh.vertex_count(); ++i) {
    OsculatingPatch& patch = patches[static_cast<std::size_t>(i)];
    if (patch.normal.isZero()) continue;
    const Vec2<double> turn(patch.cell[0] / patch.radii[0], patch.cell[1] / patch.radii[1]);
    if (!(turn[0] > k_least_turn && turn[1] > -k_least_turn)) continue;
    if (!(turn[1] > k_least_turn)) patch.radii[1] = 0.0;
    const double allowed = std::min(k_largest_error * 0.5 * turn[0] * patch.cell[0], k_largest_gap * size);
    const auto meets_plane_of = [&](int j) {
      const Vec3<double>& m = patches[static_cast<std::size_t>(j)].normal;
      return m.dot(patch.normal) > std::cos(k_largest_turn) &&
             std::abs(m.dot(point_of(patch, m) - fitter.to(i, j))) <= allowed;
    };
    const std::set<int>& around = fitter.of(i);
    fits[static_cast<std::size_t>(i)] = std::all_of(around.begin(), around.end(), meets_plane_of);
  }
  // Normals are fitted across creases, too: those of all neighbours have to be right.
  for (int i = 0; i < mesh.vertex_count(); ++i) {
    const std::set<int>& around = fitter.of(i);
    OsculatingPatch& patch = patches[static_cast<std::size_t>(i)];
    patch.is_round = fits[static_cast<std::size_t>(i)] &&
                     std::all_of(around.begin(), around.end(),
                                 [&](int j) { return bool(fits[static_cast<std::size_t>(j)]); });
    patch.cell *= k_cell_share;
  }
  return patches;
}

}  // namespace abut
