/// The tangent of the smooth Coulomb solver, by the implicit function theorem.
#include "dynamics/solver/smooth_coulomb_solver.h"

namespace abut {

void SmoothCoulombSolver::jvp(const ContactProblem& problem, const ContactSolution& solution,
                              const SolutionLinearization& linearization, const ContactProblemDot& dot,
                              SolverMemory& any_memory, EndMotionBar& solution_dot) const {
  const auto& at = static_cast<const SmoothCoulombLinearization&>(linearization);
  auto& memory = static_cast<SmoothCoulombMemory&>(any_memory);
  const std::vector<impact::Impact>& impacts = at.rows.impacts;
  const std::size_t n = problem.rows.rows.size();
  const smooth_coulomb::Settings settings = settings_of(problem);
  std::vector<impact::ImpactBar>& impacts_dot = memory.impacts_dot;
  impacts_dot.assign(n, {});
  for (std::size_t i = 0; i < impacts.size(); ++i) {
    if (impacts[i].share == 0.0) continue;
    const ContactRow& row = problem.rows.rows[i];
    const impact::Settings of_impact = impact_settings(problem, settings);
    const auto dot_of = [&](const RowApproach& approach, const ContactRowBar& row_dot) {
      return approach.jvp(row_dot, dot.pairs[static_cast<std::size_t>(row.pair)], dot.v_start, dot.v_free);
    };
    const RowApproach at_start(problem, i, problem.start_row(i));
    impacts_dot[i] =
        impact::impact_jvp(at_start.value, of_impact, impacts[i], dot_of(at_start, dot.start_row(i)));
    if (!impacts[i].hit || !row.is_moved()) continue;
    impacts_dot[i].time = dot.rows[i].impact_time;
    const RowApproach approach(problem, i, row);  // as impact_of_row()
    impacts_dot[i].target = impact::target_jvp(approach.value, of_impact, impacts[i].time, impacts[i].target,
                                               dot_of(approach, dot.rows[i]), impacts_dot[i].time);
  }

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
    const double gamma = of_row.normal.value,
                 gamma_dot = of_row.normal.d_velocity * (row_dot.n.dot(of_row.u) + row.n.dot(u_dot)) +
                             of_row.normal.d_distance * row_dot.distance +
                             of_row.normal.d_weight * row_dot.weight +
                             of_row.normal.d_inverse_mass * row_dot.inverse_mass +
                             of_row.normal.d_compliance * material_dot.compliance +
                             of_row.normal.d_dissipation_time * material_dot.dissipation_time +
                             of_row.normal.d_impact.share * impacts_dot[i].share +
                             of_row.normal.d_impact.target * impacts_dot[i].target;
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
  at.jacobian.solve_in_place(v_dot);

  // M delta = -sum s [t_c r_c x gamma; (t_c + c) gamma]
  solution_dot.displacement.resize(0);
  if (solution.displacement.size() == 0 || !problem.joints.empty()) return;  // as displace()
  GrowableVector& sum_dot = memory.sum_dot;
  sum_dot.setZero(problem.mass.size());
  dot.add_mass_product(solution.displacement, -1.0, sum_dot);
  for (std::size_t i = 0; i < n; ++i) {
    const impact::Impact& impact = at.rows.impact(i);
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
