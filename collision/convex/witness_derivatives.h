/// Exact derivatives of the signed distance, normal and witness points of convex parts by the poses of both
/// bodies.
///
/// Parametrised by the normal and the distance of the cores, not by the vector between witness points:
/// nothing is divided by a distance that is 0 at touch. With the features of core_feature.h, all in W, and
/// velocities of points fixed to the bodies v_A = dp_A + dtheta_A x (c_A - p_A), a motion of the bodies
/// changes the witness points of the cores by
///   dc_A = v_A + W_A (dn - dtheta_A x n) + sum alpha_i e_i,      e_i flat directions of A,
///   dc_B = v_B - W_B (dn - dtheta_B x n) + sum beta_j f_j,       f_j of B,
/// and c_B - c_A = phi_c n and n.e = 0 give, in the plane perpendicular to n,
///   (W_A + W_B + phi_c I) dn = v_B - v_A + W_A (dtheta_A x n) + W_B (dtheta_B x n)
///                              + sum beta_j f_j - sum alpha_i e_i,
///   e_i.dn = n.(e_i x dtheta_A),   f_j.dn = n.(f_j x dtheta_B),
/// solved for dn, alpha and beta. dphi = n.(v_B - v_A), taken at x_A and x_B (envelope theorem).
///
/// W_A + W_B + phi_c I, whose inverse these are, is singular where the depth of an overlap is a radius of
/// curvature (another way out becomes as short) and of two corners, or a corner and an edge, that touch: phi
/// has no second derivative there. Its eigenvalues count as at least `least_radius`, which bounds
/// derivatives. Where features change (kinks: a corner rolls over a face's edge, flush faces) they are those
/// of the features that were found.
/// @see  Montaut et al. (2023), "Differentiable collision detection: a randomized smoothing approach",
///       eq. (14) to (20), which hold for separated bodies; the signs of an overlap and x_B are corrected
///       here, and the support function is differentiated at the unit normal.
#pragma once

#include "collision/convex/convex_distance.h"
#include "collision/convex/convex_part.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// By tangents [rotation; translation] of the poses of both bodies, in W.
struct WitnessDerivatives {
  Vec6<double> distance_A, distance_B;                       ///< d phi [m/rad; -]
  Mat36<double> normal_A, normal_B;                          ///< dn [1/rad; 1/m]
  Mat36<double> point_A_A, point_A_B, point_B_A, point_B_B;  ///< dx_A by A and by B, dx_B [m/rad; -]
};

/// dL/d of what convex_distance() gives.
struct WitnessBar {
  double distance = 0.0;
  Vec3<double> normal = Vec3<double>::Zero(), point_A = Vec3<double>::Zero(), point_B = Vec3<double>::Zero();
};
struct WitnessPoseBar {
  Vec6<double> A, B;
};

/// @param found         of the same parts and poses, with status `converged` or `inaccurate`
/// @param least_radius  [m], > 0
[[nodiscard]] WitnessDerivatives witness_derivatives(const ConvexPart<double>& A, const Pose<double>& X_WA,
                                                     const ConvexPart<double>& B, const Pose<double>& X_WB,
                                                     const ConvexDistance<double>& found,
                                                     double least_radius = 1e-9);

/// The same with W_A and W_B in place of those of the features, and no flat directions: smoothed derivatives.
/// @param W_A, W_B  d(support point)/dn of the cores in W [m], symmetric, with n in their null space
[[nodiscard]] WitnessDerivatives witness_derivatives(const ConvexPart<double>& A, const Pose<double>& X_WA,
                                                     const ConvexPart<double>& B, const Pose<double>& X_WB,
                                                     const ConvexDistance<double>& found,
                                                     const Mat3<double>& W_A, const Mat3<double>& W_B,
                                                     double least_radius = 1e-9);

/// J^T bar.
[[nodiscard]] inline WitnessPoseBar witness_vjp(const WitnessDerivatives& J, const WitnessBar& bar) {
  return {J.distance_A * bar.distance + J.normal_A.transpose() * bar.normal +
              J.point_A_A.transpose() * bar.point_A + J.point_B_A.transpose() * bar.point_B,
          J.distance_B * bar.distance + J.normal_B.transpose() * bar.normal +
              J.point_A_B.transpose() * bar.point_A + J.point_B_B.transpose() * bar.point_B};
}

}  // namespace abut
