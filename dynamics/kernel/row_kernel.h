/// The laws of the rows of one pair, a block of eight at a time.
#pragma once

#include "dynamics/contact_laws/dual_tangent.h"
#include "dynamics/contact_laws/friction.h"
#include "dynamics/kernel/row_kernels.h"
#include "engine/pack.h"

namespace abut {
inline namespace ABUT_SIMD {

using RowLanes = Pack<double, k_row_lanes>;

ABUT_INLINE Vec3<RowLanes> load_lanes(const RowBlock::Lanes (&x)[3]) {
  return {RowLanes::load(x[0]), RowLanes::load(x[1]), RowLanes::load(x[2])};
}

/// v + w x r for one twist [w; v] and eight arms.
ABUT_INLINE Vec3<RowLanes> velocity_at(const double* V, const Vec3<RowLanes>& r) {
  const RowLanes w[3] = {V[0], V[1], V[2]};
  return {RowLanes(V[3]) + (w[1] * r[2] - w[2] * r[1]), RowLanes(V[4]) + (w[2] * r[0] - w[0] * r[2]),
          RowLanes(V[5]) + (w[0] * r[1] - w[1] * r[0])};
}

/// The velocity of eight contacts: at their arms, and the part of `turning` along their surfaces.
ABUT_INLINE Vec3<RowLanes> contact_velocity(const double* V, const double* turning, const Vec3<RowLanes>& r,
                                            const Vec3<RowLanes>& n) {
  const Vec3<RowLanes> b{RowLanes(turning[0]), RowLanes(turning[1]), RowLanes(turning[2])};
  return velocity_at(V, r) + (b - n.dot(b) * n);
}

ABUT_INLINE smooth_coulomb::NormalResponse<RowLanes> normal_response(const RowBlock& block,
                                                                     const RowLanes& u_n) {
  return smooth_coulomb::normal_impulse(u_n, RowLanes::load(block.target), RowLanes::load(block.scale),
                                        RowLanes::load(block.width));
}

ABUT_INLINE convex_cone::ConeOf<RowLanes> cone_of(const RowBlock& block, const Vec3<RowLanes>& u,
                                                  const Vec3<RowLanes>& n, double friction) {
  return {u,
          n,
          {RowLanes::load(block.target), RowLanes::load(block.scale), RowLanes::load(block.ratio),
           RowLanes(friction)}};
}

/// Impulse and K of eight rows of a law without a cone.
template <RowLaw law>
struct RowResponse {
  Vec3<RowLanes> n;
  FrictionOf<RowLanes> friction;
  smooth_coulomb::NormalResponse<RowLanes> normal;
  RowLanes friction_coefficient, bound;
  /// The bound is mu times the normal impulse.
  static constexpr bool k_is_coupled = law == RowLaw::coupled || law == RowLaw::dual;

  ABUT_INLINE RowResponse(const RowKernelInput& in, const RowBlock& block, const Vec3<RowLanes>& u,
                          const Vec3<RowLanes>& normal_W,
                          const smooth_coulomb::NormalResponse<RowLanes>& at_u)
      : n(normal_W),
        friction(u, normal_W, in.settings.stiction_speed),
        normal(at_u),
        friction_coefficient(in.friction),
        bound(k_is_coupled ? friction_coefficient * at_u.value : RowLanes::load(block.bound)) {}

  [[nodiscard]] ABUT_INLINE Vec3<RowLanes> impulse() const {
    Vec3<RowLanes> sum = normal.value * n;
    if constexpr (law != RowLaw::frictionless) sum += friction.impulse(bound);
    return sum;
  }
  [[nodiscard]] ABUT_INLINE Mat3<RowLanes> resistance(const RowBlock& block) const {
    Mat3<RowLanes> K;
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) K(i, j) = -normal.d_velocity * (n[i] * n[j]);
    }
    if constexpr (law == RowLaw::dual) {
      K += dual_tangent::friction_resistance(friction, bound, load_lanes(block.direction));
    } else if constexpr (law != RowLaw::frictionless) {
      K += friction.resistance(bound);
    }
    if constexpr (k_is_coupled) {
      const Vec3<RowLanes> by_bound = friction.impulse(friction_coefficient * -normal.d_velocity);
      for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 3; ++i) K(i, j) = K(i, j) + by_bound[i] * n[j];
      }
    }
    return K;
  }
};

[[gnu::flatten]] inline void set_law_by_lanes(const smooth_coulomb::Settings& settings, double compliance,
                                              double dissipation_time, std::span<RowBlock> blocks) {
  const smooth_coulomb::Settings s = settings;
  for (RowBlock& block : blocks) {
    const RowLanes inverse_mass = RowLanes::load(block.inverse_mass);
    smooth_coulomb::normal_target(RowLanes::load(block.distance), inverse_mass, compliance, dissipation_time,
                                  s)
        .value.store(block.target);
    const RowLanes resistance =
        smooth_coulomb::normal_resistance(inverse_mass, compliance, dissipation_time, s);
    (RowLanes::load(block.weight) * reciprocal(resistance)).store(block.scale);
    RowLanes(s.velocity_smoothing).store(block.width);
  }
}

[[gnu::flatten]] inline void set_cone_by_lanes(const smooth_coulomb::Settings& settings, double sigma,
                                               double compliance, double dissipation_time,
                                               std::span<RowBlock> blocks) {
  const smooth_coulomb::Settings s = settings;
  set_law_by_lanes(s, compliance, dissipation_time, blocks);
  for (RowBlock& block : blocks) {
    const RowLanes inverse_mass = RowLanes::load(block.inverse_mass);
    const RowLanes resistance =
        smooth_coulomb::normal_resistance(inverse_mass, compliance, dissipation_time, s);
    convex_cone::tangential_ratio(inverse_mass, resistance, sigma).store(block.ratio);
  }
}

[[gnu::flatten]] inline void set_impedance_by_lanes(const impedance::Settings& settings,
                                                    std::span<RowBlock> blocks) {
  const impedance::Settings s = settings;
  for (RowBlock& block : blocks) {
    const auto response = impedance::response(RowLanes::load(block.distance), RowLanes::load(block.weight),
                                              RowLanes::load(block.inverse_mass), s);
    response.target.store(block.target);
    response.scale.store(block.scale);
    RowLanes(s.ratio).store(block.ratio);
  }
}

/// Tangents of eight rows: at the start, or after a step from V_before.
ABUT_INLINE smooth_coulomb::NormalResponse<RowLanes> take_tangents(const RowKernelInput& in,
                                                                   const Vec3<RowLanes>& u,
                                                                   const Vec3<RowLanes>& n,
                                                                   const Vec3<RowLanes>& r, RowBlock& block) {
  using Tangent = dual_tangent::NormalTangent<RowLanes>;
  const RowLanes scale = RowLanes::load(block.scale), width = RowLanes::load(block.width),
                 x = (RowLanes::load(block.target) - n.dot(u)) * reciprocal(width);
  const RowLanes to_stop =
      select(scale > RowLanes(0), RowLanes::load(block.weight) / (RowLanes::load(block.inverse_mass) * scale),
             RowLanes(0));
  Tangent tangent{RowLanes(0)};
  Vec3<RowLanes> direction;
  if (in.V_before == nullptr) {
    tangent = Tangent::first(x, to_stop);
    const FrictionOf<RowLanes> friction(u, n, in.settings.stiction_speed);
    direction = friction.inverse_w * friction.P_u_t;
  } else {
    tangent = Tangent{RowLanes::load(block.tangent)}.next(x, to_stop);
    const Vec3<RowLanes> u_before = contact_velocity(in.V_before, in.turning, r, n);
    const FrictionOf<RowLanes> before(u_before, n, in.settings.stiction_speed);
    direction = dual_tangent::next_direction(before, u_before, load_lanes(block.direction), u);
  }
  tangent.x.store(block.tangent);
  for (int k = 0; k < 3; ++k) direction[k].store(block.direction[k]);
  return tangent.response(x, scale, width);
}

template <RowLaw law>
[[gnu::flatten]] void sum_impulses_by_lanes(const RowKernelInput& in, std::span<RowBlock> blocks,
                                            double* wrench) {
  RowLanes sums[6] = {0, 0, 0, 0, 0, 0};
  for (RowBlock& block : blocks) {
    const Vec3<RowLanes> n = load_lanes(block.n), r = load_lanes(block.r),
                         u = contact_velocity(in.V, in.turning, r, n);
    Vec3<RowLanes> impulse;
    if constexpr (law == RowLaw::cone) {
      const auto cone = cone_of(block, u, n, in.friction);
      cone.normal_impulse().store(block.impulse);
      impulse = cone.impulse();
    } else {
      const auto normal =
          law == RowLaw::dual ? take_tangents(in, u, n, r, block) : normal_response(block, n.dot(u));
      const RowResponse<law> response(in, block, u, n, normal);
      response.normal.value.store(block.impulse);
      response.normal.d_velocity.store(block.slope);
      impulse = response.impulse();
    }
    const Vec3<RowLanes> torque = r.cross(impulse);
    for (int k = 0; k < 3; ++k) {
      sums[k] += torque[k];
      sums[3 + k] += impulse[k];
    }
  }
  for (int k = 0; k < 6; ++k) wrench[k] = reduce_sum(sums[k]);
}

template <RowLaw law>
[[gnu::flatten]] void sum_resistances_by_lanes(const RowKernelInput& in, std::span<const RowBlock> blocks,
                                               ResistanceSums& out) {
  constexpr bool is_symmetric =
      law != RowLaw::coupled && law != RowLaw::dual;  // of S0 and S2 then only the lower triangle
  RowLanes S0[9], S1[9], T1[9], S2[9];
  for (int k = 0; k < 9; ++k) S0[k] = S1[k] = T1[k] = S2[k] = RowLanes(0);
  for (const RowBlock& block : blocks) {
    const Vec3<RowLanes> n = load_lanes(block.n), r = load_lanes(block.r),
                         u = contact_velocity(in.V, in.turning, r, n);
    Mat3<RowLanes> K;
    if constexpr (law == RowLaw::cone) {
      K = cone_of(block, u, n, in.friction).resistance();
    } else {
      K = RowResponse<law>(in, block, u, n, {RowLanes::load(block.impulse), RowLanes::load(block.slope)})
              .resistance(block);
    }
    Mat3<RowLanes> rK;
    for (int j = 0; j < 3; ++j) {
      rK(0, j) = r[1] * K(2, j) - r[2] * K(1, j);
      rK(1, j) = r[2] * K(0, j) - r[0] * K(2, j);
      rK(2, j) = r[0] * K(1, j) - r[1] * K(0, j);
      for (int i = 0; i < 3; ++i) S1[3 * j + i] += rK(i, j);
      for (int i = is_symmetric ? j : 0; i < 3; ++i) S0[3 * j + i] += K(i, j);
    }
    for (int i = 0; i < 3; ++i) {
      if constexpr (!is_symmetric) {
        T1[i] += K(i, 1) * r[2] - K(i, 2) * r[1];
        T1[3 + i] += K(i, 2) * r[0] - K(i, 0) * r[2];
        T1[6 + i] += K(i, 0) * r[1] - K(i, 1) * r[0];
      }
      // -[r] K [r] = (row i of [r] K) turned by r
      S2[i] += r[1] * rK(i, 2) - r[2] * rK(i, 1);
      if (i >= 1 || !is_symmetric) S2[3 + i] += r[2] * rK(i, 0) - r[0] * rK(i, 2);
      if (i >= 2 || !is_symmetric) S2[6 + i] += r[0] * rK(i, 1) - r[1] * rK(i, 0);
    }
  }
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) {
      const int k = 3 * j + i, mirrored = is_symmetric && i < j ? 3 * i + j : k;
      out.S1[k] = reduce_sum(S1[k]);
      out.S0[k] = mirrored == k ? reduce_sum(S0[k]) : out.S0[mirrored];
      out.S2[k] = mirrored == k ? reduce_sum(S2[k]) : out.S2[mirrored];
    }
  }
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i)
      out.T1[3 * j + i] = is_symmetric ? -out.S1[3 * i + j] : reduce_sum(T1[3 * j + i]);
  }
}

template <RowLaw law>
[[gnu::flatten]] void sum_line_by_lanes(const RowKernelInput& in, const double* dV, double a,
                                        std::span<const RowBlock> blocks, LineSums& out) {
  RowLanes slope = 0, curvature = 0;
  double V_a[6];
  for (int k = 0; k < 6; ++k) V_a[k] = in.V[k] + a * dV[k];
  for (const RowBlock& block : blocks) {
    const Vec3<RowLanes> n = load_lanes(block.n), r = load_lanes(block.r);
    const Vec3<RowLanes> u = contact_velocity(V_a, in.turning, r, n), du = velocity_at(dV, r);
    Mat3<RowLanes> K;
    if constexpr (law == RowLaw::cone) {
      const auto cone = cone_of(block, u, n, in.friction);
      slope -= cone.impulse().dot(du);
      K = cone.resistance();
    } else {
      const RowResponse<law> response(in, block, u, n, normal_response(block, n.dot(u)));
      slope -= response.impulse().dot(du);
      K = response.resistance(block);
    }
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) curvature += du[i] * K(i, j) * du[j];
    }
  }
  out = {reduce_sum(slope), reduce_sum(curvature)};
}

}  // namespace ABUT_SIMD
}  // namespace abut
