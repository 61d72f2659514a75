/// Flat faces that lie flush on a convex solid: few of their contact points stand for all.
///
/// Where a flat face lies flush, the signed distance is linear over it, and so is the pressure. The supports
/// of the face, with their areas multiplied by factors (engine/flat_faces.h), push with the force and torque
/// of all of its points then. How flush it lies is
///   psi = S(2 - Q),   Q = V_d/v^2 + V_n/u^2 + m^2/w^2 + (m - d_c)^2/(v/2)^2 + (R/v)^2 |n_c + f|^2,
///   S = smoothstep5,   v = tau_p/4,   u = 0.05,   w = 8 tau_p,
/// V_d and V_n being the variances of the distances and of the normals of the solid at its supports, m the
/// mean of the distances, d_c and n_c distance and normal at the mean of the supports, f the normal of the
/// face, and R how far the body reaches from there. With the factor f_k of a support
///   area = (1 + psi (f_k - 1)) area of the point,
/// and the weight of the other points is 1 - psi. A convex distance is nowhere above the mean of its values
/// around; where it is that mean, it is linear between them: nothing reaches into the face that the supports
/// do not see.
///
/// If both bodies are convex, nothing else of them touches then: they lie on either side of the plane of the
/// face, which |n_c + f| keeps from tilting by more than v over all of the body. The weights of all pairs of
/// edges are multiplied by the product of 1 - psi over the faces of both.
///
/// The kernel has the same in kernel/flush_lanes.h.
#pragma once

#include <vector>

#include "collision/manifold/geometry_gradient.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/contact_config.h"
#include "engine/model.h"
#include "engine/pose.h"
#include "engine/smooth.h"

namespace abut {

/// Q up to which a face lies flush, and from which on not at all: 1 and 2.
template <typename S>
[[nodiscard]] S flushness(const S& unevenness) {
  return smoothstep5<S>(S(2) - unevenness);
}
template <typename S>
[[nodiscard]] S flushness_dx(const S& unevenness) {
  return S(0) - smoothstep5_dx<S>(S(2) - unevenness);
}

/// How much distances and normals may vary over a flush face, how far away it may be, and how much less the
/// distance may be in its middle: v [m], u, w [m], v/2 [m].
struct FlushBand {
  double distance, normal, away, gap;

  explicit FlushBand(double activity_smoothing)
      : distance(0.25 * activity_smoothing),
        normal(0.05),
        away(8.0 * activity_smoothing),
        gap(0.5 * distance) {}
};
/// From such a mean distance on, by w, psi is 0.
inline constexpr double k_away = 1.4142136;

/// Whether a face can make a difference: one without spare points only to edges.
[[nodiscard]] inline bool counts_as_flush(const FlatFace& face, const ShapeSdf& of_owner) {
  return face.has_spare_points() || of_owner.is_convex();
}

/// The faces of an owner O at a solid S, at given poses.
struct FlushQuery {
  const Body* owner = nullptr;
  const ShapeSdf* of_owner = nullptr;
  const ShapeSdf* solid = nullptr;
  Pose<double> X_WO, X_WS;
  FlushBand band{0.0};
  bool is_asked = true;  ///< by the settings; where the deepest points are chosen, no faces lie flush
  [[nodiscard]] bool may_lie_flush() const {
    return is_asked && owner->selected_vertices == 0 && !owner->flat_faces.empty() && solid->is_convex();
  }
};

/// What flush faces make of the contact points of a body. Keeps its memory from one use to the next.
struct FlushFaces {
  bool none = true;                           ///< weights and area factors are all 1; the rest is not used
  std::vector<double> weights, area_factors;  ///< of each contact point
  std::vector<double> weights_bar, area_factors_bar;  ///< dL/d of these, until flush_faces_vjp()
  /// A face between flush and not.
  struct Changing {
    const FlatFace* face;
    double flush;  ///< psi, 0 < psi < 1 also where rounded
    double slope;  ///< dpsi/dQ
  };
  std::vector<Changing> changing;
  double edges_left = 1.0;      ///< product of 1 - psi over the faces
  double edges_left_bar = 0.0;  ///< dL/d of it, until flush_faces_vjp()
  // Memory of find_flush_faces().
  struct Asked {
    const FlatFace* face;
    double misaligned;          ///< (reach/v)^2 |n + f|^2
    double distance_in_middle;  ///< [m]
  };
  std::vector<Asked> asked;
  std::vector<double> coordinates[3], samples;

  /// Nothing lies flush.
  void clear() {
    none = true;
    changing.clear();
    edges_left = 1.0;
    edges_left_bar = 0.0;
  }
  [[nodiscard]] double weight(int point) const { return none ? 1.0 : weights[at(point)]; }
  [[nodiscard]] double area_factor(int point) const { return none ? 1.0 : area_factors[at(point)]; }
};

void find_flush_faces(const FlushQuery& query, FlushFaces& flush);

/// Changes of all of these along left perturbations of both poses; vectors are empty where nothing lies
/// flush.
struct FlushFacesDot {
  std::vector<double> weights, area_factors;
  double edges_left = 0.0;
};
/// Overwrites `dot`.
void flush_faces_jvp(const FlushQuery& query, const FlushFaces& flush, const Vec6<double>& pose_O,
                     const Vec6<double>& pose_S, FlushFacesDot& dot);

/// Adds what they contribute to dL/d(poses) and, unless null, dL/d(geometry), and sets
/// their bars to 0.
void flush_faces_vjp(const FlushQuery& query, FlushFaces& flush, Vec6<double>& pose_O_bar,
                     Vec6<double>& pose_S_bar, GeometryGradient* geometry_O, GeometryGradient* geometry_S);

}  // namespace abut
