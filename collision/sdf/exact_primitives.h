/// Signed distance functions that are exact: half-space, sphere, capsule, rounded box.
///
/// The gradient of an exact distance is the normal, and the Jacobian of the normal its Hessian, zero where
/// the distance is linear. Where no closest point is singled out (the centre of a sphere, the axis of a
/// capsule) a fixed unit normal is given, with Jacobian zero. Deep in a box, where the gradient jumps from
/// face to face, the normal turns smoothly instead (BoxSample). Everything is in the frame of the body B;
/// parameters are those of Primitive.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "collision/sdf/sdf_sample.h"
#include "engine/pose.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// The solid below a plane.
template <typename T>
struct HalfSpace {
  Vec3<T> normal;  ///< z axis of P in B
  Vec3<T> point;   ///< p_BP [m]

  HalfSpace(const std::array<T, 5>&, const Pose<double>& X_BP)
      : normal(X_BP.rotation().col(2).template cast<T>()), point(X_BP.p.template cast<T>()) {}
};

template <typename T>
struct Sphere {
  Vec3<T> centre;  ///< p_BP [m]
  T radius;        ///< [m]

  Sphere(const std::array<T, 5>& parameters, const Pose<double>& X_BP)
      : centre(X_BP.p.template cast<T>()), radius(parameters[0]) {}
};

/// All points within `radius` of a segment of half length `half_length` about `centre` along `axis`.
template <typename T>
struct Capsule {
  Vec3<T> axis;           ///< z axis of P in B
  Vec3<T> side;           ///< x axis of P in B: the normal on the axis
  Vec3<T> centre;         ///< p_BP [m]
  T radius, half_length;  ///< [m]

  Capsule(const std::array<T, 5>& parameters, const Pose<double>& X_BP)
      : axis(X_BP.rotation().col(2).template cast<T>()),
        side(X_BP.rotation().col(0).template cast<T>()),
        centre(X_BP.p.template cast<T>()),
        radius(parameters[0]),
        half_length(parameters[1]) {}
};

/// All points within `radius` of a box of half extents `core`.
template <typename T>
struct RoundedBox {
  Mat3<T> R_BP;
  Vec3<T> centre;    ///< p_BP [m]
  Vec3<T> core;      ///< half extents less the radius of the edges [m]
  T radius;          ///< of the edges [m]
  T turning_radius;  ///< half of that, and more than rounding errors [m]

  RoundedBox(const std::array<T, 5>& parameters, const Pose<double>& X_BP)
      : R_BP(X_BP.rotation().template cast<T>()), centre(X_BP.p.template cast<T>()), radius(parameters[3]) {
    constexpr double k_epsilon = std::numeric_limits<scalar_value_t<T>>::epsilon();
    for (int i = 0; i < 3; ++i) core[i] = parameters[static_cast<std::size_t>(i)] - radius;
    turning_radius = T(0.5) * radius + T(k_epsilon) * (parameters[0] + parameters[1] + parameters[2]);
  }
};

template <typename Solid>
inline constexpr bool k_is_exact = false;
template <typename T>
inline constexpr bool k_is_exact<HalfSpace<T>> = true;
template <typename T>
inline constexpr bool k_is_exact<Sphere<T>> = true;
template <typename T>
inline constexpr bool k_is_exact<Capsule<T>> = true;
template <typename T>
inline constexpr bool k_is_exact<RoundedBox<T>> = true;

/// d = n.(x - p)
template <SdfOrder order, typename S, typename T>
[[nodiscard]] ABUT_KERNEL SdfAnswer<order, S> exact_sample(const HalfSpace<T>& half_space,
                                                           const Vec3<S>& x_B) {
  const Vec3<S> r = relative(x_B, half_space.point);
  const Vec3<S> n(S(half_space.normal[0]), S(half_space.normal[1]), S(half_space.normal[2]));
  SdfAnswer<order, S> out;
  out.distance = n[0] * r[0] + n[1] * r[1] + n[2] * r[2];
  if constexpr (order >= SdfOrder::normal) out.normal = n;
  if constexpr (order >= SdfOrder::gradient) out.gradient = n;
  if constexpr (order >= SdfOrder::jacobian) out.normal_jacobian.setConstant(S(0));
  return out;
}

/// |r| - radius with n = r/|r|, and at r = 0 `normal_at_centre`. What sphere and capsule share.
template <SdfOrder order, typename S>
[[nodiscard]] SdfAnswer<order, S> distance_to_point(const Vec3<S>& r, const S& radius,
                                                    const Vec3<S>& normal_at_centre) {
  using std::sqrt;
  const S r_squared = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  const auto is_centre = !(r_squared > S(std::numeric_limits<scalar_value_t<S>>::min()));
  const S length = sqrt(select(is_centre, S(1), r_squared));
  SdfAnswer<order, S> out;
  out.distance = select(is_centre, S(0), length) - radius;
  if constexpr (order >= SdfOrder::normal) {
    const S inverse = S(1) / length;
    for (int i = 0; i < 3; ++i) out.normal[i] = select(is_centre, normal_at_centre[i], r[i] * inverse);
    if constexpr (order >= SdfOrder::gradient) out.gradient = out.normal;
    if constexpr (order >= SdfOrder::jacobian) {
      const S curvature = select(is_centre, S(0), inverse);
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          out.normal_jacobian(i, j) = curvature * (S(i == j ? 1 : 0) - out.normal[i] * out.normal[j]);
        }
      }
    }
  }
  return out;
}

template <SdfOrder order, typename S, typename T>
[[nodiscard]] ABUT_KERNEL SdfAnswer<order, S> exact_sample(const Sphere<T>& sphere, const Vec3<S>& x_B) {
  return distance_to_point<order, S>(relative(x_B, sphere.centre), S(sphere.radius),
                                     Vec3<S>(S(0), S(0), S(1)));
}

/// The distance to the closest point of the segment, less the radius.
template <SdfOrder order, typename S, typename T>
[[nodiscard]] ABUT_KERNEL SdfAnswer<order, S> exact_sample(const Capsule<T>& capsule, const Vec3<S>& x_B) {
  const Vec3<S> r = relative(x_B, capsule.centre);
  const Vec3<S> a(S(capsule.axis[0]), S(capsule.axis[1]), S(capsule.axis[2]));
  const Vec3<S> side(S(capsule.side[0]), S(capsule.side[1]), S(capsule.side[2]));
  const S along = a[0] * r[0] + a[1] * r[1] + a[2] * r[2], h = S(capsule.half_length);
  const auto above = along > h, below = along < -h;
  const S closest = select(above, h, select(below, -h, along));
  const Vec3<S> from_axis(r[0] - closest * a[0], r[1] - closest * a[1], r[2] - closest * a[2]);
  SdfAnswer<order, S> out = distance_to_point<order, S>(from_axis, S(capsule.radius), side);
  if constexpr (order >= SdfOrder::jacobian) {  // along the side the normal does not change: N - N a a^T
    const auto on_cap = above || below;
    for (int i = 0; i < 3; ++i) {
      const S N_a = select(on_cap, S(0),
                           out.normal_jacobian(i, 0) * a[0] + out.normal_jacobian(i, 1) * a[1] +
                               out.normal_jacobian(i, 2) * a[2]);
      for (int j = 0; j < 3; ++j) out.normal_jacobian(i, j) = out.normal_jacobian(i, j) - N_a * a[j];
    }
  }
  return out;
}

/// A point beside a box, in P. With q_f its height above the face f of the core, of six,
///   psi = |max(q, 0)| + min(max_f q_f, 0)                      exact distance from the core, d = psi -
///   radius n = sum_f v_f e_f/|v|,  v_f = max(q_f - t, 0) t = -1.25 y^2/(y + r),  y = max(r - psi, 0),  r =
///   turning_radius.
/// Down to a depth of radius - r, t is 0 and n = grad d. Deeper n turns from face to face where grad d jumps,
/// as around an edge of radius psi - t, which is at least 0.6 r and grows by a quarter of the depth. It fades
/// between opposite faces.
template <typename S>
struct BoxSample {
  S distance;                    ///< psi [m]
  Vec3<S> gradient;              ///< grad psi
  Vec3<S> share, opposite;       ///< v_f of the faces towards +x, +y, +z; of those towards -x, -y, -z [m]
  S length;                      ///< |v| > 0 [m]
  S t_by_distance, t_by_radius;  ///< dt/d(psi), dt/d(radius)

  [[nodiscard]] Vec3<S> normal() const {
    Vec3<S> n;
    for (int i = 0; i < 3; ++i) n[i] = (share[i] - opposite[i]) / length;
    return n;
  }
  /// -d(sum_f v_f e_f)/dt along an axis.
  [[nodiscard]] S balance(int axis) const {
    return select(share[axis] > S(0), S(1), S(0)) - select(opposite[axis] > S(0), S(1), S(0));
  }
  /// d|v|/dt = -this.
  [[nodiscard]] S mean_share() const {
    return ((share[0] + opposite[0]) + (share[1] + opposite[1]) + (share[2] + opposite[2])) / length;
  }
};

template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART BoxSample<S> box_sample(const RoundedBox<T>& box, const Vec3<S>& x_P) {
  using std::sqrt;
  BoxSample<S> out;
  Vec3<S> sign, q, beyond;
  for (int i = 0; i < 3; ++i) {
    sign[i] = select(x_P[i] < S(0), S(-1), S(1));
    q[i] = sign[i] * x_P[i] - S(box.core[i]);
    beyond[i] = select(q[i] > S(0), q[i], S(0));
  }
  const auto y_deepest = q[1] > q[0];
  const S larger = select(y_deepest, q[1], q[0]);
  const auto z_deepest = q[2] > larger;
  const S squared = beyond[0] * beyond[0] + beyond[1] * beyond[1] + beyond[2] * beyond[2];
  const auto is_inside = !(squared > S(std::numeric_limits<scalar_value_t<S>>::min()));
  const S outside = sqrt(select(is_inside, S(1), squared));
  out.distance = select(is_inside, select(z_deepest, q[2], larger), outside);
  const Vec3<S> inner(select(z_deepest, S(0), select(y_deepest, S(0), sign[0])),
                      select(z_deepest, S(0), select(y_deepest, sign[1], S(0))),
                      select(z_deepest, sign[2], S(0)));
  const S inverse = S(1) / outside;
  for (int i = 0; i < 3; ++i) out.gradient[i] = select(is_inside, inner[i], sign[i] * beyond[i] * inverse);

  constexpr double k_growth = 1.25;
  const S r(box.turning_radius), y = select(out.distance < r, r - out.distance, S(0)), z = y / (y + r);
  const S t = S(-k_growth) * y * z;
  out.t_by_distance = S(k_growth) * z * (S(2) - z);
  out.t_by_radius = S(-k_growth) * z * (S(1) - z);
  S sum = S(0);
  for (int i = 0; i < 3; ++i) {
    const S height = S(0) - S(box.core[i]) - t, near = height + x_P[i], far = height - x_P[i];
    out.share[i] = select(near > S(0), near, S(0));
    out.opposite[i] = select(far > S(0), far, S(0));
    sum = sum + (out.share[i] * out.share[i] + out.opposite[i] * out.opposite[i]);
  }
  out.length = sqrt(sum);
  return out;
}

/// A distance whose gradient jumps at the skeleton of the box, and a normal that does not (BoxSample).
template <SdfOrder order, typename S, typename T>
[[nodiscard]] ABUT_KERNEL SdfAnswer<order, S> exact_sample(const RoundedBox<T>& box, const Vec3<S>& x_B) {
  const BoxSample<S> at = box_sample<S>(box, transform_transposed<S>(box.R_BP, relative(x_B, box.centre)));
  SdfAnswer<order, S> out;
  out.distance = at.distance - S(box.radius);
  if constexpr (order >= SdfOrder::normal) {
    const Vec3<S> n = at.normal();
    out.normal = transform<S>(box.R_BP, n);
    if constexpr (order >= SdfOrder::gradient) out.gradient = transform<S>(box.R_BP, at.gradient);
    if constexpr (order >= SdfOrder::jacobian) {  // in P
      const S inverse = S(1) / at.length, mean_share = at.mean_share();
      Mat3<S> N, half;
      for (int i = 0; i < 3; ++i) {
        const S by_distance = (at.balance(i) - n[i] * mean_share) * at.t_by_distance;
        for (int j = 0; j < 3; ++j) N(i, j) = (S(0) - n[i] * n[j] - by_distance * at.gradient[j]) * inverse;
        const S faces = select(at.share[i] > S(0), S(1), S(0)) + select(at.opposite[i] > S(0), S(1), S(0));
        N(i, i) = N(i, i) + faces * inverse;
      }
      for (int j = 0; j < 3; ++j) half.col(j) = transform<S>(box.R_BP, Vec3<S>(N.col(j)));  // R N R^T
      for (int i = 0; i < 3; ++i) {
        out.normal_jacobian.row(i) = transform<S>(box.R_BP, Vec3<S>(half.row(i).transpose())).transpose();
      }
    }
  }
  return out;
}

}  // namespace abut
