/// Signed distance functions that are exact but near seams: half-space, sphere, capsule, rounded box,
/// torus.
///
/// The gradient of an exact distance is the normal, and the Jacobian of the normal its Hessian, zero where
/// the distance is linear. Where no closest point is singled out (the centre of a sphere, the axis of a
/// capsule) a fixed unit normal is given, with Jacobian zero. Deep in a box, where the gradient
/// jumps from face to face, the normal turns smoothly instead (BoxSample).
///
/// The curvature of an exact distance jumps at a *seam*, where a flat part (a face, the side of a capsule)
/// meets a round one (an edge, a corner, a cap). Bodies that are aligned touch just there, with all of their
/// contacts, and would have a normal without a derivative. So coordinates along the flat part are not clamped
/// to it by max(x, 0) but by smooth_ramp() with a width w of k_seam times the distance from the skeleton
/// (an edge, the axis). At the seam the Jacobian of the normal is then the mean of both sides, the normal
/// itself is tilted by 0.16 k_seam, and the distance is larger by 0.012 w k_seam; from w beside it on all is
/// exact.
///
/// Everything is in the frame of the body B; parameters are those of Primitive.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "collision/sdf/sdf_sample.h"
#include "engine/pose.h"
#include "engine/scalar.h"
#include "engine/smooth.h"
#include "engine/types.h"

namespace abut {

/// Half the width of a seam, by the distance from the skeleton: the radius of curvature beside it.
inline constexpr double k_seam = 0.02;

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
  Vec3<T> centre;       ///< p_BP [m]
  Vec3<T> core;         ///< half extents less the radius of the edges [m]
  T radius;             ///< of the edges [m]
  T turning_radius;     ///< half of that, and at least k_least_turning times the sum of the half extents [m]
  T turning_by_radius;  ///< its derivatives
  T turning_by_extent;
  T seam;  ///< w by the distance from the core: k_seam, or 0
  T tie;   ///< heights that differ by less are equal [m]

  static constexpr double k_least_turning = 1e-5;

  RoundedBox(const std::array<T, 5>& parameters, const Pose<double>& X_BP, double seam_width = k_seam)
      : R_BP(X_BP.rotation().template cast<T>()),
        centre(X_BP.p.template cast<T>()),
        radius(parameters[3]),
        seam(T(seam_width)) {
    constexpr double k_epsilon = std::numeric_limits<scalar_value_t<T>>::epsilon();
    for (int i = 0; i < 3; ++i) core[i] = parameters[static_cast<std::size_t>(i)] - radius;
    const T extents = parameters[0] + parameters[1] + parameters[2], half = T(0.5) * radius,
            least = T(k_least_turning) * extents;
    const bool is_round = half > least;
    turning_radius = is_round ? half : least;
    turning_by_radius = T(is_round ? 0.5 : 0.0);
    turning_by_extent = T(is_round ? 0.0 : k_least_turning);
    tie = T(64.0 * k_epsilon) * extents;
  }
};

/// All points within `tube_radius` of a circle of radius `radius` about `centre` across `axis`.
template <typename T>
struct Torus {
  Vec3<T> axis;           ///< z axis of P in B
  Vec3<T> centre;         ///< p_BP [m]
  T radius, tube_radius;  ///< R, r [m]
  T hole;                 ///< where distances from the axis are rounded off: k_hole (R - r) [m]

  static constexpr double k_hole = 0.05;

  Torus(const std::array<T, 5>& parameters, const Pose<double>& X_BP)
      : axis(X_BP.rotation().col(2).template cast<T>()),
        centre(X_BP.p.template cast<T>()),
        radius(parameters[0]),
        tube_radius(parameters[1]),
        hole(T(k_hole) * (radius - tube_radius)) {}
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
template <typename T>
inline constexpr bool k_is_exact<Torus<T>> = true;

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

/// How far a point lies beyond the ends of the segment of a capsule, along its axis:
///   beyond = ramp(along - h) - ramp(-along - h),   ramps of width k_seam times the distance from the axis.
template <typename S>
struct BeyondSegment {
  S value;           ///< [m]; along - value is the closest place of the segment
  S by_half_length;  ///< -1 beyond the upper end, 1 beyond the lower one
  Vec3<S> slide;     ///< d(closest place)/dx: the axis beside the segment, 0 beyond its ends
};

/// @param r  the point from the centre
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART BeyondSegment<S> beyond_segment(const Capsule<T>& capsule, const Vec3<S>& r) {
  using std::sqrt;
  const Vec3<S> a(S(capsule.axis[0]), S(capsule.axis[1]), S(capsule.axis[2]));
  const S along = a[0] * r[0] + a[1] * r[1] + a[2] * r[2], h = S(capsule.half_length);
  const Vec3<S> off(r[0] - along * a[0], r[1] - along * a[1], r[2] - along * a[2]);
  const S squared = off[0] * off[0] + off[1] * off[1] + off[2] * off[2];
  const auto is_on_axis = !(squared > S(std::numeric_limits<scalar_value_t<S>>::min()));
  const S from_axis = sqrt(select(is_on_axis, S(1), squared)), inverse = S(1) / from_axis;
  const S w = select(is_on_axis, S(1), S(k_seam) * from_axis),
          inverse_w = select(is_on_axis, S(1), S(1.0 / k_seam) * inverse);
  const S x[2] = {along - h, S(0) - along - h};
  S value[2], slope[2], spread[2];
  for (int end = 0; end < 2; ++end) {
    const auto is_beyond = x[end] > S(0);
    const SmoothRamp<S> ramp(x[end], w, inverse_w);
    value[end] = select(is_on_axis, select(is_beyond, x[end], S(0)), ramp.value);
    slope[end] = select(is_on_axis, select(is_beyond, S(1), S(0)), ramp.slope);
    spread[end] = ramp.by_width;
  }
  BeyondSegment<S> beyond{value[0] - value[1], slope[1] - slope[0], {}};
  const S by_along = S(1) - (slope[0] + slope[1]),
          by_distance = select(is_on_axis, S(0), S(k_seam) * (spread[1] - spread[0]) * inverse);
  for (int i = 0; i < 3; ++i) beyond.slide[i] = by_along * a[i] + by_distance * off[i];
  return beyond;
}

/// The distance to the closest point of the segment, less the radius.
template <SdfOrder order, typename S, typename T>
[[nodiscard]] ABUT_KERNEL SdfAnswer<order, S> exact_sample(const Capsule<T>& capsule, const Vec3<S>& x_B) {
  const Vec3<S> r = relative(x_B, capsule.centre);
  const Vec3<S> a(S(capsule.axis[0]), S(capsule.axis[1]), S(capsule.axis[2]));
  const Vec3<S> side(S(capsule.side[0]), S(capsule.side[1]), S(capsule.side[2]));
  const BeyondSegment<S> beyond = beyond_segment<S>(capsule, r);
  const S closest = a[0] * r[0] + a[1] * r[1] + a[2] * r[2] - beyond.value;
  const Vec3<S> from_segment(r[0] - closest * a[0], r[1] - closest * a[1], r[2] - closest * a[2]);
  SdfAnswer<order, S> out = distance_to_point<order, S>(from_segment, S(capsule.radius), side);
  if constexpr (order >= SdfOrder::gradient) {
    const S n_a = out.normal[0] * a[0] + out.normal[1] * a[1] + out.normal[2] * a[2];
    for (int i = 0; i < 3; ++i) out.gradient[i] = out.normal[i] - n_a * beyond.slide[i];
  }
  if constexpr (order >= SdfOrder::jacobian) {  // N (I - a slide^T)
    for (int i = 0; i < 3; ++i) {
      const S N_a = out.normal_jacobian(i, 0) * a[0] + out.normal_jacobian(i, 1) * a[1] +
                    out.normal_jacobian(i, 2) * a[2];
      for (int j = 0; j < 3; ++j)
        out.normal_jacobian(i, j) = out.normal_jacobian(i, j) - N_a * beyond.slide[j];
    }
  }
  return out;
}

/// A point beside a box, in P. With q_i its height above the nearer one of two opposite faces of the core,
///   psi_0 = |max(q, 0)| + min(max_i q_i, 0)            exact distance from the core
///   psi = |ramp(q)| outside of it, else psi_0,         ramps of width seam psi_0;   d = psi - radius
/// and with q_f that above the face f, of six,
///   n = sum_f v_f e_f/|v|,   v_f = ramp(q_f - t)       ramps of width seam (psi - t)
///   t = -1.25 y^2/(y + r),   y = max(r - psi, 0),      r = turning_radius.
/// Down to a depth of radius - r, t is 0 and n = grad d but at seams. Deeper n turns from face to face where
/// grad d jumps, as around an edge of radius psi - t, which is at least 0.6 r and grows by a quarter of the
/// depth. It fades between opposite faces. Where faces of the core are equally near within it, grad psi_0 has
/// half of each of their normals: the mean of both sides.
template <typename S>
struct BoxSample {
  S distance;                       ///< psi [m]
  Vec3<S> gradient;                 ///< grad psi
  Vec3<S> share, opposite;          ///< v_f of the faces towards +x, +y, +z; of those towards -x, -y, -z [m]
  Vec3<S> slope, opposite_slope;    ///< of their ramps
  Vec3<S> spread, opposite_spread;  ///< derivatives of their ramps by the width
  S length, inverse_length;         ///< |v| > 0 [m] and 1/|v|
  S t_by_distance, t_by_turning;    ///< dt/d(psi), dt/dr
  S seam;

  /// d(sum_f v_f e_f) and d|v|.
  struct Change {
    Vec3<S> sum;
    S length;
  };

  [[nodiscard]] Vec3<S> normal() const {
    Vec3<S> n;
    for (int i = 0; i < 3; ++i) n[i] = (share[i] - opposite[i]) * inverse_length;
    return n;
  }
  /// By the distance, and by the turning radius.
  [[nodiscard]] Change by_distance() const { return change(t_by_distance, S(1) - t_by_distance); }
  [[nodiscard]] Change by_turning() const { return change(t_by_turning, S(0) - t_by_turning); }

 private:
  /// Along changes of t and of psi - t.
  [[nodiscard]] Change change(const S& of_t, const S& of_reach) const {
    const S of_width = seam * of_reach;
    Change c;
    c.length = S(0);
    for (int i = 0; i < 3; ++i) {
      const S near = spread[i] * of_width - slope[i] * of_t,
              far = opposite_spread[i] * of_width - opposite_slope[i] * of_t;
      c.sum[i] = near - far;
      c.length = c.length + (share[i] * near + opposite[i] * far);
    }
    c.length = c.length * inverse_length;
    return c;
  }
};

/// max(x, 0), or ramps where any x lies within their width, with their derivatives.
template <typename S>
struct Ramps {
  Vec3<S> value, slope, spread;

  ABUT_KERNEL_PART Ramps(const Vec3<S>& x, const S& width) {
    auto is_any_near = x[0] < width && S(0) - x[0] < width;
    for (int i = 0; i < 3; ++i) {
      const auto is_above = x[i] > S(0);
      value[i] = select(is_above, x[i], S(0));
      slope[i] = select(is_above, S(1), S(0));
      spread[i] = S(0);
      is_any_near = is_any_near || (x[i] < width && S(0) - x[i] < width);
    }
    if (!any(is_any_near)) return;
    const S w = select(is_any_near, width, S(1)), inverse = S(1) / w;
    for (int i = 0; i < 3; ++i) {
      const auto is_near = x[i] < width && S(0) - x[i] < width;
      if (!any(is_near)) continue;
      const SmoothRamp<S> ramp(x[i], w, inverse);
      value[i] = select(is_near, ramp.value, value[i]);
      slope[i] = select(is_near, ramp.slope, slope[i]);
      spread[i] = select(is_near, ramp.by_width, S(0));
    }
  }
};

template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART BoxSample<S> box_sample(const RoundedBox<T>& box, const Vec3<S>& x_P) {
  using std::sqrt;
  BoxSample<S> out;
  out.seam = S(box.seam);
  Vec3<S> sign, q, beyond;
  for (int i = 0; i < 3; ++i) {
    sign[i] = select(x_P[i] < S(0), S(-1), S(1));
    q[i] = sign[i] * x_P[i] - S(box.core[i]);
    beyond[i] = select(q[i] > S(0), q[i], S(0));
  }
  const S larger = select(q[1] > q[0], q[1], q[0]), largest = select(q[2] > larger, q[2], larger);
  const S squared = beyond[0] * beyond[0] + beyond[1] * beyond[1] + beyond[2] * beyond[2];
  const auto is_inside = !(squared > S(box.tie) * S(box.tie));
  const S outside = sqrt(select(is_inside, S(1), squared));
  const S tied = largest - S(box.tie);
  const auto x_tied = q[0] >= tied, y_tied = q[1] >= tied, z_tied = q[2] >= tied;
  const S part = select((x_tied && y_tied) || (x_tied && z_tied) || (y_tied && z_tied), S(0.5), S(1));
  const Vec3<S> inner(select(x_tied, part, S(0)), select(y_tied, part, S(0)), select(z_tied, part, S(0)));
  const S level =
      S(plain_value(largest));  // a constant of forward-mode numbers, whose derivatives are means, too
  S depth = level;
  for (int i = 0; i < 3; ++i) depth = depth + inner[i] * (q[i] - level);
  out.distance = select(is_inside, depth, outside);
  const S inverse = S(1) / outside;
  Vec3<S> magnitude;  // of grad psi
  for (int i = 0; i < 3; ++i) magnitude[i] = select(is_inside, inner[i], beyond[i] * inverse);

  const S width = out.seam * outside;
  auto is_near_seam = is_inside && !is_inside;
  for (int i = 0; i < 3; ++i)
    is_near_seam = is_near_seam || (!is_inside && q[i] < width && S(0) - q[i] < width);
  if (any(is_near_seam)) {
    const Ramps<S> ramps(q, width);
    const Vec3<S>& s = ramps.value;
    const S rounded = sqrt(select(is_near_seam, s[0] * s[0] + s[1] * s[1] + s[2] * s[2], S(1))),
            inverse_rounded = S(1) / rounded;
    const S by_width = (s[0] * ramps.spread[0] + s[1] * ramps.spread[1] + s[2] * ramps.spread[2]) *
                       inverse_rounded * out.seam;
    out.distance = select(is_near_seam, rounded, out.distance);
    for (int i = 0; i < 3; ++i) {
      magnitude[i] = select(is_near_seam, s[i] * ramps.slope[i] * inverse_rounded + by_width * magnitude[i],
                            magnitude[i]);
    }
  }
  for (int i = 0; i < 3; ++i) out.gradient[i] = sign[i] * magnitude[i];

  constexpr double k_growth = 1.25;
  const S r(box.turning_radius);
  S t = S(0);
  out.t_by_distance = S(0);
  out.t_by_turning = S(0);
  const auto is_deep = out.distance < r;
  if (any(is_deep)) {
    const S y = select(is_deep, r - out.distance, S(0)), z = y / (y + r);
    t = S(-k_growth) * y * z;
    out.t_by_distance = S(k_growth) * z * (S(2) - z);
    out.t_by_turning = S(-2.0 * k_growth) * z * (S(1) - z);
  }
  Vec3<S> near, far;
  for (int i = 0; i < 3; ++i) {
    const S height = S(0) - S(box.core[i]) - t;
    near[i] = height + x_P[i];
    far[i] = height - x_P[i];
  }
  const S turning_width = out.seam * (out.distance - t);
  const Ramps<S> nears(near, turning_width), fars(far, turning_width);
  out.share = nears.value;
  out.opposite = fars.value;
  out.slope = nears.slope;
  out.opposite_slope = fars.slope;
  out.spread = nears.spread;
  out.opposite_spread = fars.spread;
  S sum = S(0);
  for (int i = 0; i < 3; ++i) sum = sum + (out.share[i] * out.share[i] + out.opposite[i] * out.opposite[i]);
  out.length = sqrt(sum);
  out.inverse_length = S(1) / out.length;
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
      const S inverse = at.inverse_length;
      const typename BoxSample<S>::Change by_distance = at.by_distance();
      Vec3<S> by_place;  // d|v|/dx at constant psi
      for (int j = 0; j < 3; ++j)
        by_place[j] = (at.share[j] * at.slope[j] - at.opposite[j] * at.opposite_slope[j]) * inverse;
      Mat3<S> N, half;
      for (int i = 0; i < 3; ++i) {
        const S by_psi = by_distance.sum[i] - n[i] * by_distance.length;
        for (int j = 0; j < 3; ++j) N(i, j) = (by_psi * at.gradient[j] - n[i] * by_place[j]) * inverse;
        N(i, i) = N(i, i) + (at.slope[i] + at.opposite_slope[i]) * inverse;
      }
      for (int j = 0; j < 3; ++j) half.col(j) = transform<S>(box.R_BP, Vec3<S>(N.col(j)));  // R N R^T
      for (int i = 0; i < 3; ++i) {
        out.normal_jacobian.row(i) = transform<S>(box.R_BP, Vec3<S>(half.row(i).transpose())).transpose();
      }
    }
  }
  return out;
}

/// How far a point is from the axis of a torus, rounded off within w = k_hole (R - r) of it, so that it is a
/// smooth function of place: beta = w p(rho^2/w^2), p(q) = 3/8 + 3/4 q - q^2/8 up to q = 1, then sqrt(q),
/// which meets it with its first two derivatives.
template <typename S>
struct BesideAxis {
  S along;        ///< z [m]
  S beyond;       ///< beta - R [m]
  Vec3<S> off;    ///< x less its place on the axis [m]
  S slope;        ///< grad beta = slope off [1/m]
  S bend;         ///< its Hessian is slope (I - a a^T) + bend off off^T [1/m^3]
  S by_width;     ///< d beta/dw
  S from_circle;  ///< sqrt(beyond^2 + z^2) [m]
};

template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART BesideAxis<S> beside_axis(const Torus<T>& torus, const Vec3<S>& x_B) {
  using std::sqrt;
  const Vec3<S> r = relative(x_B, torus.centre);
  BesideAxis<S> at;
  at.along = S(torus.axis[0]) * r[0] + S(torus.axis[1]) * r[1] + S(torus.axis[2]) * r[2];
  for (int i = 0; i < 3; ++i) at.off[i] = r[i] - at.along * S(torus.axis[i]);
  const S w(torus.hole), inverse_w = S(1) / w;
  const S q = (at.off[0] * at.off[0] + at.off[1] * at.off[1] + at.off[2] * at.off[2]) * inverse_w * inverse_w;
  const auto is_near = q < S(1);
  const S far = sqrt(select(is_near, S(1), q)), inverse = S(1) / far;
  const S value = select(is_near, S(0.375) + q * (S(0.75) - S(0.125) * q), far);
  const S first = select(is_near, S(1.5) - S(0.5) * q, inverse);                // 2 p'
  const S second = select(is_near, S(-1), S(0) - inverse * inverse * inverse);  // 4 p''
  at.slope = first * inverse_w;
  at.bend = second * inverse_w * inverse_w * inverse_w;
  at.by_width = select(is_near, S(0.375) * (S(1) - q) * (S(1) - q), S(0));
  at.beyond = w * value - S(torus.radius);
  at.from_circle = sqrt(at.beyond * at.beyond + at.along * at.along);
  return at;
}

/// The distance to the closest point of the circle, less the radius of the tube, with n = grad d: the unit
/// normal but within w of the axis, where it turns smoothly from one side of the hole to the other and is
/// shorter than 1. On the circle it is the axis.
template <SdfOrder order, typename S, typename T>
[[nodiscard]] ABUT_KERNEL SdfAnswer<order, S> exact_sample(const Torus<T>& torus, const Vec3<S>& x_B) {
  const BesideAxis<S> at = beside_axis<S>(torus, x_B);
  SdfAnswer<order, S> out;
  out.distance = at.from_circle - S(torus.tube_radius);
  if constexpr (order >= SdfOrder::normal) {
    const Vec3<S> a(S(torus.axis[0]), S(torus.axis[1]), S(torus.axis[2]));
    const auto is_on_circle = !(at.from_circle > S(std::numeric_limits<scalar_value_t<S>>::min()));
    const S inverse = S(1) / select(is_on_circle, S(1), at.from_circle);
    const S across = at.beyond * inverse, along = select(is_on_circle, S(1), at.along * inverse);
    for (int i = 0; i < 3; ++i) out.normal[i] = across * at.slope * at.off[i] + along * a[i];
    if constexpr (order >= SdfOrder::gradient) out.gradient = out.normal;
    if constexpr (order >=
                  SdfOrder::jacobian) {  // (grad beta grad beta^T + a a^T - n n^T)/s + across Hess beta
      const S curvature = select(is_on_circle, S(0), inverse), turn = across * at.slope,
              bend = curvature * at.slope * at.slope + across * at.bend;
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          out.normal_jacobian(i, j) = bend * at.off[i] * at.off[j] + (curvature - turn) * a[i] * a[j] -
                                      curvature * out.normal[i] * out.normal[j];
        }
        out.normal_jacobian(i, i) = out.normal_jacobian(i, i) + turn;
      }
    }
  }
  return out;
}

}  // namespace abut
