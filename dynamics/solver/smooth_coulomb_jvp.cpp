/// The tangent of the smooth Coulomb solver, by the implicit function theorem.
#include "dynamics/solver/linear_solve.h"
#include "dynamics/solver/smooth_coulomb_solver.h"

namespace abut {

void SmoothCoulombSolver::jvp(const ContactProblem& problem, const ContactSolution& solution,
                              const SolutionLinearization& linearization, const ContactProblemDot& dot,
                              SolverMemory& any_memory, EndMotionBar& solution_dot) const {
  const auto& at = static_cast<const SmoothCoulombLinearization&>(linearization);
  auto& memory = static_cast<SmoothCoulombMemory&>(any_memory);
  const std::size_t n = problem.rows.rows.size();
  const smooth_coulomb::Settings settings = settings_of(problem);

  /// A row's impulse and its change.
  struct Impulse {
    Vec3<double> value, dot;
  };
  const auto impulse_of = [&](std::size_t i, const GrowableVector& v_dot) -> Impulse {
    const RowLinearization& of_row = at.of_row[i];
    const ContactRow& row = problem.rows.rows[i];
    const ContactRowBar& row_dot = dot.rows[i];
    const PairMaterialBar& material_dot = dot.pairs[static_cast<std::size_t>(row.pair)];
    const Vec3<double> u_dot = relative_velocity_jvp(row, row_dot, solution.velocity, v_dot);
    double target_dot = 0.0;
    if (row.hits) {
      const ImpactTargetSlopes slopes(problem, row, settings.impact_speed);
      target_dot =
          of_row.normal.d_target * (slopes.by_rebound * row_dot.rebound + slopes.by_settle * row_dot.settle);
    }
    const double gamma = of_row.normal.value,
                 gamma_dot = of_row.normal.d_velocity * (row_dot.n.dot(of_row.u) + row.n.dot(u_dot)) +
                             of_row.normal.d_distance * row_dot.distance +
                             of_row.normal.d_weight * row_dot.weight +
                             of_row.normal.d_inverse_mass * row_dot.inverse_mass +
                             of_row.normal.d_compliance * material_dot.compliance +
                             of_row.normal.d_dissipation_time * material_dot.dissipation_time +
                             of_row.normal.d_answers * row_dot.answers + target_dot;
    const double mu = at.rows.blocks.pairs[static_cast<std::size_t>(row.pair)].friction, bound = mu * gamma,
                 bound_dot = material_dot.friction * gamma + mu * gamma_dot;
    return {gamma * row.n + of_row.friction.impulse(bound),
            gamma_dot * row.n + gamma * row_dot.n +
                of_row.friction.jvp(bound, of_row.u, u_dot, row_dot.n, bound_dot)};
  };

  // A dv = M dv* - dM (v - v*) + d(J^T gamma) + d(J^T lambda), the latter two at fixed v.
  memory.at_rest.setZero(problem.mass.size());
  GrowableVector& v_dot = solution_dot.velocity;
  dot.set_balance(problem, solution.velocity, v_dot);
  for (std::size_t i = 0; i < n; ++i) {
    const Impulse impulse = impulse_of(i, memory.at_rest);
    add_impulse_jvp(problem.rows.rows[i], dot.rows[i], impulse.value, impulse.dot, v_dot);
  }
  solve_jvp(problem, at.jacobian, at.reaction, dot, solution.velocity, v_dot);
  solution_dot.displacement.resize(0);
}

}  // namespace abut
