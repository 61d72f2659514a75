/// dL/d(parameters) of one primitive from dL/d(its distance and normal), where it is known in closed form: of
/// the exact primitives, of cones, and of superquadrics by Taubin's metric.
#pragma once

#include <array>

#include "collision/sdf/cone.h"
#include "collision/sdf/exact_primitives.h"
#include "collision/sdf/gauge.h"
#include "collision/sdf/padded_polygon.h"
#include "collision/sdf/sdf_sample.h"
#include "engine/dual.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// dL/dx of a sample at x, given dL/d(distance, normal).
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART Vec3<S> sample_vjp(const SdfSampleJacobian<S>& sample, const S& distance_bar,
                                                  const Vec3<S>& normal_bar) {
  Vec3<S> x_bar;
  for (int j = 0; j < 3; ++j) {
    x_bar[j] = distance_bar * sample.gradient[j] + sample.normal_jacobian(0, j) * normal_bar[0] +
               sample.normal_jacobian(1, j) * normal_bar[1] + sample.normal_jacobian(2, j) * normal_bar[2];
  }
  return x_bar;
}

/// What is known of a sample, and dL/d of it.
template <typename S>
struct SampleBar {
  Vec3<S> x;       ///< where [m]
  S distance;      ///< d [m]
  Vec3<S> normal;  ///< n
  S distance_bar;
  Vec3<S> normal_bar;
  Vec3<S> x_bar;  ///< sample_vjp()
};

template <typename S, typename T>
ABUT_KERNEL_PART void parameter_vjp(const HalfSpace<T>&, const SampleBar<S>&, std::array<S, 5>&) {}

/// d = |r| - radius
template <typename S, typename T>
ABUT_KERNEL_PART void parameter_vjp(const Sphere<T>&, const SampleBar<S>& at, std::array<S, 5>& bar) {
  bar[0] = bar[0] - at.distance_bar;
}

/// A longer segment takes its ends, and what is closest to them, along.
template <typename S, typename T>
ABUT_KERNEL_PART void parameter_vjp(const Capsule<T>& capsule, const SampleBar<S>& at,
                                    std::array<S, 5>& bar) {
  const Vec3<S> r = relative(at.x, capsule.centre);
  S n_a = S(0), n_bar_a = S(0), n_bar_n = S(0);
  for (int i = 0; i < 3; ++i) {
    const S a = S(capsule.axis[i]);
    n_a = n_a + a * at.normal[i];
    n_bar_a = n_bar_a + a * at.normal_bar[i];
    n_bar_n = n_bar_n + at.normal[i] * at.normal_bar[i];
  }
  const BeyondSegment<S> beyond = beyond_segment<S>(capsule, r);
  const S from_axis = at.distance + S(capsule.radius);  // no curvature on it: distance_to_point()
  const auto is_on_axis = !(from_axis > S(0));
  const S curvature = select(is_on_axis, S(0), S(1)) / select(is_on_axis, S(1), from_axis);
  const S beyond_bar = at.distance_bar * n_a + (n_bar_a - n_a * n_bar_n) * curvature;
  bar[0] = bar[0] - at.distance_bar;
  bar[1] = bar[1] + beyond.by_half_length * beyond_bar;
}

/// Half extents take their two faces along, the radius the whole core, against them.
template <typename S, typename T>
ABUT_KERNEL_PART void parameter_vjp(const RoundedBox<T>& box, const SampleBar<S>& at, std::array<S, 5>& bar) {
  const BoxSample<S> sample =
      box_sample<S>(box, transform_transposed<S>(box.R_BP, relative(at.x, box.centre)));
  const Vec3<S> n = sample.normal(), n_bar = transform_transposed<S>(box.R_BP, at.normal_bar);
  const S inverse = sample.inverse_length;
  const S along = n[0] * n_bar[0] + n[1] * n_bar[1] + n[2] * n_bar[2];
  const auto bar_of = [&](const typename BoxSample<S>::Change& c) {
    return S((c.sum[0] * n_bar[0] + c.sum[1] * n_bar[1] + c.sum[2] * n_bar[2] - c.length * along) * inverse);
  };
  const S distance_bar = at.distance_bar + bar_of(sample.by_distance()),
          turning_bar = bar_of(sample.by_turning());
  S by_radius = S(box.turning_by_radius) * turning_bar - at.distance_bar;
  for (int i = 0; i < 3; ++i) {
    const S shares =
        (sample.share[i] * sample.slope[i] + sample.opposite[i] * sample.opposite_slope[i]) * inverse;
    const S by_core =
        (along * shares - (sample.slope[i] - sample.opposite_slope[i]) * n_bar[i]) * inverse -
        distance_bar * select(sample.gradient[i] < S(0), -sample.gradient[i], sample.gradient[i]);
    const auto k = static_cast<std::size_t>(i);
    bar[k] = bar[k] + (by_core + S(box.turning_by_extent) * turning_bar);
    by_radius = by_radius - by_core;
  }
  bar[3] = bar[3] + by_radius;
}

/// d d/d(R, r) of a torus; with u = beyond/from_circle, and w = k_hole (R - r):
///   by R  u (k_hole dbeta/dw - 1),   by r  -u k_hole dbeta/dw - 1
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART std::array<S, 2> parameter_derivatives(const Torus<T>& torus,
                                                                      const Vec3<S>& x_B) {
  const BesideAxis<S> at = beside_axis<S>(torus, x_B);
  const auto is_on_circle = !(at.from_circle > S(std::numeric_limits<scalar_value_t<S>>::min()));
  const S across = select(is_on_circle, S(0), at.beyond) / select(is_on_circle, S(1), at.from_circle);
  const S by_hole = S(Torus<T>::k_hole) * at.by_width;
  return {across * (by_hole - S(1)), S(0) - across * by_hole - S(1)};
}

/// Adds d_bar dd/d theta + d/d eps (dd/d theta)(x + eps g) to `bar`, for each d by theta that
/// parameter_derivatives() gives, g being dL/d(grad d): see potential_parameter_vjp().
template <typename Solid, typename S>
ABUT_KERNEL_PART void add_parameter_vjp(const Solid& solid, const Vec3<S>& x_B, const S& distance_bar,
                                        const Vec3<S>& gradient_bar, std::array<S, 5>& bar) {
  using D = Dual<S, 1>;
  Vec3<D> x;
  for (int i = 0; i < 3; ++i) x[i] = D(x_B[i], {gradient_bar[i]});
  const auto by = parameter_derivatives<D>(solid, x);
  for (std::size_t k = 0; k < by.size(); ++k) bar[k] = bar[k] + (distance_bar * by[k].value + by[k].d[0]);
}

/// Its normal is the gradient.
template <typename S, typename T>
ABUT_KERNEL_PART void parameter_vjp(const Torus<T>& torus, const SampleBar<S>& at, std::array<S, 5>& bar) {
  add_parameter_vjp(torus, at.x, at.distance_bar, at.normal_bar, bar);
}

/// Of a potential phi, with n = grad phi/|grad phi|.
template <typename S, typename T>
ABUT_KERNEL_PART void parameter_vjp(const TruncatedCone<T>& cone, const SampleBar<S>& at,
                                    std::array<S, 5>& bar) {
  using std::sqrt;
  const Vec3<S> g = potential<SdfOrder::normal, S>(cone, at.x).gradient;
  const S inverse = S(1) / sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2] + S(k_least_gradient_squared));
  const S along =
      at.normal[0] * at.normal_bar[0] + at.normal[1] * at.normal_bar[1] + at.normal[2] * at.normal_bar[2];
  Vec3<S> gradient_bar;
  for (int i = 0; i < 3; ++i) gradient_bar[i] = (at.normal_bar[i] - at.normal[i] * along) * inverse;
  add_parameter_vjp(cone, at.x, at.distance_bar, gradient_bar, bar);
}

/// Of d = (F - 1)/G and n = grad F/G, G = |grad F|. With g = (n_bar - n (n.n_bar + d d_bar))/G = dL/d(grad F)
/// it is  d_bar/G dF/d theta + d/d eps (dF/d theta)(x + eps g),  as in potential_parameter_vjp().
template <typename S, typename T>
ABUT_KERNEL_PART void parameter_vjp(const Superquadric<T>& sq, const SampleBar<S>& at,
                                    std::array<S, 5>& bar) {
  using D = Dual<S, 1>;
  const Vec3<S>& n = at.normal;
  const S along = n[0] * at.normal_bar[0] + n[1] * at.normal_bar[1] + n[2] * at.normal_bar[2] +
                  at.distance * at.distance_bar;
  Vec3<D> x;
  for (int i = 0; i < 3; ++i) x[i] = D(at.x[i], {at.normal_bar[i] - n[i] * along});  // G g
  const GaugePoint<D> g = gauge_point(sq, x);
  const S v[3] = {g.F_gradient[0].value, g.F_gradient[1].value, g.F_gradient[2].value};
  const S inverse = g.F.value * reciprocal_sqrt(S(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));  // 1/G
  const std::array<D, 5> by = gauge_log_parameter_derivatives(sq, g);
  for (std::size_t k = 0; k < 5; ++k) {
    const D F_by = g.F * by[k];
    bar[k] = bar[k] + inverse * (at.distance_bar * F_by.value + F_by.d[0]);
  }
}

/// Whether parameter_vjp() takes a solid.
template <typename Solid>
inline constexpr bool k_has_parameter_vjp = k_is_exact<Solid>;
template <typename T>
inline constexpr bool k_has_parameter_vjp<PaddedPolygonSolid<T>> = false;  // see padded_polygon_vjp.h
template <typename T>
inline constexpr bool k_has_parameter_vjp<TruncatedCone<T>> = true;
template <typename T>
inline constexpr bool k_has_parameter_vjp<Superquadric<T>> = true;

}  // namespace abut
