/// The way back through the rows of one pair, a block of eight at a time (contact_laws/smooth_coulomb.h).
#pragma once

#include "dynamics/kernel/row_kernel.h"
#include "dynamics/kernel/row_vjp.h"

namespace abut {
inline namespace ABUT_SIMD {

ABUT_INLINE void add_to(RowBlock::Lanes& to, const RowLanes& x) { (RowLanes::load(to) + x).store(to); }

ABUT_INLINE void add_cross(const Vec3<RowLanes>& a, const double* b, double sign, RowBlock::Lanes (&to)[3]) {
  const RowLanes x(sign * b[0]), y(sign * b[1]), z(sign * b[2]);
  add_to(to[0], a[1] * z - a[2] * y);
  add_to(to[1], a[2] * x - a[0] * z);
  add_to(to[2], a[0] * y - a[1] * x);
}

/// Of u_w.gamma(u), u_w = J w, gamma bounded by mu gamma_n(u).
[[gnu::flatten]] inline void impulse_vjp_by_lanes(const smooth_coulomb::Settings& settings,
                                                  PairImpulseBar& pair, std::span<const RowBlock> blocks,
                                                  std::span<RowBarBlock> bars) {
  const smooth_coulomb::Settings s = settings;
  const RowLanes mu(pair.friction);
  RowLanes friction_sum(0), impulse_sum[3] = {0, 0, 0};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const RowBlock& block = blocks[i];
    RowBarBlock& bar = bars[i];
    const RowLanes on = RowLanes::load(bar.is_smooth);
    const Vec3<RowLanes> n = load_lanes(block.n), r = load_lanes(block.r),
                         u = contact_velocity(pair.V, pair.turning, r, n);
    Vec3<RowLanes> u_w = velocity_at(pair.W, r);
    for (int k = 0; k < 3; ++k) u_w[k] = on * u_w[k];

    // Of a scale of 1 the normal impulse is its derivative by the scale.
    const RowLanes scale = RowLanes::load(block.scale);
    const auto unit = smooth_coulomb::normal_impulse(n.dot(u), RowLanes::load(block.target), RowLanes(1),
                                                     RowLanes::load(block.width));
    const RowLanes gamma = scale * unit.value, bound = mu * gamma;
    const FrictionOf<RowLanes> friction(u, n, s.stiction_speed);
    const auto friction_bar = friction.vjp(bound, u, u_w);
    const Vec3<RowLanes> tangential = friction.impulse(bound);
    const RowLanes gamma_bar = n.dot(u_w) + mu * friction_bar.bound,
                   by_u_n = gamma_bar * scale * unit.d_velocity;
    friction_sum += gamma * friction_bar.bound;
    Vec3<RowLanes> force, impulse;
    for (int k = 0; k < 3; ++k) {
      add_to(bar.n[k], gamma * u_w[k] + by_u_n * u[k] + friction_bar.n[k]);
      force[k] = by_u_n * n[k] + friction_bar.u[k];
      impulse[k] = on * (gamma * n[k] + tangential[k]);
      impulse_sum[k] += impulse[k];
      add_to(bar.drift[k], force[k]);
    }
    add_cross(force, pair.turn_A[0], -1.0, bar.r_A);
    add_cross(force, pair.turn_B[0], 1.0, bar.r_B);
    add_cross(impulse, pair.turn_A[1], -1.0, bar.r_A);
    add_cross(impulse, pair.turn_B[1], 1.0, bar.r_B);
    add_to(bar.target, -by_u_n);
    add_to(bar.scale, gamma_bar * unit.value);
  }
  pair.friction_bar = reduce_sum(friction_sum);
  for (int k = 0; k < 3; ++k) pair.impulse[k] = reduce_sum(impulse_sum[k]);
}

/// From v_hat(d, W, C, tau_d, h) and c = Gamma/R, R = C/(h (h + tau_d)) + rho W.
[[gnu::flatten]] inline void law_vjp_by_lanes(const smooth_coulomb::Settings& settings, double compliance,
                                              double dissipation_time, std::span<const RowBlock> blocks,
                                              std::span<RowBarBlock> bars, PairLawBar& out) {
  const smooth_coulomb::Settings s = settings;
  const auto by = smooth_coulomb::normal_resistance_derivatives(compliance, dissipation_time, s);
  RowLanes resistance_sum(0), compliance_sum(0), dissipation_sum(0);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const RowBlock& block = blocks[i];
    RowBarBlock& bar = bars[i];
    const RowLanes inverse_mass = RowLanes::load(block.inverse_mass);
    const auto target = smooth_coulomb::normal_target(RowLanes::load(block.distance), inverse_mass,
                                                      compliance, dissipation_time, s);
    const RowLanes inverse =
        reciprocal(smooth_coulomb::normal_resistance(inverse_mass, compliance, dissipation_time, s));
    const RowLanes target_bar = RowLanes::load(bar.target), scale_bar = RowLanes::load(bar.scale);
    const RowLanes resistance_bar = -scale_bar * RowLanes::load(block.weight) * inverse * inverse;
    (target_bar * target.d_distance).store(bar.distance);
    (scale_bar * inverse).store(bar.weight);
    (resistance_bar * RowLanes(by.d_inverse_mass) + target_bar * target.d_inverse_mass)
        .store(bar.inverse_mass);
    resistance_sum += resistance_bar;
    compliance_sum += target_bar * target.d_compliance;
    dissipation_sum += target_bar * target.d_dissipation_time;
  }
  const double R_bar = reduce_sum(resistance_sum);
  out.compliance = R_bar * by.d_compliance + reduce_sum(compliance_sum);
  out.dissipation_time = R_bar * by.d_dissipation_time + reduce_sum(dissipation_sum);
}

}  // namespace ABUT_SIMD
}  // namespace abut
