/// Vertices of round bodies slide on their surface to the true contact point, by the inverse Gauss map.
///
/// A vertex v of a body A is a *seed*. Where the other body's normal n at the seed is not opposite to A's own, the
/// contact is elsewhere on A: at the point where A's normal is m = -n. Of a superquadric that point is known in
/// closed form: its support function is a superquadric norm with dual exponents, whose gradient is the point. With
/// semi-axes a, b, c and exponents eps1, eps2 <= 1, points are
///   x = (a r c_x, b r c_y, c z),   (c_x, c_y) and (r, z) unit vectors of p-norms, p = 2/eps2 and 2/eps1,
/// and the point of normal m has, with dual_q(g)_i = sign(g_i) (|g_i|/|g|_q)^(q-1), q = 2/(2 - eps),
///   along the parallel   (c_x, c_y) = dual_q2(a m_x, b m_y),
///   along the meridian   (r, z) = dual_q1(|(a m_x, b m_y)|_q2, c m_z).
///
/// Surfaces of revolution whose meridian is a circle of radius rho about (R, Z), as of a torus, or a point, as the
/// rim of a cone, are the same with a = b = c = 1 m, q = 2 and, of every seed,
///   (r, z) = (R, Z) + rho dual_q1(sigma |(a m_x, b m_y)|_q2, c m_z),   (c_x, c_y) = sigma dual_q2(a m_x, b m_y),
/// with sigma = -1 where the surface faces the axis. Of superquadrics, R = Z = 0 and rho = sigma = 1.
///
/// A seed moves along its parallel and along its meridian separately.
///   Flat parts keep still: of the way to the point of a normal that turns by eta the share
///     k = (eta^2/(eta^2 + psi^2))^2 counts, psi = 5e-4 (2/q - 1) rad, 0 along circles and ellipses; and so do parallels near the poles, whose directions
///     have no limit: there psi^2 has 2.5e-7 S(1 - |m_h|^2/1e-4) more. Changes of |m_h| are those of
///     sqrt(|m_h|^2 + 9e-12).
///   Nor does a seed go into a flat part, where the normal says next to nothing of the place: k has the factors
///     (g^2/(g^2 + (psi/25)^2))^2 of both components g of m along it.
///   A seed does not leave its cell of the mesh: with the cell's length L and the travel D the share
///     b = S((4 - D^2/L^2)/(4 - 1.25^2)) of the way is gone, and
///     T = S((1.25^2 - D^2/L^2)/(1.25^2 - 1)), multiplied over both directions, says whether the true point is reached,
///     N = S((1/4 - D^2/L^2)/(1/4 - 1/16)), multiplied likewise, whether the seed is there already.
/// While k rises or b falls a point is on a chord, within a convex A: its distance is above the true one, so that
/// no error makes a false depth. T has fallen to 0 before b falls, so that points that are held back have no
/// weight.
///
/// Where the other body is curved, n turns on the way, by which the point is wrong; one secant step mends that
/// (slide_direction()). On a plane it changes nothing.
///
/// Everything is smooth and runs on any scalar; derivatives with respect to m come from Dual<S, 3>.
#pragma once

#include <cmath>

#include "engine/dual_norm.h"
#include "engine/kernel_part.h"
#include "engine/smooth.h"
#include "engine/types.h"

namespace abut {

inline constexpr double k_slide_turn = 5e-4;  ///< psi of flat parts [rad]
inline constexpr double k_slide_flat =
    0.04;  ///< by psi: up to which a component of a normal is that of a flat part
inline constexpr double k_slide_pole = 0.01;  ///< |m_h| from which on directions of parallels count
inline constexpr double k_slide_axis = 3e-6;  ///< |m_h| below which meridians change smoothly into each other
inline constexpr double k_slide_whole =
    1.25;  ///< D/L up to which all of the way is gone, and from which T is 0
inline constexpr double k_slide_none = 2.0;  ///< D/L from which on a seed keeps still
inline constexpr double k_arrived_whole = 0.25, k_arrived_none = 0.5;  ///< D/L up to and from which N is 1, 0

namespace surface_slide_detail {

/// k of a turn of the normal, from its square and from psi^2: 1 where psi is 0.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S turned_share(const S& turn_squared, const S& still) {
  constexpr double k_least = 1e-30;  // instead of 0/0
  const S root = S(1) - still / (turn_squared + still + S(k_least));
  return root * root;
}
/// The same of a component of a normal, with psi/25.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S curved_share(const S& component, const S& still) {
  return turned_share<S>(component * component, S(k_slide_flat * k_slide_flat) * still);
}
/// psi^2 of a dual exponent.
template <typename S>
[[nodiscard]] S stillness(const S& q) {
  const S flatness = S(k_slide_turn) * (S(2) / q - S(1));
  return flatness * flatness;
}
/// b and T of a travel, from (D/L)^2.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S way_share(const S& travel) {
  constexpr double k_whole = k_slide_whole * k_slide_whole, k_none = k_slide_none * k_slide_none;
  return smoothstep5<S>((S(k_none) - travel) * S(1.0 / (k_none - k_whole)));
}
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S reached(const S& travel) {
  constexpr double k_whole = k_slide_whole * k_slide_whole;
  return smoothstep5<S>((S(k_whole) - travel) * S(1.0 / (k_whole - 1.0)));
}
/// to - from, of lengths of horizontal parts of normals, smooth where one is 0.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S radial_change(const S& to, const S& from) {
  using std::sqrt;
  const S rounding(k_slide_axis * k_slide_axis);
  return sqrt(to * to + rounding) - sqrt(from * from + rounding);
}
/// N of a travel.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S arrived(const S& travel) {
  constexpr double k_whole = k_arrived_whole * k_arrived_whole, k_none = k_arrived_none * k_arrived_none;
  return smoothstep5<S>((S(k_none) - travel) * S(1.0 / (k_none - k_whole)));
}

}  // namespace surface_slide_detail

/// A surface on which seeds slide: a superquadric, or, with all axes 1 m and q = 2, one of rings.
template <typename S>
struct SlidingSurface {
  S a, b, c;           ///< semi-axes [m]
  S q1, q2;            ///< dual exponents 2/(2 - eps)
  S mean_axis;         ///< sqrt(a b) [m]
  S still_1, still_2;  ///< psi^2 of meridians and of parallels [rad^2]

  template <typename D>
  [[nodiscard]] ABUT_KERNEL_PART SlidingSurface<D> cast() const {
    return {D(a), D(b), D(c), D(q1), D(q2), D(mean_axis), D(still_1), D(still_2)};
  }
};

/// @param eps1, eps2  exponents, <= 1
template <typename S>
[[nodiscard]] SlidingSurface<S> sliding_superquadric(const S& a, const S& b, const S& c, const S& eps1,
                                                     const S& eps2) {
  using std::sqrt;
  using surface_slide_detail::stillness;
  const S q1 = S(2) / (S(2) - eps1), q2 = S(2) / (S(2) - eps2);
  return {a, b, c, q1, q2, sqrt(a * b), stillness<S>(q1), stillness<S>(q2)};
}

/// A vertex of its mesh, in the frame of the primitive.
template <typename S>
struct SlidingSeed {
  S r, z, c_x, c_y;    ///< where it is
  S l_x, l_y;          ///< direction of its normal's horizontal part
  S n_r, n_z;          ///< unit vector along (|(a n_x, b n_y)|_q2/sqrt(a b), n_z)
  Vec3<S> n;           ///< its normal
  S inverse_parallel;  ///< 1/L [1/m]
  S inverse_meridian;
  S ring_r, ring_z, scale;  ///< (R, Z) and rho
  S side;                   ///< sigma
  S bends;                  ///< 1, or 0 if it keeps its place on the meridian

  template <typename D>
  [[nodiscard]] ABUT_KERNEL_PART SlidingSeed<D> cast() const {
    return {D(r),
            D(z),
            D(c_x),
            D(c_y),
            D(l_x),
            D(l_y),
            D(n_r),
            D(n_z),
            {D(n[0]), D(n[1]), D(n[2])},
            D(inverse_parallel),
            D(inverse_meridian),
            D(ring_r),
            D(ring_z),
            D(scale),
            D(side),
            D(bends)};
  }
};

template <typename S>
struct SlidPoint {
  Vec3<S> x;         ///< [m]
  Vec3<S> turn;      ///< by which A's normal has turned
  S reaches = S(1);  ///< T
  S arrived = S(1);  ///< N
};

/// The seed moved to where A's normal is m, which need not be of unit length.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART SlidPoint<S> slide(const SlidingSurface<S>& solid, const SlidingSeed<S>& seed,
                                                  const Vec3<S>& direction) {
  using namespace surface_slide_detail;
  using std::sqrt;
  constexpr double k_axis = 1e-12;  // of directions along the z axis, which have no parallel
  const S inverse =
      S(1) / sqrt(direction[0] * direction[0] + direction[1] * direction[1] + direction[2] * direction[2]);
  const S m_x = direction[0] * inverse + S(k_axis) * seed.l_x,
          m_y = direction[1] * inverse + S(k_axis) * seed.l_y, m_z = direction[2] * inverse;
  // Along the parallel.
  const S square = m_x * m_x + m_y * m_y, h = sqrt(square), l_x = m_x / h, l_y = m_y / h,
          e_x = l_x - seed.l_x, e_y = l_y - seed.l_y, apart = e_x * e_x + e_y * e_y,
          at_pole = smoothstep5<S>(S(1) - S(1.0 / (k_slide_pole * k_slide_pole)) * square),
          k = turned_share<S>(apart * square, solid.still_2 + S(k_slide_turn * k_slide_turn) * at_pole) *
              curved_share<S>(m_x, solid.still_2) * curved_share<S>(m_y, solid.still_2);
  const DualPoint<S> target(solid.a * m_x, solid.b * m_y, solid.q2);
  const S chord_x = k * (seed.side * target.x - seed.c_x), chord_y = k * (seed.side * target.y - seed.c_y);
  const S D_x = seed.r * solid.a * chord_x, D_y = seed.r * solid.b * chord_y,
          parallel = (D_x * D_x + D_y * D_y) * seed.inverse_parallel * seed.inverse_parallel,
          b_parallel = way_share<S>(parallel);
  const S c_x = seed.c_x + b_parallel * chord_x, c_y = seed.c_y + b_parallel * chord_y;
  // Along the meridian.
  const S radial = target.norm / solid.mean_axis, length = S(1) / sqrt(radial * radial + m_z * m_z),
          g_r = radial * length, g_z = m_z * length, f_r = seed.side * radial_change<S>(g_r, seed.n_r),
          f_z = g_z - seed.n_z,
          k_m = seed.bends * turned_share<S>(f_r * f_r + f_z * f_z, solid.still_1) *
                curved_share<S>(g_r, solid.still_1) * curved_share<S>(g_z, solid.still_1);
  const DualPoint<S> profile((seed.n_r + f_r) * solid.mean_axis, g_z * solid.c, solid.q1);
  const S d_r = k_m * (seed.ring_r + seed.scale * profile.x - seed.r),
          d_z = k_m * (seed.ring_z + seed.scale * profile.y - seed.z),
          width = solid.a * solid.a * c_x * c_x + solid.b * solid.b * c_y * c_y,
          meridian = (width * d_r * d_r + solid.c * solid.c * d_z * d_z) * seed.inverse_meridian *
                     seed.inverse_meridian,
          b_meridian = way_share<S>(meridian);
  const S r = seed.r + b_meridian * d_r, z = seed.z + b_meridian * d_z;

  const S t_x = b_parallel * k * e_x, t_y = b_parallel * k * e_y, up = b_meridian * k_m,
          rise = up * radial_change<S>(h, sqrt(seed.n[0] * seed.n[0] + seed.n[1] * seed.n[1]));
  return {{solid.a * r * c_x, solid.b * r * c_y, solid.c * z},
          {t_x * h + (seed.l_x + t_x) * rise, t_y * h + (seed.l_y + t_y) * rise, up * (m_z - seed.n[2])},
          reached<S>(parallel) * reached<S>(meridian),
          arrived<S>(parallel) * arrived<S>(meridian)};
}

/// A seed with its surface, whose frame is F; P is a frame of its body.
template <typename S>
struct FramedSeed {
  SlidingSeed<S> seed;
  SlidingSurface<S> surface;
  Mat3<S> R_PF;
  Vec3<S> p_PF;     ///< [m]
  Vec3<S> n;        ///< its normal in P
  S slides = S(1);  ///< 0 of a contact point that is no seed

  template <typename D>
  [[nodiscard]] ABUT_KERNEL_PART FramedSeed<D> cast() const {
    FramedSeed<D> out{seed.template cast<D>(), surface.template cast<D>(), {}, {}, {}, D(slides)};
    for (int i = 0; i < 3; ++i) {
      out.p_PF[i] = D(p_PF[i]);
      out.n[i] = D(n[i]);
      for (int j = 0; j < 3; ++j) out.R_PF(i, j) = D(R_PF(i, j));
    }
    return out;
  }
};

/// The same in P.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART SlidPoint<S> slide(const FramedSeed<S>& at, const Vec3<S>& direction) {
  const auto& R = at.R_PF;
  Vec3<S> m;
  for (int i = 0; i < 3; ++i) m[i] = R(0, i) * direction[0] + R(1, i) * direction[1] + R(2, i) * direction[2];
  const SlidPoint<S> in_F = slide<S>(at.surface, at.seed, m);
  SlidPoint<S> out{{}, {}, in_F.reaches, in_F.arrived};
  for (int i = 0; i < 3; ++i) {
    out.x[i] = R(i, 0) * in_F.x[0] + R(i, 1) * in_F.x[1] + R(i, 2) * in_F.x[2] + at.p_PF[i];
    out.turn[i] = R(i, 0) * in_F.turn[0] + R(i, 1) * in_F.turn[1] + R(i, 2) * in_F.turn[2];
  }
  return out;
}

/// The other body's normal n as it faces the edges and areas at a seed once these have turned with the surface:
/// e -> e + (n_v.e) t - (t.e) n_v and A -> A + (n_v x t) x A have the same products with n as e and A with this.
///
/// @param turn  t
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> facing_normal(const Vec3<S>& n, const Vec3<S>& turn,
                                                     const Vec3<S>& n_v) {
  const S along = turn[0] * n[0] + turn[1] * n[1] + turn[2] * n[2],
          facing = n_v[0] * n[0] + n_v[1] * n[1] + n_v[2] * n[2];
  Vec3<S> r;
  for (int i = 0; i < 3; ++i) r[i] = n[i] + along * n_v[i] - facing * turn[i];
  return r;
}

/// The direction to slide to where the other body is curved, by one secant step: with a = m_0 - n_v, the turn of A's
/// normal on the way to the point of m_0, and f = -n_1 - m_0, that of the other body's on the same way,
///   y = 1/2 - f.a/(a.a + 1e-6),   theta = 1/(1/2 + (y + sqrt(y^2 + 0.01) - c)/2),   about 1/(1 + kappa_B/kappa_A),
///   m = m_0 - a + theta (2 a + theta (f - a)),
/// with c such that theta = 1 and m = m_0 where the other body is flat, f = 0.
///
/// @param m_0  minus the other body's normal at the seed
/// @param n_1  that where the seed has slid to by m_0
/// @param n_v  A's normal at the seed
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> slide_direction(const Vec3<S>& m_0, const Vec3<S>& n_1,
                                                       const Vec3<S>& n_v) {
  using std::sqrt;
  Vec3<S> a, f;
  S fa = S(0), aa = S(1e-6);
  for (int i = 0; i < 3; ++i) {
    a[i] = m_0[i] - n_v[i];
    f[i] = S(0) - n_1[i] - m_0[i];
    fa = fa + f[i] * a[i];
    aa = aa + a[i] * a[i];
  }
  constexpr double k_flat = 0.009901951359278516;  // sqrt(1/4 + 0.01) - 1/2
  const S y = S(0.5) - fa / aa, theta = S(1) / (S(0.5) + S(0.5) * (y + sqrt(y * y + S(0.01)) - S(k_flat)));
  Vec3<S> m;
  for (int i = 0; i < 3; ++i) m[i] = n_v[i] + theta * (S(2) * a[i] + theta * (f[i] - a[i]));
  return m;
}

}  // namespace abut
