/// The distance from a point to what two solids have in common, where it lies outside of both: to the rim at
/// which their surfaces meet. The larger of both distances, f_1 and f_2, is less than that.
///
/// With the planes that the point sees, f_i + n_i.z, it is the length of the shortest z that leaves no f_i > 0:
///     c = n_1.n_2,   lambda = [f_1 - c f_2, f_2 - c f_1]/(1 - c^2),
///     D^2 = lambda_1 f_1 + lambda_2 f_2,   n = (lambda_1 n_1 + lambda_2 n_2)/D     if both lambda_i > 0,
///     D = max f_i,   n = that n_i                                                  else.
/// D and n are continuous for D > 0. They are exact where faces are flat, and for a round hole in a flat face;
/// else to second order in the way to the rim.
///
/// It takes the place of the smooth maximum d by a share omega: none up to D = tau, where the rounding of the
/// rim counts, and all of it from 3 tau on; and none at rims sharper than 26 degrees (c < -0.9), where the
/// planes meet far away and are most often not those of the rim (a cutter that ends just above a face).
///     d + omega (D - d),   omega = S((D - tau)/(2 tau)) S((c + 0.9)/0.2)
/// Where a solid's normal is short, as halfway between the sides of a slot, it stands for both sides: D is
/// right, and n is their mean.
#pragma once

#include <cmath>

#include "collision/sdf/sdf_sample.h"
#include "engine/scalar.h"
#include "engine/smooth.h"
#include "engine/types.h"

namespace abut {

/// What both planes make of the distance, and omega.
template <typename S>
struct RimWedge {
  S cosine;           ///< c
  S inverse_sine;     ///< 1/(1 - c^2), 0 if the point does not see the rim
  S lambda[2];        ///< [m]
  S distance;         ///< D [m], at least tau/2: omega is 0 below
  S share;            ///< omega
  S share_by_cosine;  ///< its derivatives
  S share_by_distance;
};

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S wedge_dot(const Vec3<S>& a, const Vec3<S>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART RimWedge<S> rim_wedge(const S& f_1, const Vec3<S>& n_1, const S& f_2,
                                                     const Vec3<S>& n_2, const S& tau) {
  using std::sqrt;
  constexpr double k_sharpest = -0.9, k_sharp_band = 0.2, k_least_square = 1e-6;
  RimWedge<S> w;
  w.cosine = wedge_dot(n_1, n_2);
  const S square = S(1) - w.cosine * w.cosine, u_1 = f_1 - w.cosine * f_2, u_2 = f_2 - w.cosine * f_1;
  const auto is_first = f_1 > f_2;
  const S least = select(u_1 < u_2, u_1, u_2);
  const S seen = select(least > S(0), S(1), S(0)) * select(square > S(k_least_square), S(1), S(0));
  w.inverse_sine = seen / select(square > S(k_least_square), square, S(1));
  const auto sees = seen > S(0);
  w.lambda[0] = select(sees, u_1 * w.inverse_sine, select(is_first, f_1, S(0)));
  w.lambda[1] = select(sees, u_2 * w.inverse_sine, select(is_first, S(0), f_2));
  const S D_square = w.lambda[0] * f_1 + w.lambda[1] * f_2, least_square = S(0.25) * tau * tau;
  const S largest = select(is_first, f_1, f_2);
  w.distance = sqrt(select(D_square > least_square, D_square, least_square));
  const S width = S(2) * tau, at = (w.distance - tau) / width,
          edge = (w.cosine - S(k_sharpest)) * S(1.0 / k_sharp_band);
  const S is_outside = select(largest > S(0), S(1), S(0)), by_distance = is_outside * smoothstep5(at),
          by_cosine = smoothstep5(edge);
  w.share = by_distance * by_cosine;
  w.share_by_distance = is_outside * smoothstep5_dx(at) / width * by_cosine;
  w.share_by_cosine = by_distance * smoothstep5_dx(edge) * S(1.0 / k_sharp_band);
  return w;
}

/// The smooth maximum `d` of two answers with the distance to their rim in its place.
template <SdfOrder order, typename S>
[[nodiscard]] ABUT_KERNEL_PART SdfAnswer<order, S> with_distance_to_rim(const SdfAnswer<order, S>& d,
                                                                        const SdfAnswer<order, S>& f_1,
                                                                        const SdfAnswer<order, S>& f_2,
                                                                        const S& tau) {
  static_assert(order == SdfOrder::normal || order == SdfOrder::jacobian);
  const RimWedge<S> w = rim_wedge(f_1.distance, f_1.normal, f_2.distance, f_2.normal, tau);
  const S inverse = S(1) / w.distance, a_1 = w.lambda[0] * inverse, a_2 = w.lambda[1] * inverse;
  SdfAnswer<order, S> r;
  r.distance = d.distance + w.share * (w.distance - d.distance);
  Vec3<S> n, off;
  for (int i = 0; i < 3; ++i) {
    n[i] = a_1 * f_1.normal[i] + a_2 * f_2.normal[i];
    off[i] = n[i] - d.normal[i];
    r.normal[i] = d.normal[i] + w.share * off[i];
  }
  if constexpr (order == SdfOrder::jacobian) {
    // Outside of the wedge lambda is f_i of the one, and changes with it only.
    const S sees = select(w.inverse_sine > S(0), S(1), S(0)),
            first = select(f_1.distance > f_2.distance, S(1), S(0));
    const S own_1 = (S(1) - sees) * first, own_2 = (S(1) - sees) * (S(1) - first);
    for (int j = 0; j < 3; ++j) {
      S c_j = S(0);
      for (int i = 0; i < 3; ++i)
        c_j = c_j + f_1.normal_jacobian(i, j) * f_2.normal[i] + f_2.normal_jacobian(i, j) * f_1.normal[i];
      const S g_1 = f_1.gradient[j], g_2 = f_2.gradient[j];
      const S D_j = a_1 * g_1 + a_2 * g_2 - a_1 * w.lambda[1] * c_j;
      const S r_1 = g_1 - w.lambda[1] * c_j, r_2 = g_2 - w.lambda[0] * c_j;
      const S lambda_1 = w.inverse_sine * (r_1 - w.cosine * r_2) + own_1 * g_1,
              lambda_2 = w.inverse_sine * (r_2 - w.cosine * r_1) + own_2 * g_2;
      const S share_j = w.share_by_distance * D_j + w.share_by_cosine * c_j;
      r.gradient[j] = d.gradient[j] + w.share * (D_j - d.gradient[j]) + share_j * (w.distance - d.distance);
      for (int i = 0; i < 3; ++i) {
        const S n_ij = (lambda_1 * f_1.normal[i] + lambda_2 * f_2.normal[i] - n[i] * D_j) * inverse +
                       a_1 * f_1.normal_jacobian(i, j) + a_2 * f_2.normal_jacobian(i, j);
        r.normal_jacobian(i, j) =
            d.normal_jacobian(i, j) + w.share * (n_ij - d.normal_jacobian(i, j)) + share_j * off[i];
      }
    }
  }
  return r;
}

/// dL/d of both answers and of their smooth maximum.
struct RimBar {
  double distance[3];  ///< of f_1, f_2 and d
  Vec3<double> normal[3];
};

/// The VJP of with_distance_to_rim().
[[nodiscard]] inline RimBar distance_to_rim_vjp(const SdfNormal<double>& d, const SdfNormal<double>& f_1,
                                                const SdfNormal<double>& f_2, double tau, double distance_bar,
                                                const Vec3<double>& normal_bar) {
  const RimWedge<double> w = rim_wedge(f_1.distance, f_1.normal, f_2.distance, f_2.normal, tau);
  const double a_1 = w.lambda[0] / w.distance, a_2 = w.lambda[1] / w.distance;
  const Vec3<double> n = a_1 * f_1.normal + a_2 * f_2.normal, n_bar = w.share * normal_bar;
  const double share_bar = distance_bar * (w.distance - d.distance) + normal_bar.dot(n - d.normal);
  const double D_bar = w.share * distance_bar + w.share_by_distance * share_bar;
  double c_bar = w.share_by_cosine * share_bar;
  RimBar bar;
  bar.distance[2] = (1.0 - w.share) * distance_bar;
  bar.normal[2] = (1.0 - w.share) * normal_bar;
  bar.normal[0] = a_1 * n_bar;
  bar.normal[1] = a_2 * n_bar;
  if (w.inverse_sine > 0.0) {
    // lambda = G^-1 f, D^2 = lambda.f, n = lambda_i n_i/D
    const double by_D = D_bar - n_bar.dot(n) / w.distance, bar_1 = n_bar.dot(f_1.normal) / w.distance,
                 bar_2 = n_bar.dot(f_2.normal) / w.distance,
                 by_1 = w.inverse_sine * (bar_1 - w.cosine * bar_2),
                 by_2 = w.inverse_sine * (bar_2 - w.cosine * bar_1);
    bar.distance[0] = by_D * a_1 + by_1;
    bar.distance[1] = by_D * a_2 + by_2;
    c_bar -= by_D * a_1 * w.lambda[1] + by_1 * w.lambda[1] + by_2 * w.lambda[0];
  } else {
    const bool is_first = f_1.distance > f_2.distance;
    bar.distance[0] = is_first ? D_bar : 0.0;
    bar.distance[1] = is_first ? 0.0 : D_bar;
  }
  bar.normal[0] += c_bar * f_2.normal;
  bar.normal[1] += c_bar * f_1.normal;
  return bar;
}

}  // namespace abut
