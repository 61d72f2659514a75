/// The rows of the smooth Coulomb solver, as its solve and its derivatives see them.
#pragma once

#include <vector>

#include "dynamics/contact_laws/friction.h"
#include "dynamics/contact_laws/impact.h"
#include "dynamics/kernel/row_blocks.h"
#include "dynamics/kernel/row_vjp.h"
#include "dynamics/solver/contact_solver.h"
#include "dynamics/solver/coupled_newton.h"
#include "dynamics/solver/smooth_coulomb_settings.h"

namespace abut {

[[nodiscard]] inline impact::Approach approach_of_row(const ContactProblem& problem, const ContactRow& row) {
  return {row.distance, row.n.dot(relative_velocity(row, problem.v_start)),
          row.n.dot(relative_velocity(row, problem.v_free)),
          problem.rows.pairs[static_cast<std::size_t>(row.pair)].material.restitution};
}

[[nodiscard]] inline impact::Settings impact_settings(const ContactProblem& problem,
                                                      const smooth_coulomb::Settings& settings) {
  return {problem.h, problem.nominal_h, settings.impact_speed};
}

/// The rows of a problem with their laws.
struct SmoothCoulombRows {
  RowBlocks blocks;
  std::vector<impact::Impact> impacts;  ///< one per row; none if no row's pair may have one

  [[nodiscard]] const impact::Impact& impact(std::size_t row) const {
    static const impact::Impact none;
    return impacts.empty() ? none : impacts[row];
  }
};

/// One row, with what its impulse depends on.
struct RowImpulse {
  const ContactRow& row;
  double friction_coefficient;
  smooth_coulomb::Parameters parameters;
  const smooth_coulomb::Settings& settings;
  const impact::Impact& impact;
  smooth_coulomb::NormalTarget<double> target;

  RowImpulse(const ContactProblem& problem, const smooth_coulomb::Settings& of_step,
             const SmoothCoulombRows& rows, std::size_t i)
      : row(problem.rows.rows[i]),
        friction_coefficient(rows.blocks.pairs[static_cast<std::size_t>(row.pair)].friction),
        parameters(smooth_coulomb_parameters(problem.rows, i)),
        settings(of_step),
        impact(rows.impact(i)),
        target(smooth_coulomb::normal_target(parameters, settings)) {}

  [[nodiscard]] smooth_coulomb::NormalImpulse normal_impulse(const Vec3<double>& u) const {
    return smooth_coulomb::normal_impulse_derivatives(row.n.dot(u), parameters, settings, impact, target);
  }
  [[nodiscard]] Friction friction(const Vec3<double>& u) const { return {u, row.n, settings.stiction_speed}; }
  [[nodiscard]] Vec3<double> impulse(const Vec3<double>& u) const {
    const double normal = normal_impulse(u).value;
    return normal * row.n + friction(u).impulse(friction_coefficient * normal);
  }

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
  std::vector<RowLinearization> of_row;  ///< for JVPs

  [[nodiscard]] std::size_t bytes() const override {
    return sizeof(RowBlock) * rows.blocks.blocks.size() + sizeof(BlockPair) * rows.blocks.pairs.size() +
           sizeof(impact::Impact) * rows.impacts.size() + jacobian.bytes() +
           sizeof(RowLinearization) * of_row.size();
  }
};

struct SmoothCoulombMemory final : SolverMemory {
  SmoothCoulombRows rows;
  CoupledNewtonMemory newton;
  Eigen::VectorXd impulse;
  // Of VJPs
  std::vector<RowBarBlock> row_bars;
  std::vector<impact::ImpactBar> impact_bars;
  Eigen::VectorXd multiplier, momentum, shift_turn, shift;
  // Of JVPs
  std::vector<impact::ImpactBar> impacts_dot;
  Eigen::VectorXd sum_dot, at_rest;
};

}  // namespace abut
