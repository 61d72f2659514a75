/// Twists, wrenches and inertias of links, all in W and about one point O that stands still in W.
///
/// A twist about O is [w; v_O], v_O the velocity of the point of the (extended) body at O; a wrench is [torque
/// about O; force]. What refers to one point needs no transforms between links: the twist of a link is that of
/// its parent plus that of its joint, and the wrenches on a subtree add up. Elsewhere twists and wrenches refer
/// to the centre of mass (engine/pose.h), at p = p_WB - p_WO here.
///
/// @see  Featherstone (2008), "Rigid Body Dynamics Algorithms", ch. 2: his Pluecker coordinates, one frame.
#pragma once

#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// Twist about the centre of mass from that about O, [w; v_O + w x p].
template <typename S>
[[nodiscard]] Vec6<S> twist_at(const Vec3<S>& p, const Vec6<S>& V) {
  return stack<S>(V.template head<3>(), point_velocity<S>(V, p));
}

/// Wrench about O from that about the centre of mass, [torque + p x f; f]: the transpose of twist_at().
template <typename S>
[[nodiscard]] Vec6<S> wrench_about_origin(const Vec3<S>& p, const Vec6<S>& F) {
  const Vec3<S> f = F.template tail<3>();
  return stack<S>(F.template head<3>() + p.cross(f), f);
}

/// Rate of a twist X that is carried along by a body of twist V:  V x X = [w x x_w; w x x_v + v x x_w].
template <typename S>
[[nodiscard]] Vec6<S> motion_cross(const Vec6<S>& V, const Vec6<S>& X) {
  const Vec3<S> w = V.template head<3>(), v = V.template tail<3>();
  const Vec3<S> x_w = X.template head<3>(), x_v = X.template tail<3>();
  return stack<S>(w.cross(x_w), w.cross(x_v) + v.cross(x_w));
}

/// Rate of a wrench F that is carried along,  V x* F = [w x torque + v x f; w x f]: minus the transpose of
/// motion_cross() with respect to X.
template <typename S>
[[nodiscard]] Vec6<S> force_cross(const Vec6<S>& V, const Vec6<S>& F) {
  const Vec3<S> w = V.template head<3>(), v = V.template tail<3>();
  const Vec3<S> torque = F.template head<3>(), f = F.template tail<3>();
  return stack<S>(w.cross(torque) + v.cross(f), w.cross(f));
}

/// Inertia of a body or of several that move as one.
template <typename S>
struct SpatialInertia {
  S mass = S(0);                              ///< m [kg]
  Vec3<S> moment{S(0), S(0), S(0)};           ///< m p [kg m]
  Mat3<S> inertia = Mat3<S>::Constant(S(0));  ///< about O, I_W + m (p.p 1 - p p') [kg m^2]

  SpatialInertia() = default;
  /// The inertia of a body with inertia I_W about its centre of mass at p.
  SpatialInertia(const S& m, const Mat3<S>& I_W, const Vec3<S>& p)
      : mass(m), moment(m * p), inertia(I_W - m * (p * p.transpose())) {
    inertia.diagonal().array() += m * p.dot(p);
  }

  SpatialInertia& operator+=(const SpatialInertia& other) {
    mass += other.mass;
    moment += other.moment;
    inertia += other.inertia;
    return *this;
  }

  /// Momentum about O of a twist.
  [[nodiscard]] Vec6<S> operator*(const Vec6<S>& V) const {
    const Vec3<S> w = V.template head<3>(), v = V.template tail<3>();
    return stack<S>(inertia * w + moment.cross(v), mass * v - moment.cross(w));
  }

  [[nodiscard]] Mat6<S> matrix() const {
    Mat6<S> M;
    M.template topLeftCorner<3, 3>() = inertia;
    M.template topRightCorner<3, 3>() = skew(moment);
    M.template bottomLeftCorner<3, 3>() = -skew(moment);
    M.template bottomRightCorner<3, 3>() = mass * Mat3<S>::Identity();
    return M;
  }
};

/// dL/d of a spatial inertia's three parts, each as if it were free of the others.
struct SpatialInertiaBar {
  double mass = 0.0;
  Vec3<double> moment = Vec3<double>::Zero();
  Mat3<double> inertia = Mat3<double>::Zero();

  /// Adds the cotangents of X . (I V).
  void add_product(const Vec6<double>& X, const Vec6<double>& V) {
    const Vec3<double> x_w = X.head<3>(), x_v = X.tail<3>(), w = V.head<3>(), v = V.tail<3>();
    mass += x_v.dot(v);
    moment += v.cross(x_w) - w.cross(x_v);  // x_w . (h x v) - x_v . (h x w)
    inertia += x_w * w.transpose();
  }
};

/// dL/d(theta) of a left perturbation that a symmetric matrix I = R I_B R' in W follows, from A = dL/dI.
[[nodiscard]] inline Vec3<double> rotated_inertia_vjp(const Mat3<double>& I, const Mat3<double>& A) {
  const Mat3<double> X = I * A.transpose() - A.transpose() * I;  // <A, [dtheta]x I - I [dtheta]x>
  return {X(1, 2) - X(2, 1), X(2, 0) - X(0, 2), X(0, 1) - X(1, 0)};
}

}  // namespace abut
