/// The tangent of the smooth Coulomb solver, by the implicit function theorem.
#include "dynamics/smooth_coulomb_row.h"

namespace abut {

void SmoothCoulombSolver::prepare_jvp(const ContactProblem& problem, const ContactSolution& solution,
                                      SolverScratch& scratch) const {
  const smooth_coulomb::Settings settings = settings_of(problem);
  linearize(problem, settings, solution.velocity, scratch);
  scratch.linearized.clear();
  for (std::size_t i = 0; i < problem.rows.rows.size(); ++i) {
    const RowImpulse law(problem, settings, scratch, i);
    const Vec3<double> u = relative_velocity(law.row, solution.velocity);
    scratch.linearized.push_back({u, law.normal_impulse(u), law.friction(u)});
  }
}

void SmoothCoulombSolver::jvp(const ContactProblem& problem, const ContactSolution& solution,
                              const ContactProblemDot& dot, SolverScratch& scratch,
                              EndMotionBar& solution_dot) const {
  const std::size_t n = problem.rows.rows.size();
  const smooth_coulomb::Settings settings = settings_of(problem);
  std::vector<impact::ImpactBar>& impacts_dot = scratch.impacts_dot;
  impacts_dot.assign(n, {});
  for (std::size_t i = 0; i < scratch.impacts.size(); ++i) {
    if (scratch.impacts[i].share == 0.0) continue;
    const ContactRow& row = problem.rows.rows[i];
    const ContactRowBar& row_dot = dot.rows[i];
    const auto along_normal = [&](const Eigen::VectorXd& v, const Eigen::VectorXd& v_dot) {
      return row_dot.n.dot(relative_velocity(row, v)) +
             row.n.dot(relative_velocity_jvp(row, row_dot, v, v_dot));
    };
    const impact::ApproachBar approach_dot{row_dot.distance, along_normal(problem.v_start, dot.v_start),
                                           along_normal(problem.v_free, dot.v_free),
                                           dot.pairs[static_cast<std::size_t>(row.pair)].restitution};
    impacts_dot[i] = impact::impact_jvp(approach_of_row(problem, row), impact_settings(problem, settings),
                                        scratch.impacts[i], approach_dot);
  }

  /// A row's impulse and its change.
  struct Impulse {
    Vec3<double> value, dot;
  };
  const auto impulse_of = [&](std::size_t i, const Eigen::VectorXd& v_dot) -> Impulse {
    const RowLinearization& at = scratch.linearized[i];
    const ContactRow& row = problem.rows.rows[i];
    const ContactRowBar& row_dot = dot.rows[i];
    const PairMaterialBar& material_dot = dot.pairs[static_cast<std::size_t>(row.pair)];
    const Vec3<double> u_dot = relative_velocity_jvp(row, row_dot, solution.velocity, v_dot);
    const double gamma = at.normal.value,
                 gamma_dot = at.normal.d_velocity * (row_dot.n.dot(at.u) + row.n.dot(u_dot)) +
                             at.normal.d_distance * row_dot.distance + at.normal.d_weight * row_dot.weight +
                             at.normal.d_inverse_mass * row_dot.inverse_mass +
                             at.normal.d_compliance * material_dot.compliance +
                             at.normal.d_dissipation_time * material_dot.dissipation_time +
                             at.normal.d_impact.share * impacts_dot[i].share +
                             at.normal.d_impact.target * impacts_dot[i].target;
    const double mu = scratch.rows.pairs[static_cast<std::size_t>(row.pair)].friction, bound = mu * gamma,
                 bound_dot = material_dot.friction * gamma + mu * gamma_dot;
    return {
        gamma * row.n + at.friction.impulse(bound),
        gamma_dot * row.n + gamma * row_dot.n + at.friction.jvp(bound, at.u, u_dot, row_dot.n, bound_dot)};
  };

  // A dv = M dv* - dM (v - v*) + d(J^T gamma) + d(J^T lambda), the latter two at fixed v.
  scratch.at_rest.setZero(problem.mass.size());
  Eigen::VectorXd& v_dot = solution_dot.velocity;
  dot.set_balance(problem, solution.velocity, v_dot);
  for (std::size_t i = 0; i < n; ++i) {
    const Impulse impulse = impulse_of(i, scratch.at_rest);
    add_impulse_jvp(problem.rows.rows[i], dot.rows[i], impulse.value, impulse.dot, v_dot);
  }
  scratch.jacobian.solve_in_place(v_dot);

  // M delta = -sum s [t_c r_c x gamma; (t_c + c) gamma]
  solution_dot.displacement.resize(0);
  if (solution.displacement.size() == 0) return;
  Eigen::VectorXd& sum_dot = scratch.sum_dot;
  sum_dot.setZero(problem.mass.size());
  dot.add_mass_product(solution.displacement, -1.0, sum_dot);
  for (std::size_t i = 0; i < n; ++i) {
    const impact::Impact& impact = impact_of_row(scratch, i);
    if (!impact.hit) continue;
    const ContactRow& row = problem.rows.rows[i];
    const Impulse impulse = impulse_of(i, v_dot);
    const double weight = -impact.share * impact.time,
                 weight_dot = -impacts_dot[i].share * impact.time - impact.share * impacts_dot[i].time;
    add_impulse_jvp(row, dot.rows[i], weight * impulse.value,
                    weight_dot * impulse.value + weight * impulse.dot, sum_dot);
    const Vec3<double> force_dot =
        problem.lag.time * (impacts_dot[i].share * impulse.value + impact.share * impulse.dot);
    if (row.slot_B >= 0) sum_dot.segment<3>(6 * row.slot_B + 3) -= force_dot;
    if (row.slot_A >= 0) sum_dot.segment<3>(6 * row.slot_A + 3) += force_dot;
  }
  problem.mass.solve(sum_dot, solution_dot.displacement);
}

}  // namespace abut
