/// The rows of the smooth Coulomb solver, as its solve and its derivatives see them.
#pragma once

#include <algorithm>
#include <vector>

#include "dynamics/contact_laws/friction.h"
#include "dynamics/kernel/row_blocks.h"
#include "dynamics/kernel/row_vjp.h"
#include "dynamics/solver/contact_solver.h"
#include "dynamics/solver/coupled_newton.h"
#include "dynamics/solver/smooth_coulomb_settings.h"

namespace abut {

/// v_hat of an impact, max(0, rebound + settle), or without its restitution.
[[nodiscard]] inline double impact_target(const ContactProblem& problem, const ContactRow& row) {
  return std::max(0.0, (problem.impacts_are_plastic ? 0.0 : row.rebound) + row.settle);
}
/// Its slopes. Bodies that fall together (settle = 0) put a restitution of 0 at the kink but for rounding; it
/// can only grow from there, so that its derivative is the one on that side.
struct ImpactTargetSlopes {
  double by_rebound = 0.0, by_settle = 0.0;

  ImpactTargetSlopes(const ContactProblem& problem, const ContactRow& row, double impact_speed) {
    constexpr double k_rounding = 1e-12;
    const double rebound = problem.impacts_are_plastic ? 0.0 : row.rebound, sum = rebound + row.settle;
    if (sum > 0.0) by_settle = 1.0;
    if (!problem.impacts_are_plastic && sum > (rebound == 0.0 ? -k_rounding * impact_speed : 0.0))
      by_rebound = 1.0;
  }
};

[[nodiscard]] inline smooth_coulomb::Part part_of(const ContactProblem& problem, const ContactRow& row) {
  return {row.answers, row.hits, row.hits ? impact_target(problem, row) : 0.0};
}

/// The rows of a problem with their laws.
struct SmoothCoulombRows {
  RowBlocks blocks;
  bool are_ordinary = true;  ///< all of them, see ContactRow
};

/// One row, with what its impulse depends on.
struct RowImpulse {
  const ContactRow& row;
  double friction_coefficient;
  smooth_coulomb::Parameters parameters;
  const smooth_coulomb::Settings& settings;
  smooth_coulomb::Part part;
  smooth_coulomb::NormalTarget<double> target;

  RowImpulse(const ContactProblem& problem, const smooth_coulomb::Settings& of_step,
             const SmoothCoulombRows& rows, std::size_t i)
      : row(problem.rows.rows[i]),
        friction_coefficient(rows.blocks.pairs[static_cast<std::size_t>(row.pair)].friction),
        parameters(smooth_coulomb_parameters(problem.rows, i)),
        settings(of_step),
        part(part_of(problem, row)),
        target(smooth_coulomb::normal_target(parameters, settings)) {}

  [[nodiscard]] smooth_coulomb::NormalImpulse normal_impulse(const Vec3<double>& u) const {
    return smooth_coulomb::normal_impulse_derivatives(row.n.dot(u), parameters, settings, part, target);
  }
  [[nodiscard]] Friction friction(const Vec3<double>& u) const { return {u, row.n, settings.stiction_speed}; }

  /// Derivatives of the scalar u_w . gamma(u).
  struct Bar {
    Vec3<double> u, n;
    double friction;                       ///< by mu
    double normal_impulse;                 ///< by gamma_n ...
    smooth_coulomb::NormalImpulse normal;  ///< ... which is made of this
    Vec3<double> impulse;                  ///< gamma
  };
  [[nodiscard]] Bar vjp(const Vec3<double>& u, const Vec3<double>& u_w) const {
    const smooth_coulomb::NormalImpulse gamma = normal_impulse(u);
    const Friction at_u = friction(u);
    const double bound = friction_coefficient * gamma.value;
    const Friction::Bar by = at_u.vjp(bound, u, u_w);
    const double by_normal = row.n.dot(u_w) + friction_coefficient * by.bound,
                 by_u_n = by_normal * gamma.d_velocity;
    return {by_u_n * row.n + by.u,
            gamma.value * u_w + by_u_n * u + by.n,
            gamma.value * by.bound,
            by_normal,
            gamma,
            gamma.value * row.n + at_u.impulse(bound)};
  }
};

/// What the impulse of a row depends on, at the solution.
struct RowLinearization {
  Vec3<double> u;  ///< relative velocity
  smooth_coulomb::NormalImpulse normal;
  Friction friction;
};

struct SmoothCoulombLinearization final : SolutionLinearization {
  SmoothCoulombRows rows;                ///< evaluated at the solution
  BlockLu jacobian;                      ///< A, factorized
  GrowableVector reaction;               ///< F, with links
  std::vector<RowLinearization> of_row;  ///< for JVPs

  [[nodiscard]] std::size_t bytes() const override {
    return sizeof(RowBlock) * rows.blocks.blocks.size() + sizeof(BlockPair) * rows.blocks.pairs.size() +
           jacobian.bytes() + sizeof(RowLinearization) * of_row.size() +
           sizeof(double) * static_cast<std::size_t>(reaction.size());
  }
  [[nodiscard]] bool has_negative_determinant() const override { return jacobian.determinant_sign() < 0; }
};

struct SmoothCoulombMemory final : SolverMemory {
  SmoothCoulombRows rows;
  CoupledNewtonMemory newton;
  // Of VJPs
  std::vector<RowBarBlock> row_bars;
  GrowableVector multiplier, momentum;
  GrowableVector at_rest;  ///< of JVPs
};

}  // namespace abut
