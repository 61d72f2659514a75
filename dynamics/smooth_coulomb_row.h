/// A row of the smooth Coulomb solver, as its solve and its derivatives see it.
#pragma once

#include "dynamics/contact_solver.h"
#include "dynamics/kernel/row_blocks.h"
#include "dynamics/smooth_coulomb_solver.h"

namespace abut {

/// Of the rows of a pass.
[[nodiscard]] inline RowLaw law_of_pass(std::size_t pass) {
  return pass == 0 ? RowLaw::frictionless : RowLaw::smooth_friction;
}

[[nodiscard]] inline impact::Approach approach_of_row(const ContactProblem& problem, const ContactRow& row) {
  return {row.distance, row.n.dot(relative_velocity(row, problem.v_start)),
          row.n.dot(relative_velocity(row, problem.v_free)),
          problem.rows.pairs[static_cast<std::size_t>(row.pair)].material.restitution};
}

[[nodiscard]] inline impact::Settings impact_settings(const ContactProblem& problem,
                                                      const smooth_coulomb::Settings& settings) {
  return {problem.h, problem.nominal_h, settings.impact_speed};
}

/// Of a row, no impact where none may be.
[[nodiscard]] inline const impact::Impact& impact_of_row(const SolverScratch& scratch, std::size_t row) {
  static const impact::Impact none;
  return scratch.impacts.empty() ? none : scratch.impacts[row];
}

/// One row of a pass, with what its impulse depends on.
struct RowImpulse {
  const ContactRow& row;
  double friction_coefficient;
  smooth_coulomb::Parameters parameters;
  const smooth_coulomb::Settings& settings;
  const impact::Impact& impact;
  smooth_coulomb::NormalTarget<double> target;

  RowImpulse(const ContactProblem& problem, const smooth_coulomb::Settings& of_step,
             const SolverScratch& scratch, std::size_t i)
      : row(problem.rows.rows[i]),
        friction_coefficient(problem.rows.pairs[static_cast<std::size_t>(row.pair)].material.friction),
        parameters(smooth_coulomb_parameters(problem.rows, i)),
        settings(of_step),
        impact(impact_of_row(scratch, i)),
        target(smooth_coulomb::normal_target(parameters, settings)) {}

  [[nodiscard]] smooth_coulomb::NormalImpulse normal_impulse(const Vec3<double>& u) const {
    return smooth_coulomb::normal_impulse_derivatives(row.n.dot(u), parameters, settings, impact, target);
  }
};

}  // namespace abut
