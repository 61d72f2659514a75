/// Growth distance: the factor by which two convex parts must be scaled for them to touch, with exact
/// derivatives.
///
/// Both parts grow or shrink about a centre c in their interior,
///   alpha = min { a >= 0 : some x lies in c_A + a (A - c_A) and in c_B + a (B - c_B) },
/// so alpha > 1 apart, 1 touching, < 1 overlapping, 0 with both centres in one place. Between polyhedra that
/// is a linear program in x and a. Its dual has three unknowns: with p = c_B - c_A and K = (A - c_A) - (B -
/// c_B) = {w},
///   alpha = max { u.p : u.w <= 1 for all w in K } = min { sum l_i : sum l_i w_i = p, l >= 0, w_i in K },
/// the gauge of K at p: the simplex method finds the face of K that the ray along p leaves through. Columns
/// w_i are support points of K along the current u, so faces are never listed, and any bounded part will do.
/// A lexicographic rule picks the column that leaves, because flush faces (aligned boxes) make ties. With any
/// u, u.p/h_K(u) <= alpha <= sum l_i: `error` is proved by what was found.
///
/// alpha is a maximum of smooth functions of the poses, differentiable where that maximum is unique (the ray
/// leaves through the interior of a face of K), with no case distinction between apart and overlap. The
/// touching point of polyhedra is continuous in the poses, too, except where flush faces make it a set;
/// witness points of distances and depths jump. alpha depends on where the centres are. The planes with
/// normal u that touch A and B are (alpha - 1)/|u| apart, which is at most the signed distance.
///
/// @see  Ong, Gilbert (1996), "Growth distances: new measures for object separation and penetration";
///       Tracy, Howell, Manchester (2023), "Differentiable collision detection for a set of convex
///       primitives". Here by the gauge of K and columns from support functions instead of an interior-point
///       method.
#pragma once

#include <array>

#include "collision/convex/convex_distance.h"
#include "collision/convex/convex_part.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// A point inside a part, from which it grows, and a ball around it that the part contains.
struct GrowthCentre {
  Vec3<double> point_P = Vec3<double>::Zero();  ///< in the part's frame P [m]
  double inner_radius = 0.0;                    ///< [m], > 0
};

/// The mean of a polyhedron's vertices, the origin of P of other kinds. Throws std::invalid_argument where
/// there is no interior (a point or segment of radius 0, a flat box) or no bound (half-spaces).
[[nodiscard]] GrowthCentre growth_centre(const ConvexPart<double>& part);

/// The same for a given point, such as the centre of mass. Throws std::invalid_argument as above, and where
/// the point does not lie inside a polyhedron, box or ball; other kinds take their own centre only.
[[nodiscard]] GrowthCentre growth_centre(const ConvexPart<double>& part, const Vec3<double>& point_P);

struct GrowthSettings {
  int max_iterations = 256;
  double tolerance = 1e-14;  ///< of alpha, relative; curved parts are approached by the tangent planes of K
};

struct GrowthDistance {
  ConvexStatus status =
      ConvexStatus::unbounded;              ///< converged, inaccurate, or unbounded: a pose is not finite
  double alpha = 0.0;                       ///< [-]
  double error = 0.0;                       ///< |alpha - true alpha| is at most that, up to rounding
  Vec3<double> u_W = Vec3<double>::Zero();  ///< normal at the touching point, from A to B, h_K(u) = 1 [1/m]
  Vec3<double> touch_W = Vec3<double>::Zero();  ///< the point where the scaled parts touch [m]
  /// That point on either surface, c + (touch - c)/alpha [m].
  Vec3<double> point_A_W = Vec3<double>::Zero(), point_B_W = Vec3<double>::Zero();
  /// The three columns: points of A and of B, each from its own centre [m], whose means are the surface
  /// points.
  std::array<Vec3<double>, 3> on_A_W, on_B_W;
  std::array<double, 3> weights{};  ///< l_i/alpha, >= 0, adding up to 1
  int iterations = 0;               ///< of the simplex method

  [[nodiscard]] Vec3<double> normal_AB_W() const { return u_W.normalized(); }
};

/// @param X_WA, X_WB          poses of the bodies of the parts
/// @param centre_A, centre_B  growth_centre() of the parts
/// Never throws, never allocates.
[[nodiscard]] GrowthDistance growth_distance(const ConvexPart<double>& A, const GrowthCentre& centre_A,
                                             const Pose<double>& X_WA, const ConvexPart<double>& B,
                                             const GrowthCentre& centre_B, const Pose<double>& X_WB,
                                             const GrowthSettings& settings = {});

/// By tangents [rotation; translation] of the poses of both bodies, in W.
struct GrowthDerivatives {
  Vec6<double> alpha_A, alpha_B;  ///< d alpha [1/rad; 1/m]
  Mat36<double> point_A_A, point_A_B, point_B_A,
      point_B_B;  ///< of the surface points, by A and by B [m/rad; -]
};

/// d alpha of any parts, by the envelope theorem: d alpha = u.(v_B - v_A), velocities at the touching point
/// of points that are fixed to the bodies.
struct GrowthGradient {
  Vec6<double> A, B;  ///< [1/rad; 1/m]
};
[[nodiscard]] GrowthGradient growth_gradient(const Pose<double>& X_WA, const Pose<double>& X_WB,
                                             const GrowthDistance& found);

/// Of sharp parts (polyhedra, boxes without a radius), from the columns w_i, which move with the bodies:
///   sum dl_i w_i = dp - sum l_i dw_i.
/// At kinks of alpha, of the face of K that was found. Not finite where alpha = 0.
[[nodiscard]] GrowthDerivatives growth_derivatives(const Pose<double>& X_WA, const Pose<double>& X_WB,
                                                   const GrowthDistance& found);

/// From derivatives W of the support points by the unit normal n, exact or smoothed: y_A - y_B = p/alpha for
/// the support points y from the centres makes
///   (W_A + W_B) dn = d(p/alpha) - dtheta_A x y_A + dtheta_B x y_B + W_A (dtheta_A x n) + W_B (dtheta_B x n).
/// @param W_A, W_B      of the parts with their radii, in W [m], symmetric, with n in their null space
/// @param least_radius  eigenvalues of W_A + W_B count as at least that [m], > 0
[[nodiscard]] GrowthDerivatives growth_derivatives(const Pose<double>& X_WA, const Pose<double>& X_WB,
                                                   const GrowthDistance& found, const Mat3<double>& W_A,
                                                   const Mat3<double>& W_B, double least_radius = 1e-9);

}  // namespace abut
