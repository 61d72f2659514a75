#include "collision/detectors/convex_kinks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <variant>

#include "collision/convex/support.h"

namespace abut {
namespace {

constexpr double k_near = 1e-3;

/// The face of a part that a normal points out of: what lies within k_near of the plane that touches it.
struct ExposedFace {
  int flats = 0;
  std::array<Vec3<double>, 2> flat;  ///< directions along which it is flat, in W, of unit length
  bool is_at_border = false;         ///< whether the witness point lies at the end of a flat direction

  /// Leaves out what is not perpendicular to the normal, or one that there is already.
  void add(const Vec3<double>& direction, const Vec3<double>& normal) {
    const Vec3<double> unit = direction.normalized();
    if (std::abs(unit.dot(normal)) > k_near || flats == 2) return;
    if (flats == 1 && unit.cross(flat[0]).norm() <= k_near) return;
    flat[at(flats++)] = unit;
  }
};

/// Whether x lies at a side of a face that a normal points out of, or, of vertices in one line, at its ends.
bool is_at_border(const PolyhedronGraph<double>& graph, double near, const ExposedFace& face,
                  const Mat3<double>& R, const Vec3<double>& x, const Vec3<double>& n, double reached) {
  if (face.flats == 0) return false;
  if (face.flats == 1) {
    const Vec3<double> along = R.transpose() * face.flat[0];
    double first = k_infinity, last = -k_infinity;
    for (const Vec3<double>& vertex : graph.vertices) {
      if (n.dot(vertex) < reached) continue;
      first = std::min(first, along.dot(vertex));
      last = std::max(last, along.dot(vertex));
    }
    return std::min(along.dot(x) - first, last - along.dot(x)) <= near;
  }
  for (int f = 0; f < graph.face_count(); ++f) {
    const Vec3<double>& up = graph.face_normals[at(f)];
    if (!(up.dot(n) > 0.0) || up.cross(n).norm() > 2.0 * k_near) continue;
    const int begin = graph.first_corner[at(f)], end = graph.first_corner[at(f + 1)];
    for (int k = begin; k < end; ++k) {
      const Vec3<double>& from = graph.vertices[at(graph.corners[at(k)])];
      const Vec3<double>& to = graph.vertices[at(graph.corners[at(k + 1 < end ? k + 1 : begin)])];
      if (up.cross(to - from).normalized().dot(x - from) <= near) return true;
    }
  }
  return false;
}

/// @param x_W  witness point of the core
/// @param n_W  out of the part
ExposedFace exposed_face(const ConvexPart<double>& part, const Pose<double>& X_WB, const Vec3<double>& x_W,
                         const Vec3<double>& n_W) {
  const Pose<double> X_WP = X_WB * part.X_BP;
  const Mat3<double> R = X_WP.rotation();
  const Vec3<double> x = R.transpose() * (x_W - X_WP.p), n = R.transpose() * n_W;
  const double near = k_near * part.size;
  ExposedFace face;
  switch (part.core) {
    case ConvexCore::point:
    case ConvexCore::superquadric:
      break;
    case ConvexCore::segment:
      if (!(part.extents[2] > 0.0)) break;
      face.add(R.col(2), n_W);
      face.is_at_border = face.flats > 0 && std::abs(x[2]) >= part.extents[2] - near;
      break;
    case ConvexCore::half_space:
      face.add(R.col(0), R.col(2));
      face.add(R.col(1), R.col(2));
      break;
    case ConvexCore::box:
      for (int i = 0; i < 3; ++i) {
        face.add(R.col(i), n_W);
        face.is_at_border |= std::abs(n[i]) <= k_near && std::abs(x[i]) >= part.extents[i] - near;
      }
      break;
    case ConvexCore::cone: {
      const double across = std::hypot(n[0], n[1]), end_radius = part.extents[n[2] > 0.0 ? 1 : 0];
      if (across <= k_near) {
        if (!(end_radius > 0.0)) break;
        face.add(R.col(0), n_W);
        face.add(R.col(1), n_W);
        face.is_at_border = std::hypot(x[0], x[1]) >= end_radius - near;
      } else {
        const double widening = (part.extents[1] - part.extents[0]) / across;
        face.add(R * Vec3<double>(widening * n[0], widening * n[1], 2.0 * part.extents[2]), n_W);
        face.is_at_border = face.flats > 0 && std::abs(x[2]) >= part.extents[2] - near;
      }
      break;
    }
    case ConvexCore::polyhedron: {
      const PolyhedronGraph<double>& graph = *part.polyhedron;
      double farthest = -k_infinity;
      for (const Vec3<double>& vertex : graph.vertices) farthest = std::max(farthest, n.dot(vertex));
      const double reached = farthest - 2.0 * near;
      for (int i = 0; i < graph.vertex_count(); ++i) {
        if (n.dot(graph.vertices[at(i)]) < reached) continue;
        for (int k = graph.first_neighbour[at(i)]; k < graph.first_neighbour[at(i + 1)]; ++k) {
          const Vec3<double>& other = graph.vertices[at(graph.neighbours[at(k)])];
          if (n.dot(other) >= reached) face.add(R * (other - graph.vertices[at(i)]), n_W);
        }
      }
      face.is_at_border = is_at_border(graph, near, face, R, x, n, reached);
      break;
    }
  }
  return face;
}

bool touch_along_a_line(const ExposedFace& A, const ExposedFace& B) {
  if (A.flats == 0 || B.flats == 0) return false;
  if (A.flats + B.flats > 2) return true;  // a face, and a line or a face
  return A.flat[0].cross(B.flat[0]).norm() <= k_near;
}

/// A core without volume: a point, a segment, or a polygon.
struct FlatCore {
  int dimension = 3;                           ///< 3: it has a volume
  Vec3<double> axis_W = Vec3<double>::Zero();  ///< along a segment, or the normal of a polygon

  FlatCore(const ConvexPart<double>& part, const Pose<double>& X_WB) {
    const Mat3<double> R = (X_WB.q * part.X_BP.q).toRotationMatrix();
    const bool is_segment = part.core == ConvexCore::segment && part.extents[2] > 0.0;
    if (is_segment) {
      dimension = 1;
      axis_W = R.col(2);
    } else if (part.core == ConvexCore::segment || part.core == ConvexCore::point) {
      dimension = 0;
    } else if (part.core == ConvexCore::polyhedron && part.polyhedron->is_flat()) {
      dimension = 2;
      axis_W = R * part.polyhedron->face_normals[0];
    }
  }
};

/// Whether what two cores span together has no volume, or hardly one.
bool is_difference_flat(const FlatCore& A, const FlatCore& B) {
  if (A.dimension == 3 || B.dimension == 3) return false;
  if (A.dimension + B.dimension < 3) return true;
  return A.dimension == B.dimension ? A.axis_W.cross(B.axis_W).norm() <= k_near
                                    : std::abs(A.axis_W.dot(B.axis_W)) <= k_near;
}

}  // namespace

bool has_kink_of_faces(const ConvexPart<double>& A, const Pose<double>& X_WA, const ConvexPart<double>& B,
                       const Pose<double>& X_WB, const Witness<double>& witness, const WitnessByB& by_B) {
  const Vec3<double>& n = witness.normal_AB_W;
  const ExposedFace of_A = exposed_face(A, X_WA, witness.point_A_W - A.radius * n, n),
                    of_B = exposed_face(B, X_WB, witness.point_B_W + B.radius * n, -n);
  const double size = std::min(A.core == ConvexCore::half_space ? k_infinity : A.size + A.radius,
                               B.core == ConvexCore::half_space ? k_infinity : B.size + B.radius);
  return of_A.is_at_border || of_B.is_at_border || touch_along_a_line(of_A, of_B) ||
         by_B.normal.rightCols<3>().norm() * k_near * size > 1.0;
}

bool has_other_way_out(const ConvexPart<double>& A, const Pose<double>& X_WA, const ConvexPart<double>& B,
                       const Pose<double>& X_WB, const Witness<double>& witness,
                       const ConvexScratch& scratch) {
  if (A.core == ConvexCore::half_space || B.core == ConvexCore::half_space) return false;
  const double radii = A.radius + B.radius, depth = -(witness.distance + radii);
  if (is_difference_flat(FlatCore(A, X_WA), FlatCore(B, X_WB))) return -depth <= k_near * radii;
  if (!(depth > 0.0)) return false;
  // Faces of the polytope that EPA ended with, and the true depths along their normals.
  const Pose<double> X_WP = X_WA * A.X_BP;
  const Vec3<double> n_P = X_WP.q.conjugate() * witness.normal_AB_W;
  constexpr double k_same_way = 0.995;  // the cosine of 0.1 rad
  const double limit = (1.0 + k_near) * depth;
  MinkowskiDifference<double> difference(A, B, X_WP.inverse() * (X_WB * B.X_BP));
  return std::any_of(scratch.epa.faces.begin(), scratch.epa.faces.end(), [&](const EpaScratch::Face& face) {
    return face.is_alive && face.distance <= limit && face.normal.dot(n_P) < k_same_way &&
           face.normal.dot(difference.support(face.normal).w) <= limit;
  });
}

bool do_cores_meet(const PaddedPart& A, const PaddedPart& B, const Witness<double>& witness) {
  const double radii = std::visit(
      [](const auto& core_A, const auto& core_B) {
        // A plane's padding is its depth below the other core's surface.
        const auto padding = [](const auto& core, const auto& other) {
          using Core = std::remove_cvref_t<decltype(core)>;
          return std::is_same_v<Core, PaddedPlane> ? other.size + other.padding : core.padding;
        };
        return padding(core_A, core_B) + padding(core_B, core_A);
      },
      A.core, B.core);
  return witness.distance + radii <= k_near * radii;
}

}  // namespace abut
