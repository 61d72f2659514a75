#include "collision/convex/witness_derivatives.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "collision/convex/core_feature.h"
#include "collision/convex/support.h"
#include "engine/check.h"

namespace abut {
namespace {

/// Flat directions closer to parallel than that [rad] count as one.
constexpr double k_parallel_flats = 1e-6;

Mat3<double> cross_matrix(const Vec3<double>& a) {
  Mat3<double> m;
  m << 0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0;
  return m;
}

/// One side of a contact, in W.
struct Side {
  Mat3<double> W = Mat3<double>::Zero();
  int flats = 0;
  std::array<Vec3<double>, 2> flat{Vec3<double>::Zero(), Vec3<double>::Zero()};
  Vec3<double> from_origin =
      Vec3<double>::Zero();  ///< of the witness point of the core, from the body's origin [m]
};

/// A face of a box or polyhedron, given by two of its corners that no edge joins: two flat directions
/// instead of the diagonal.
void complete_face(const ConvexPart<double>& part, const Vec3<double>& outwards_P, CoreFeature& feature) {
  if (feature.kind != CoreFeatureKind::polytope || feature.flats != 1) return;
  if (part.core == ConvexCore::box) {
    int axes = 0;
    std::array<Vec3<double>, 2> flat;
    for (int i = 0; i < 3; ++i) {
      if (std::abs(feature.flat[0][i]) <= 1e-9 * part.extents[i]) continue;
      if (axes == 2) return;  // through the box: no face
      flat[at(axes++)] = feature.flat[0][i] * Vec3<double>::Unit(i);
    }
    if (axes < 2) return;
    feature.flat = flat;
    feature.flats = 2;
    return;
  }
  if (part.core != ConvexCore::polyhedron) return;
  const PolyhedronGraph<double>& graph = *part.polyhedron;
  const int first = feature.vertices[0], second = feature.vertices[1];
  ABUT_ASSERT(first >= 0 && second >= 0);
  int best = -1;
  for (int i = graph.first_face[at(first)]; i < graph.first_face[at(first + 1)]; ++i) {
    const int f = graph.faces[at(i)];
    const auto begin = graph.corners.begin() + graph.first_corner[at(f)],
               end = graph.corners.begin() + graph.first_corner[at(f + 1)];
    const auto to_second = std::find(begin, end, second);
    if (to_second == end) continue;
    const auto apart = std::abs(std::find(begin, end, first) - to_second);
    if (apart == 1 || apart == end - begin - 1) return;  // an edge
    if (best < 0 || graph.face_normals[at(f)].dot(outwards_P) > graph.face_normals[at(best)].dot(outwards_P))
      best = f;
  }
  if (best < 0) return;
  feature.flat[1] = graph.face_normals[at(best)].cross(feature.flat[0]);
  feature.flats = 2;
}

Side side_of(const ConvexPart<double>& part, const Pose<double>& X_WB, const CoreWitness& witness,
             const Vec3<double>& outwards_W) {
  const Mat3<double> R = (X_WB.q * part.X_BP.q).toRotationMatrix();
  const Vec3<double> outwards_P = R.transpose() * outwards_W;
  CoreFeature feature = core_feature(part, witness, outwards_P);
  complete_face(part, outwards_P, feature);
  Side side;
  side.W = R * feature.W * R.transpose();
  side.flats = feature.flats;
  for (int i = 0; i < feature.flats; ++i) side.flat[at(i)] = R * feature.flat[at(i)];
  return side;
}

/// The linear system of the header, for all twelve tangents at once: columns are those of A, then those of B.
class ContactSystem {
 public:
  using Columns = Eigen::Matrix<double, 3, 12>;

  ContactSystem(const Vec3<double>& n, double core_distance, const Side& A, const Side& B,
                double least_radius)
      : n_(n), plane_(n), A_(&A), B_(&B), least_radius_(least_radius) {
    M_ = plane_.of(Mat3<double>(A.W + B.W));
    M_.diagonal().array() += core_distance;
    // A face before a line that lies in it: the normal turns with the face, whichever end of the line stays.
    const int first = B.flats > A.flats ? 1 : 0;
    for (const int side : {first, 1 - first}) {
      const Side& of = side == 0 ? A : B;
      for (int k = 0; k < of.flats && rank_ < 2; ++k) {
        const Vec3<double> e = (side == 0 ? -of.flat[at(k)] : of.flat[at(k)]).normalized();
        const Vec2<double> in_plane = plane_.of(e);
        if (rank_ == 1 && std::abs(E_(0, 0) * in_plane[1] - E_(1, 0) * in_plane[0]) < k_parallel_flats)
          continue;
        E_.col(rank_) = in_plane;
        flat_[rank_] = e;
        owner_[rank_++] = side;
      }
    }
  }

  void solve(Columns& dn, Columns& dc_A, Columns& dc_B) const {
    const Mat3<double> N = cross_matrix(n_);
    Columns rigid_A = Columns::Zero(), rigid_B = Columns::Zero();  // at constant n and places along flats
    rigid_A.block<3, 3>(0, 0) = -cross_matrix(A_->from_origin) + A_->W * N;  // -W (dtheta x n) = W N dtheta
    rigid_A.block<3, 3>(0, 3).setIdentity();
    rigid_B.block<3, 3>(0, 6) = -cross_matrix(B_->from_origin) - B_->W * N;
    rigid_B.block<3, 3>(0, 9).setIdentity();
    const Eigen::Matrix<double, 2, 12> s = in_plane(rigid_B - rigid_A);
    Eigen::Matrix<double, 2, 12> tilt =
        Eigen::Matrix<double, 2, 12>::Zero();  // -n.(dtheta x e) = dtheta.(n x e)
    for (int k = 0; k < rank_; ++k)
      tilt.block<1, 3>(k, owner_[k] == 0 ? 0 : 6) = n_.cross(flat_[k]).transpose();
    Eigen::Matrix<double, 2, 12> turn, places = Eigen::Matrix<double, 2, 12>::Zero();
    if (rank_ == 2) {
      const Mat2<double> inverse = E_.inverse();
      turn = inverse.transpose() * tilt;
      places = inverse * (M_ * turn - s);
    } else if (rank_ == 1) {
      const Vec2<double> e = E_.col(0), u(-e[1], e[0]);
      const double squared = e.squaredNorm();
      turn = e * tilt.row(0) / squared;
      turn += u * ((u.transpose() * (s - M_ * turn)) / std::max(u.dot(M_ * u), least_radius_ * squared));
      places.row(0) = e.transpose() * (M_ * turn - s) / squared;
    } else {
      turn = eigenvalues_raised(M_, least_radius_).inverse() * s;
    }
    dn = plane_.x * turn.row(0) + plane_.y * turn.row(1);
    dc_A = rigid_A + A_->W * dn;
    dc_B = rigid_B - B_->W * dn;
    for (int k = 0; k < rank_; ++k) {
      if (owner_[k] == 0) dc_A -= flat_[k] * places.row(k);
      if (owner_[k] == 1) dc_B += flat_[k] * places.row(k);
    }
  }

 private:
  [[nodiscard]] Eigen::Matrix<double, 2, 12> in_plane(const Columns& v) const {
    Eigen::Matrix<double, 2, 12> r;
    r << plane_.x.transpose() * v, plane_.y.transpose() * v;
    return r;
  }

  Vec3<double> n_;
  TangentPlane plane_;
  const Side *A_, *B_;
  double least_radius_;
  Mat2<double> M_, E_ = Mat2<double>::Zero();
  Vec3<double> flat_[2];
  int owner_[2] = {0, 0}, rank_ = 0;
};

WitnessDerivatives derivatives_of(const ConvexPart<double>& A, const Pose<double>& X_WA,
                                  const ConvexPart<double>& B, const Pose<double>& X_WB,
                                  const ConvexDistance<double>& found, Side side_A, Side side_B,
                                  double least_radius) {
  const Vec3<double>& n = found.normal_AB_W;
  side_A.from_origin = found.point_A_W - A.radius * n - X_WA.p;
  side_B.from_origin = found.point_B_W + B.radius * n - X_WB.p;
  const ContactSystem system(n, found.core_distance, side_A, side_B, least_radius);
  ContactSystem::Columns dn, dc_A, dc_B;
  system.solve(dn, dc_A, dc_B);
  dc_A += A.radius * dn;
  dc_B -= B.radius * dn;
  WitnessDerivatives J;
  J.distance_A = -stack<double>((found.point_A_W - X_WA.p).cross(n), n);
  J.distance_B = stack<double>((found.point_B_W - X_WB.p).cross(n), n);
  J.normal_A = dn.leftCols<6>();
  J.normal_B = dn.rightCols<6>();
  J.point_A_A = dc_A.leftCols<6>();
  J.point_A_B = dc_A.rightCols<6>();
  J.point_B_A = dc_B.leftCols<6>();
  J.point_B_B = dc_B.rightCols<6>();
  return J;
}

/// A half-space's face is flat whichever way; the other side is what is lowest.
Side half_space_side(const Vec3<double>& n) {
  const TangentPlane plane(n);
  Side side;
  side.flats = 2;
  side.flat = {plane.x, plane.y};
  return side;
}

/// The core's witness, or the support point opposite to a half-space.
CoreWitness witness_at(const ConvexPart<double>& part, const Pose<double>& X_WB, const CoreWitness& witness,
                       const Vec3<double>& outwards_W) {
  if (witness.count > 0) return witness;
  CoreWitness lowest;
  int vertex = -1;
  const Quat<double> q_PW = (X_WB.q * part.X_BP.q).conjugate();
  const Vec3<double> x = core_support(part, Vec3<double>(q_PW * outwards_W), vertex);
  lowest.add(x, 1.0, vertex);
  return lowest;
}

}  // namespace

WitnessDerivatives witness_derivatives(const ConvexPart<double>& A, const Pose<double>& X_WA,
                                       const ConvexPart<double>& B, const Pose<double>& X_WB,
                                       const ConvexDistance<double>& found, double least_radius) {
  const Vec3<double> n = found.normal_AB_W, back = -n;
  const auto side = [&](const ConvexPart<double>& part, const Pose<double>& X, const CoreWitness& witness,
                        const Vec3<double>& outwards) {
    if (part.core == ConvexCore::half_space) return half_space_side(n);
    return side_of(part, X, witness_at(part, X, witness, outwards), outwards);
  };
  return derivatives_of(A, X_WA, B, X_WB, found, side(A, X_WA, found.witness_A, n),
                        side(B, X_WB, found.witness_B, back), least_radius);
}

WitnessDerivatives witness_derivatives(const ConvexPart<double>& A, const Pose<double>& X_WA,
                                       const ConvexPart<double>& B, const Pose<double>& X_WB,
                                       const ConvexDistance<double>& found, const Mat3<double>& W_A,
                                       const Mat3<double>& W_B, double least_radius) {
  Side side_A, side_B;
  side_A.W = W_A;
  side_B.W = W_B;
  return derivatives_of(A, X_WA, B, X_WB, found, side_A, side_B, least_radius);
}

}  // namespace abut
