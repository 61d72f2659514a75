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

[[nodiscard]] inline impact::Settings impact_settings(const ContactProblem& problem, double impact_speed) {
  return {problem.h, problem.nominal_h, impact_speed};
}
[[nodiscard]] inline impact::Settings impact_settings(const ContactProblem& problem,
                                                      const smooth_coulomb::Settings& settings) {
  return impact_settings(problem, settings.impact_speed);
}

/// What the impact of a row depends on, the row being that of the problem or the one at the start.
struct RowApproach {
  const ContactProblem& problem;
  const ContactRow& row;
  impact::Approach value;

  /// Of row i of the problem, as it is in `geometry`.
  RowApproach(const ContactProblem& of, std::size_t i, const ContactRow& geometry)
      : problem(of),
        row(geometry),
        value{row.distance, row.n.dot(relative_velocity(row, of.v_start)),
              row.n.dot(relative_velocity(row, of.v_free)),
              of.impacts_are_plastic
                  ? 0.0
                  : of.rows.pairs[static_cast<std::size_t>(of.rows.rows[i].pair)].material.restitution} {}

  /// Adds to the row, its pair and everything else.
  void vjp(const impact::ApproachBar& by, ContactRowBar& row_bar, PairMaterialBar& material_bar,
           ContactProblemBar& bar) const {
    row_bar.distance += by.distance;
    if (!problem.impacts_are_plastic) material_bar.restitution += by.restitution;
    bar.h += by.h;
    const auto by_velocity = [&](double u_n_bar, const GrowableVector& velocity,
                                 GrowableVector& velocity_bar) {
      row_bar.n += u_n_bar * relative_velocity(row, velocity);
      add_velocity_bar(row, u_n_bar * row.n, velocity, row_bar);
      add_impulse(row, u_n_bar * row.n, velocity_bar);
    };
    by_velocity(by.u_start, problem.v_start, bar.v_start);
    by_velocity(by.u_free, problem.v_free, bar.v_free);
  }
  [[nodiscard]] impact::ApproachBar jvp(const ContactRowBar& row_dot, const PairMaterialBar& material_dot,
                                        const GrowableVector& v_start_dot,
                                        const GrowableVector& v_free_dot) const {
    const auto along_normal = [&](const GrowableVector& v, const GrowableVector& v_dot) {
      return row_dot.n.dot(relative_velocity(row, v)) +
             row.n.dot(relative_velocity_jvp(row, row_dot, v, v_dot));
    };
    return {row_dot.distance, along_normal(problem.v_start, v_start_dot),
            along_normal(problem.v_free, v_free_dot),
            problem.impacts_are_plastic ? 0.0 : material_dot.restitution};
  }
};

/// The impact of row i.
[[nodiscard]] inline impact::Impact impact_of_row(const ContactProblem& problem, std::size_t i,
                                                  const impact::Settings& settings) {
  const ContactRow& start = problem.start_row(i);
  impact::Impact impact = impact::make_impact(RowApproach(problem, i, start).value, settings);
  const ContactRow& row = problem.rows.rows[i];
  if (impact.hit && row.is_moved()) {
    impact.time = row.impact_time;
    impact.target = impact::target(RowApproach(problem, i, row).value, settings, impact.time);
  }
  return impact;
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
  [[nodiscard]] bool has_negative_determinant() const override { return jacobian.determinant_sign() < 0; }
};

struct SmoothCoulombMemory final : SolverMemory {
  SmoothCoulombRows rows;
  CoupledNewtonMemory newton;
  GrowableVector impulse;
  // Of VJPs
  std::vector<RowBarBlock> row_bars;
  std::vector<impact::ImpactBar> impact_bars;
  GrowableVector multiplier, momentum, shift_turn, shift;
  // Of JVPs
  std::vector<impact::ImpactBar> impacts_dot;
  GrowableVector sum_dot, at_rest;
};

}  // namespace abut
