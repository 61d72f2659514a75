/// Poses of rigid bodies, what they do to points, and the derivatives of that.
///
/// X_AB takes coordinates in B to coordinates in A: p_A = X_AB * p_B = R_AB p_B + p_AB. A tangent of a pose
/// is a left perturbation in A, [dtheta; dp] [rad; m]: R <- Exp(dtheta) R, p <- p + dp, so dR = [dtheta]x R.
/// Twists [w; v] and wrenches [torque; force] share that layout and refer to the origin of B. The `_bar` of x
/// is dL/dx; that of a pose is (6), by its tangent.
#pragma once

#include <cmath>

#include "engine/lie.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// A rigid transform X_AB. Default: the identity.
template <typename S>
struct Pose {
  Quat<S> q = Quat<S>(S(1), S(0), S(0), S(0));  ///< R_AB as unit quaternion (w, x, y, z)
  Vec3<S> p = Vec3<S>(S(0), S(0), S(0));        ///< p_AB: origin of B in A [m]

  /// R_AB.
  [[nodiscard]] Mat3<S> rotation() const { return q.toRotationMatrix(); }

  /// X_BA.
  [[nodiscard]] Pose inverse() const {
    const Quat<S> q_BA = q.conjugate();
    return {q_BA, -(q_BA * p)};
  }

  /// The same pose with |q| = 1 again, after rounding has drifted it.
  [[nodiscard]] Pose normalized() const {
    using std::sqrt;
    const S scale = S(1) / sqrt(q.coeffs().squaredNorm());
    return {Quat<S>(scale * q.w(), scale * q.x(), scale * q.y(), scale * q.z()), p};
  }

  /// X_AC = X_AB * X_BC.
  friend Pose operator*(const Pose& X_AB, const Pose& X_BC) {
    return {X_AB.q * X_BC.q, X_AB.p + X_AB.q * X_BC.p};
  }

  /// p_A = X_AB * p_B, a point [m]. A direction n_B becomes X_AB.q * n_B.
  friend Vec3<S> operator*(const Pose& X_AB, const Vec3<S>& p_B) { return X_AB.q * p_B + X_AB.p; }

  /// The same pose in another scalar, to which S converts.
  template <typename U>
  [[nodiscard]] Pose<U> cast() const {
    return {Quat<U>(U(q.w()), U(q.x()), U(q.y()), U(q.z())), Vec3<U>(U(p.x()), U(p.y()), U(p.z()))};
  }
};

/// p_B = X_AB^-1 * p_A.
template <typename S>
[[nodiscard]] Vec3<S> inverse_point(const Pose<S>& X_AB, const Vec3<S>& p_A) {
  return X_AB.q.conjugate() * Vec3<S>(p_A - X_AB.p);
}

// The same pose after a tangent, and the tangent between two poses ------------------------------------------

/// The pose moved by a tangent: R <- Exp(dtheta) R, p <- p + dp.
template <typename S>
[[nodiscard]] Pose<S> retract(const Pose<S>& X, const Vec6<S>& tangent) {
  const Vec3<S> dtheta = tangent.template head<3>();
  return {exp_quaternion(dtheta) * X.q, X.p + tangent.template tail<3>()};
}

/// The tangent that leads from X0 to X1, rotation at most pi: retract(X0, difference(X1, X0)) = X1.
template <typename S>
[[nodiscard]] Vec6<S> difference(const Pose<S>& X1, const Pose<S>& X0) {
  Vec6<S> tangent;
  tangent.template head<3>() = log_quaternion(Quat<S>(X1.q * X0.q.conjugate()));
  tangent.template tail<3>() = X1.p - X0.p;
  return tangent;
}

/// Exp of SE(3): the pose reached by following the constant twist x = [w; v] for unit time,
/// (Exp(w), J_l(w) v). Unlike retract(), the translation takes part in the rotation.
template <typename S>
[[nodiscard]] Pose<S> exp_se3(const Vec6<S>& x) {
  const Vec3<S> w = x.template head<3>(), v = x.template tail<3>();
  return {exp_quaternion(w), left_jacobian_so3(w) * v};
}

/// Log of SE(3), [w; J_l(w)^-1 p] with |w| <= pi.
template <typename S>
[[nodiscard]] Vec6<S> log_se3(const Pose<S>& X) {
  const Vec3<S> w = log_quaternion(X.q);
  Vec6<S> x;
  x.template head<3>() = w;
  x.template tail<3>() = left_jacobian_inverse_so3(w) * X.p;
  return x;
}

// Derivatives: of a point or vector (JVP), of a loss by the pose and by the point or vector (VJP) -----------

/// dL/d(pose tangent) and dL/d(point or vector), of a VJP below.
template <typename S>
struct PosePointBar {
  Vec6<S> pose;  ///< [theta_bar; p_bar]
  Vec3<S> point;
};

/// [rotation; translation] from its halves.
template <typename S>
[[nodiscard]] Vec6<S> stack(const Vec3<S>& rotation, const Vec3<S>& translation) {
  Vec6<S> x;
  x.template head<3>() = rotation;
  x.template tail<3>() = translation;
  return x;
}

/// Of p_W = X_WB * p_B:  dp_W = dp + dtheta x (R p_B) + R dp_B.
template <typename S>
[[nodiscard]] Vec3<S> point_jvp(const Pose<S>& X_WB, const Vec3<S>& p_B, const Vec6<S>& tangent,
                                const Vec3<S>& dp_B) {
  const Vec3<S> r_W = X_WB.q * p_B, dtheta = tangent.template head<3>();
  return tangent.template tail<3>() + dtheta.cross(r_W) + X_WB.q * dp_B;
}

/// Of p_W = X_WB * p_B:  theta_bar = (R p_B) x p_W_bar, p_bar = p_W_bar, p_B_bar = R^T p_W_bar.
template <typename S>
[[nodiscard]] PosePointBar<S> point_vjp(const Pose<S>& X_WB, const Vec3<S>& p_B, const Vec3<S>& p_W_bar) {
  const Vec3<S> r_W = X_WB.q * p_B;
  return {stack<S>(r_W.cross(p_W_bar), p_W_bar), X_WB.q.conjugate() * p_W_bar};
}

/// Of p_B = X_WB^-1 * p_W:  dp_B = R^T (dp_W - dp - dtheta x (p_W - p)).
template <typename S>
[[nodiscard]] Vec3<S> inverse_point_jvp(const Pose<S>& X_WB, const Vec3<S>& p_W, const Vec6<S>& tangent,
                                        const Vec3<S>& dp_W) {
  const Vec3<S> r_W = p_W - X_WB.p, dtheta = tangent.template head<3>();
  return X_WB.q.conjugate() * Vec3<S>(dp_W - tangent.template tail<3>() - dtheta.cross(r_W));
}

/// Of p_B = X_WB^-1 * p_W:  with y = R p_B_bar, p_W_bar = y, p_bar = -y, theta_bar = -(p_W - p) x y.
template <typename S>
[[nodiscard]] PosePointBar<S> inverse_point_vjp(const Pose<S>& X_WB, const Vec3<S>& p_W,
                                                const Vec3<S>& p_B_bar) {
  const Vec3<S> y = X_WB.q * p_B_bar, r_W = p_W - X_WB.p;
  return {stack<S>(y.cross(r_W), -y), y};
}

/// Of n_W = R_WB n_B:  dn_W = dtheta x n_W + R dn_B.
template <typename S>
[[nodiscard]] Vec3<S> vector_jvp(const Pose<S>& X_WB, const Vec3<S>& n_B, const Vec6<S>& tangent,
                                 const Vec3<S>& dn_B) {
  const Vec3<S> n_W = X_WB.q * n_B, dtheta = tangent.template head<3>();
  return dtheta.cross(n_W) + X_WB.q * dn_B;
}

/// Of n_W = R_WB n_B:  theta_bar = n_W x n_W_bar, n_B_bar = R^T n_W_bar; the translation's is zero.
template <typename S>
[[nodiscard]] PosePointBar<S> vector_vjp(const Pose<S>& X_WB, const Vec3<S>& n_B, const Vec3<S>& n_W_bar) {
  const Vec3<S> n_W = X_WB.q * n_B;
  return {stack<S>(n_W.cross(n_W_bar), Vec3<S>(S(0), S(0), S(0))), X_WB.q.conjugate() * n_W_bar};
}

/// Of X_WC = X_WB * X_BC, its tangent in W from that of X_WB and, in B, of X_BC:
///   dtheta = dtheta_WB + R_WB dtheta_BC,  dp = dp_WB + dtheta_WB x (R_WB p_BC) + R_WB dp_BC.
template <typename S>
[[nodiscard]] Vec6<S> compose_jvp(const Pose<S>& X_WB, const Pose<S>& X_BC, const Vec6<S>& tangent_WB,
                                  const Vec6<S>& tangent_BC) {
  const Vec3<S> dtheta_BC = tangent_BC.template head<3>(), dp_BC = tangent_BC.template tail<3>();
  return stack<S>(tangent_WB.template head<3>() + X_WB.q * dtheta_BC,
                  point_jvp<S>(X_WB, X_BC.p, tangent_WB, dp_BC));
}

/// dL/d(tangent of X_WB) and dL/d(tangent of X_BC), of compose_vjp.
template <typename S>
struct ComposeBar {
  Vec6<S> X_WB, X_BC;
};

/// Of X_WC = X_WB * X_BC: the transpose of compose_jvp.
template <typename S>
[[nodiscard]] ComposeBar<S> compose_vjp(const Pose<S>& X_WB, const Pose<S>& X_BC, const Vec6<S>& X_WC_bar) {
  const Vec3<S> theta_bar = X_WC_bar.template head<3>(), p_bar = X_WC_bar.template tail<3>();
  const PosePointBar<S> origin = point_vjp<S>(X_WB, X_BC.p, p_bar);
  ComposeBar<S> bar{origin.pose, stack<S>(X_WB.q.conjugate() * theta_bar, origin.point)};
  bar.X_WB.template head<3>() += theta_bar;
  return bar;
}

// Twists and wrenches ---------------------------------------------------------------------------------------

/// Velocity [m/s] in W of the point of B at r_W = p_WP - p_WB, from the twist of B:  v + w x r.
template <typename S>
[[nodiscard]] Vec3<S> point_velocity(const Vec6<S>& V_WB, const Vec3<S>& r_W) {
  const Vec3<S> w_WB = V_WB.template head<3>();
  return V_WB.template tail<3>() + w_WB.cross(r_W);
}

/// Wrench about the origin of B of a force [N] acting at r_W from it, [r x f; f]: the transpose of
/// point_velocity.
template <typename S>
[[nodiscard]] Vec6<S> wrench_of_force(const Vec3<S>& r_W, const Vec3<S>& force_W) {
  return stack<S>(r_W.cross(force_W), force_W);
}

}  // namespace abut
