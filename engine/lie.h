/// Rotations as a Lie group: Exp, Log, and the Jacobians of Exp.
///
/// A rotation vector w [rad] is axis times angle t = |w|; W = [w]x is its skew matrix. Perturbations are on
/// the left, in the world frame: R+ = Exp(dtheta) R, and then Exp(w + dw) = Exp(J_l(w) dw) Exp(w) to first
/// order. SE(3) tangents are [rotation; translation], as twists are; Exp and Log of SE(3) stand in pose.h.
///
/// Every function runs on any scalar. Coefficients such as sin(t)/t are functions of t^2, taken from their
/// power series below t = 1, so that value and derivatives of every order are right at w = 0 too, where
/// sqrt(w.w) has none.
///
/// @see  Sola, Deray, Atchuthan (2018), "A micro Lie theory for state estimation in robotics", for SO(3);
///       Barfoot (2017), "State Estimation for Robotics", sec. 7.1, for SE(3): there translation comes first.
#pragma once

#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// Skew matrix: skew(a) b = a x b.
template <typename S>
[[nodiscard]] Mat3<S> skew(const Vec3<S>& a) {
  Mat3<S> m;
  // clang-format off
  m << S(0), -a.z(), a.y(),
       a.z(), S(0), -a.x(),
       -a.y(), a.x(), S(0);
  // clang-format on
  return m;
}

/// Inverse of skew: the vector of the skew part of m.
template <typename S>
[[nodiscard]] Vec3<S> unskew(const Mat3<S>& m) {
  return S(0.5) * Vec3<S>(m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1));
}

/// The coefficients of the formulas below, all analytic functions of t^2.
template <typename S>
class AngleFunctions {
 public:
  explicit AngleFunctions(const S& t_squared)
      : is_small_(t_squared < S(1)),
        small_t2_(select(is_small_, t_squared, S(0))),
        t2_(select(is_small_, S(1), t_squared)) {
    using std::cos, std::sin, std::sqrt;
    if constexpr (std::is_floating_point_v<S>) {
      if (is_small_) return;  // the series are all that is asked for
    }
    t_ = sqrt(t2_);
    sin_ = sin(t_);
    cos_ = cos(t_);
  }

  /// sin(t)/t
  S sinc() const { return select(is_small_, series<1>(false), sin_ / t_); }
  /// (1 - cos t)/t^2
  S versine() const { return select(is_small_, series<2>(false), (S(1) - cos_) / t2_); }
  /// (t - sin t)/t^3
  S cubic() const { return select(is_small_, series<3>(false), (t_ - sin_) / (t_ * t2_)); }
  /// (t^2/2 + cos t - 1)/t^4
  S quartic() const {
    return select(is_small_, series<4>(false), (S(0.5) * t2_ + cos_ - S(1)) / (t2_ * t2_));
  }
  /// (2 t - 3 sin t + t cos t)/(2 t^5)
  S quintic() const {
    return select(is_small_, series<5>(true),
                  (S(2) * t_ - S(3) * sin_ + t_ * cos_) / (S(2) * t2_ * t2_ * t_));
  }
  /// (1 - (t/2) cot(t/2))/t^2 for t < 2 pi
  S inverse_quadratic() const {
    const S g = select(is_small_, S(2) * series<4>(true), (S(2) * (S(1) - cos_) - t_ * sin_) / (t2_ * t2_));
    return g / (S(2) * versine());
  }

 private:
  /// sum_k c_k (-t^2)^k / (2k + first)!  with c_k = 1, or k + 1 if weighted.
  template <int first>
  S series(bool weighted) const {
    constexpr int k_terms = 10;  // (1/first!) of the 11th is below 1e-19
    constexpr auto inverse_factorials = [] {
      std::array<double, k_terms> c{};
      double factorial = 1.0;
      for (int i = 2; i <= first; ++i) factorial *= i;
      for (int k = 0; k < k_terms; ++k) {
        c[static_cast<std::size_t>(k)] = 1.0 / factorial;
        factorial *= (first + 2.0 * k + 1.0) * (first + 2.0 * k + 2.0);
      }
      return c;
    }();
    S sum = S(0);
    for (int k = k_terms - 1; k >= 0; --k) {
      sum = S(inverse_factorials[static_cast<std::size_t>(k)] * (weighted ? k + 1.0 : 1.0)) - small_t2_ * sum;
    }
    return sum;
  }

  using Condition = decltype(std::declval<S>() < std::declval<S>());
  Condition is_small_;
  S small_t2_, t2_, t_ = S(1), sin_ = S(0), cos_ = S(0);
};

/// Rotation matrix of a rotation vector,  Exp(w) = I + sin(t)/t W + (1 - cos t)/t^2 W^2  (Rodrigues).
template <typename S>
[[nodiscard]] Mat3<S> exp_so3(const Vec3<S>& w) {
  const AngleFunctions<S> angle(w.dot(w));
  const Mat3<S> W = skew(w);
  return Mat3<S>::Identity() + angle.sinc() * W + angle.versine() * (W * W);
}

/// Unit quaternion of a rotation vector, (cos(t/2), sin(t/2)/t w).
template <typename S>
[[nodiscard]] Quat<S> exp_quaternion(const Vec3<S>& w) {
  const S half_squared = S(0.25) * w.dot(w);  // (t/2)^2
  const AngleFunctions<S> half_angle(half_squared);
  const Vec3<S> v = (S(0.5) * half_angle.sinc()) * w;
  return Quat<S>(S(1) - half_squared * half_angle.versine(), v.x(), v.y(), v.z());
}

/// Rotation vector of a quaternion, |w| <= pi; q and -q give the same, and the norm of q does not matter.
///   w = 2 atan2(|v|, q_w)/|v| v   for q_w >= 0
/// At exactly pi, where both axes are right, the one of q itself is given.
template <typename S>
[[nodiscard]] Vec3<S> log_quaternion(const Quat<S>& q) {
  using std::atan2, std::sqrt;
  const S sign = select(q.w() < S(0), S(-1), S(1));
  const S c = sign * q.w();
  const Vec3<S> v = sign * q.vec();
  const S n2 = v.dot(v);
  const auto is_small = n2 < S(0.03) * c * c;
  const auto near_one = [&](const S& safe_c, const S& square) {
    // atan(x)/x = 1 - u/3 + u^2/5 - ... + u^10/21, u = x^2, in pairs and pairs of pairs
    const S inverse = S(1) / safe_c, u = square * (inverse * inverse), u2 = u * u, u4 = u2 * u2;
    const S first = (S(1) - u * S(1.0 / 3)) + u2 * (S(1.0 / 5) - u * S(1.0 / 7));
    const S second = (S(1.0 / 9) - u * S(1.0 / 11)) + u2 * (S(1.0 / 13) - u * S(1.0 / 15));
    const S third = (S(1.0 / 17) - u * S(1.0 / 19)) + u2 * S(1.0 / 21);
    return S(inverse * (first + u4 * (second + u4 * third)));
  };
  const auto far_from_one = [&](const S& n) { return S(atan2(n, c) / n); };
  if constexpr (std::is_same_v<S, double>)  // the same without what is not taken
    return (2.0 * (is_small ? near_one(c, n2) : far_from_one(sqrt(n2)))) * v;
  const S safe_c = select(is_small, c, S(1)), square = select(is_small, n2, S(0)),
          n = sqrt(select(is_small, S(1), n2));
  return (S(2) * select(is_small, near_one(safe_c, square), far_from_one(n))) * v;
}

/// Unit quaternion of a rotation matrix, found from the largest of its four components: well conditioned.
/// @see  Shepperd (1978), "Quaternion from rotation matrix".
template <typename S>
[[nodiscard]] Quat<S> quaternion_of(const Mat3<S>& R) {
  using std::sqrt;
  const S x_w = R(2, 1) - R(1, 2), y_w = R(0, 2) - R(2, 0), z_w = R(1, 0) - R(0, 1);  // 4 q_x q_w, ...
  const S x_y = R(1, 0) + R(0, 1), y_z = R(2, 1) + R(1, 2), z_x = R(0, 2) + R(2, 0);
  S largest = S(1) + R(0, 0) + R(1, 1) + R(2, 2);  // 4 q_w^2
  S w = largest, x = x_w, y = y_w, z = z_w;
  const auto consider = [&](const S& square, const S& cw, const S& cx, const S& cy, const S& cz) {
    const auto better = square > largest;
    largest = select(better, square, largest);
    w = select(better, cw, w), x = select(better, cx, x);
    y = select(better, cy, y), z = select(better, cz, z);
  };
  const S xx = S(1) + R(0, 0) - R(1, 1) - R(2, 2);
  const S yy = S(1) - R(0, 0) + R(1, 1) - R(2, 2);
  const S zz = S(1) - R(0, 0) - R(1, 1) + R(2, 2);
  consider(xx, x_w, xx, x_y, z_x);
  consider(yy, y_w, x_y, yy, y_z);
  consider(zz, z_w, z_x, y_z, zz);
  const S scale = S(0.5) / sqrt(largest);
  return Quat<S>(scale * w, scale * x, scale * y, scale * z);
}

/// Rotation vector of a rotation matrix, |w| <= pi; well conditioned up to and at pi.
template <typename S>
[[nodiscard]] Vec3<S> log_so3(const Mat3<S>& R) {
  return log_quaternion(quaternion_of(R));
}

/// The shortest rotation of the direction of `from` to that of `to`, lengths > 0; of opposite ones, half a
/// turn about some axis across them.
[[nodiscard]] Quat<double> shortest_rotation(const Vec3<double>& from, const Vec3<double>& to);

/// Left Jacobian of Exp,  J_l(w) = I + (1 - cos t)/t^2 W + (t - sin t)/t^3 W^2:
/// Exp(w + dw) = Exp(J_l dw) Exp(w). The right Jacobian is J_l(-w) = J_l(w)^T.
template <typename S>
[[nodiscard]] Mat3<S> left_jacobian_so3(const Vec3<S>& w) {
  const AngleFunctions<S> angle(w.dot(w));
  const Mat3<S> W = skew(w);
  return Mat3<S>::Identity() + angle.versine() * W + angle.cubic() * (W * W);
}

/// Inverse of left_jacobian_so3,  I - W/2 + (1 - (t/2) cot(t/2))/t^2 W^2, for t < 2 pi: the derivative of
/// Log, Log(Exp(dtheta) R) = Log(R) + J_l^-1 dtheta.
template <typename S>
[[nodiscard]] Mat3<S> left_jacobian_inverse_so3(const Vec3<S>& w) {
  const AngleFunctions<S> angle(w.dot(w));
  const Mat3<S> W = skew(w);
  return Mat3<S>::Identity() - S(0.5) * W + angle.inverse_quadratic() * (W * W);
}

/// The lower left block of the left Jacobian of SE(3): how the translation of Exp([w; v]) follows w.
///   Q = V/2 + (t - sin t)/t^3 (WV + VW + WVW) + (t^2/2 + cos t - 1)/t^4 (WWV + VWW - 3 WVW)
///       + (2t - 3 sin t + t cos t)/(2 t^5) (WVWW + WWVW)
template <typename S>
[[nodiscard]] Mat3<S> left_jacobian_se3_coupling(const Vec3<S>& w, const Vec3<S>& v) {
  const AngleFunctions<S> angle(w.dot(w));
  const Mat3<S> W = skew(w), V = skew(v);
  const Mat3<S> WV = W * V, VW = V * W, WVW = WV * W, WW = W * W;
  const Mat3<S> second = WV + VW + WVW;
  const Mat3<S> third = W * WV + VW * W - S(3) * WVW;
  const Mat3<S> fourth = WV * WW + WW * VW;
  return S(0.5) * V + angle.cubic() * second + angle.quartic() * third + angle.quintic() * fourth;
}

/// Left Jacobian of Exp on SE(3) for twists [rotation; translation],  [[J_l(w), 0], [Q, J_l(w)]]  (6, 6):
/// Exp(x + dx) = Exp(J dx) Exp(x).
template <typename S>
[[nodiscard]] Mat6<S> left_jacobian_se3(const Vec6<S>& x) {
  const Vec3<S> w = x.template head<3>(), v = x.template tail<3>();
  const Mat3<S> J_so3 = left_jacobian_so3(w);
  Mat6<S> J;
  J.template topLeftCorner<3, 3>() = J_so3;
  J.template topRightCorner<3, 3>().setZero();
  J.template bottomLeftCorner<3, 3>() = left_jacobian_se3_coupling(w, v);
  J.template bottomRightCorner<3, 3>() = J_so3;
  return J;
}

/// Inverse of left_jacobian_se3,  [[J_l^-1, 0], [-J_l^-1 Q J_l^-1, J_l^-1]]  (6, 6), for |w| < 2 pi.
template <typename S>
[[nodiscard]] Mat6<S> left_jacobian_inverse_se3(const Vec6<S>& x) {
  const Vec3<S> w = x.template head<3>(), v = x.template tail<3>();
  const Mat3<S> J_inverse = left_jacobian_inverse_so3(w);
  const Mat3<S> coupling = left_jacobian_se3_coupling(w, v) * J_inverse;
  Mat6<S> J;
  J.template topLeftCorner<3, 3>() = J_inverse;
  J.template topRightCorner<3, 3>().setZero();
  J.template bottomLeftCorner<3, 3>() = -(J_inverse * coupling);
  J.template bottomRightCorner<3, 3>() = J_inverse;
  return J;
}

}  // namespace abut
