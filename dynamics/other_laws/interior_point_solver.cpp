#include "dynamics/other_laws/interior_point_solver.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "dynamics/other_laws/interior_point_iteration.h"
#include "dynamics/solver/convex_newton.h"
#include "dynamics/solver/linear_solve.h"
#include "dynamics/solver/smooth_coulomb_settings.h"

namespace abut {

using complementarity::Settings;
using complementarity::Tangents;
using interior_point::factorize;
using interior_point::iterate_of;

template <typename Law>
InteriorPointSolver<Law>::InteriorPointSolver(const StepConfig& config, double acceleration_scale,
                                              const InteriorPointConstants& constants)
    : config_(config),
      constants_(constants),
      speed_scale_(acceleration_scale * config.h),
      smooth_coulomb_(config, acceleration_scale) {
  settings_.normal = smooth_coulomb_settings(config, speed_scale_);
  settings_.relaxation = config.complementarity_factor * speed_scale_ * speed_scale_;
}

template <typename Law>
Settings InteriorPointSolver<Law>::settings_of(const ContactProblem& problem) const {
  Settings settings = settings_;
  settings.normal.h = problem.h;
  return settings;
}

template <typename Law>
std::unique_ptr<SolverMemory> InteriorPointSolver<Law>::make_memory() const {
  return std::make_unique<InteriorPointMemory<Law>>();
}

template <typename Law>
std::unique_ptr<SolutionLinearization> InteriorPointSolver<Law>::make_linearization() const {
  return std::make_unique<InteriorPointLinearization<Law>>();
}

template <typename Law>
void InteriorPointSolver<Law>::solve(const ContactProblem& problem, SolverMemory& any_memory,
                                     ContactSolution& solution) const {
  auto& memory = static_cast<InteriorPointMemory<Law>&>(any_memory);
  const Settings settings = settings_of(problem);
  solution.reset();
  GrowableVector& v = solution.velocity;
  v = problem.v_free;
  if (!problem.joints.empty()) {
    // Motors and stops are far from linear, and nothing below searches along lines: from where they agree.
    static const ContactRows no_contacts;
    const ContactProblem joints{problem.mass,   no_contacts, problem.v_start,
                                problem.v_free, problem.h,   problem.joints};
    MomentumBalance balance(joints, settings.normal, speed_scale_, memory.no_rows, memory.joints);
    solution.converged =
        minimise(balance, RowLaw::frictionless, config_.tolerance, config_.max_iterations, v, solution);
  }
  if (problem.rows.rows.empty()) return;

  set_start(problem, memory.start_velocity);
  auto& contacts = memory.contacts;
  contacts.clear();
  for (const ContactRow& row : problem.rows.rows) contacts.push_back(iterate_of<Law>(problem, row, settings));
  memory.joint_velocity = v;
  interior_point::Iteration<Law> iteration(problem, speed_scale_, memory, solution, constants_);
  const int most = config_.max_iterations;
  const bool may_go_on = most > constants_.interior_iterations;
  double speed = 0.0;
  const auto start_at = [&](const GrowableVector& from) {
    v = from;
    iteration.scale_friction(1.0);  // a path around a fold may have failed with less of it
    speed = interior_point::largest_speed(problem, speed_scale_, v, contacts);
    interior_point::start(problem, speed, v, contacts);
  };
  const auto solve_from = [&](const GrowableVector& from) {
    start_at(from);
    if (iteration.follow(config_.tolerance, std::min(most, constants_.interior_iterations))) return true;
    if (!may_go_on) return false;
    const double far = std::max(1.0, speed * speed / settings.relaxation);
    v = from;
    if (iteration.track(far, 1.0, config_.tolerance, most)) return true;
    v = from;
    return iteration.track_around_fold(far, config_.tolerance, most);
  };
  // Where the path fails as well, the interior point method may have all the iterations that are allowed.
  const auto insist_from = [&](const GrowableVector& from) {
    start_at(from);
    return iteration.follow(config_.tolerance, most);
  };
  // The solution of the smooth Coulomb law is near one of this law, but not so near its end of the path.
  const auto solve_from_smooth_coulomb = [&] {
    const GrowableVector& from = memory.smooth_solution.velocity;
    smooth_coulomb_.solve(problem, memory.smooth_coulomb, memory.smooth_solution);
    solution.iterations += memory.smooth_solution.iterations;
    double t = constants_.smooth_start;
    for (int k = 0; k < constants_.smooth_starts; ++k, t *= constants_.smooth_start_factor) {
      v = from;
      iteration.scale_friction(1.0);
      if (iteration.track(t, 1.0, config_.tolerance, most)) return true;
    }
    if (insist_from(from)) return true;
    v = from;
    return iteration.track_around_fold(constants_.smooth_start * constants_.smooth_start_factor,
                                       config_.tolerance, most);
  };
  v = memory.start_velocity;
  solution.converged =
      iteration.correct(1.0, config_.tolerance, std::min(most, constants_.at_start_iterations)) ||
      solve_from(memory.joint_velocity) || solve_from(memory.start_velocity) ||
      (may_go_on && (insist_from(memory.joint_velocity) || insist_from(memory.start_velocity) ||
                     solve_from_smooth_coulomb()));
}

template <typename Law>
GrowableVector InteriorPointSolver<Law>::to_all_digits(const ContactProblem& problem,
                                                       const ContactSolution& solution,
                                                       InteriorPointMemory<Law>& memory) const {
  const Settings settings = settings_of(problem);
  auto& contacts = memory.contacts;
  contacts.clear();
  for (const ContactRow& row : problem.rows.rows) contacts.push_back(iterate_of<Law>(problem, row, settings));
  ContactSolution exact;
  exact.velocity = solution.velocity;
  if (!contacts.empty()) {
    (void)interior_point::Iteration<Law>(problem, speed_scale_, memory, exact, constants_)
        .correct(1.0, 0.0, constants_.last_digits_iterations);
  }
  return exact.velocity;
}

template <typename Law>
bool InteriorPointSolver<Law>::linearize(const ContactProblem& problem, const ContactSolution& solution,
                                         LinearizeFor, SolverMemory& any_memory,
                                         SolutionLinearization& linearization) const {
  auto& memory = static_cast<InteriorPointMemory<Law>&>(any_memory);
  auto& at = static_cast<InteriorPointLinearization<Law>&>(linearization);
  at.velocity = to_all_digits(problem, solution, memory);
  for (std::size_t i = 0; i < memory.contacts.size(); ++i) {
    interior_point::linearize_solution(memory.contacts[i],
                                       relative_velocity(problem.rows.rows[i], at.velocity));
  }
  factorize(problem, at.velocity, memory.contacts, memory);
  at.contacts = memory.contacts;
  std::swap(at.jacobian, memory.jacobian);
  at.reaction.resize(0);
  if (problem.mass.links().empty()) {
    at.jacobian.whole.resize(0, 0);
    return true;
  }
  interior_point::set_force_without_contacts(problem, at.velocity, memory);
  for (std::size_t i = 0; i < at.contacts.size(); ++i)
    add_impulse(problem.rows.rows[i], at.contacts[i].impulse(), memory.force);
  at.reaction = -memory.force;
  return true;
}

template <typename Law>
void InteriorPointSolver<Law>::vjp(const ContactProblem& problem, const ContactSolution&,
                                   const SolutionLinearization& linearization,
                                   const EndMotionBar& solution_bar, SolverMemory& any_memory,
                                   ContactProblemBar& bar) const {
  const auto& at = static_cast<const InteriorPointLinearization<Law>&>(linearization);
  const GrowableVector& v = at.velocity;
  const auto& contacts = at.contacts;
  GrowableVector w = solution_bar.velocity;
  solve_vjp(problem, at.jacobian, at.reaction, v, w, bar);
  if (!w.allFinite()) throw std::logic_error("a step that is not finite has no gradient");
  balance_vjp(problem, w, v, static_cast<InteriorPointMemory<Law>&>(any_memory).momentum, bar);

  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const ContactIterate<Law>& c = contacts[i];
    const ContactRow& row = problem.rows.rows[i];
    ContactRowBar& row_bar = bar.rows[i];
    PairMaterialBar& material_bar = bar.pairs[static_cast<std::size_t>(row.pair)];
    const Vec3<double> u = relative_velocity(row, v), u_w = relative_change(row, w);
    const Vec3<double> impulse = c.impulse();

    // u_w . impulse by the lever arms, through J^T and through u = J v.
    const Vec3<double> u_bar = -(interior_point::resistance_matrix(c).transpose() * u_w);
    add_arm_bar(row, impulse, w, row_bar);
    add_velocity_bar(row, u_bar, v, row_bar);

    // ... by what a contact is made of: y(x, b, kappa) along the tangents, gamma_n(a, R, kappa) along n.
    row_bar.weight += u_w.dot(impulse) / c.weight;
    double impulse_bar = c.weight * c.n.dot(u_w), relaxation_bar = 0.0;
    row_bar.n += c.weight * c.normal.impulse * u_w;
    if (c.has_friction()) {
      const Vec2<double> y = c.friction.impulse(), y_bar = c.weight * c.tangents.of(u_w),
                         x_bar = -(c.friction_linear.by_velocity.transpose() * y_bar);
      const double bound_bar = c.friction_linear.by_bound.dot(y_bar);
      const Vec3<double> scaled_w = c.weight * u_w;
      row_bar.n +=
          Law::tangents_vjp(row.n, Tangents{y[0] * scaled_w + x_bar[0] * u, y[1] * scaled_w + x_bar[1] * u});
      material_bar.friction += bound_bar * c.normal.impulse;
      impulse_bar += bound_bar * c.friction_coefficient;
      relaxation_bar += c.friction_linear.constant.dot(y_bar) / c.relaxation;
    }
    // s gamma_n = kappa with s = a + R gamma_n.
    const double a_bar = -c.normal_linear.slope * impulse_bar;
    const double resistance_bar = a_bar * c.normal.impulse;
    relaxation_bar += c.normal_linear.constant * impulse_bar / c.relaxation;
    row_bar.n += a_bar * u;

    const complementarity::Resistance& by = c.resistance_of;
    row_bar.answers += resistance_bar * by.d_answers;
    row_bar.inverse_mass += resistance_bar * by.d_inverse_mass - a_bar * c.target.d_inverse_mass -
                            relaxation_bar * c.relaxation / row.inverse_mass;
    row_bar.distance -= a_bar * c.target.d_distance;
    material_bar.compliance += resistance_bar * by.d_compliance - a_bar * c.target.d_compliance;
    material_bar.dissipation_time +=
        resistance_bar * by.d_dissipation_time - a_bar * c.target.d_dissipation_time;
  }
}

template <typename Law>
void InteriorPointSolver<Law>::jvp(const ContactProblem& problem, const ContactSolution&,
                                   const SolutionLinearization& linearization, const ContactProblemDot& dot,
                                   SolverMemory&, EndMotionBar& solution_dot) const {
  // H dv = M dv* - dM (v - v*) + d(J^T gamma) + d(J^T lambda), the latter two at fixed v.
  const auto& at = static_cast<const InteriorPointLinearization<Law>&>(linearization);
  const GrowableVector& v = at.velocity;
  const GrowableVector at_rest = GrowableVector::Zero(problem.mass.size());
  GrowableVector& v_dot = solution_dot.velocity;
  dot.set_balance(problem, v, v_dot);

  const auto& contacts = at.contacts;
  for (std::size_t i = 0; i < problem.rows.rows.size(); ++i) {
    const ContactRow& row = problem.rows.rows[i];
    const ContactRowBar& row_dot = dot.rows[i];
    const PairMaterialBar& material_dot = dot.pairs[static_cast<std::size_t>(row.pair)];
    const Vec3<double> u = relative_velocity(row, v), u_dot = relative_velocity_jvp(row, row_dot, v, at_rest);
    const ContactIterate<Law>& c = contacts[i];

    const double target_dot = c.target.d_distance * row_dot.distance +
                              c.target.d_inverse_mass * row_dot.inverse_mass +
                              c.target.d_compliance * material_dot.compliance +
                              c.target.d_dissipation_time * material_dot.dissipation_time;
    const complementarity::Resistance& by = c.resistance_of;
    const double resistance_dot = by.d_answers * row_dot.answers + by.d_inverse_mass * row_dot.inverse_mass +
                                  by.d_compliance * material_dot.compliance +
                                  by.d_dissipation_time * material_dot.dissipation_time;
    const double share_of_relaxation_dot = -row_dot.inverse_mass / row.inverse_mass;

    const double a_dot = row_dot.n.dot(u) + row.n.dot(u_dot) - target_dot;
    const double gamma_n = c.normal.impulse,
                 gamma_n_dot = -c.normal_linear.slope * (a_dot + resistance_dot * gamma_n) +
                               c.normal_linear.constant * share_of_relaxation_dot;
    Vec3<double> impulse_dot = gamma_n_dot * row.n + gamma_n * row_dot.n;
    if (c.has_friction()) {
      const Tangents tangents_dot = Law::tangents_jvp(row.n, row_dot.n);
      const double bound_dot = material_dot.friction * gamma_n + c.friction_coefficient * gamma_n_dot;
      const Vec2<double> y_dot = share_of_relaxation_dot * c.friction_linear.constant +
                                 bound_dot * c.friction_linear.by_bound -
                                 c.friction_linear.by_velocity * (c.tangents.of(u_dot) + tangents_dot.of(u));
      impulse_dot += tangents_dot * c.friction.impulse() + c.tangents * y_dot;
    }
    const Vec3<double> impulse = c.impulse();
    add_impulse_jvp(row, row_dot, impulse, row_dot.weight / row.weight * impulse + row.weight * impulse_dot,
                    v_dot);
  }
  solve_jvp(problem, at.jacobian, at.reaction, dot, v, v_dot);
  if (!v_dot.allFinite()) throw std::logic_error("a step that is not finite has no derivative");
  solution_dot.displacement.resize(0);
}

template <typename Law>
void InteriorPointSolver<Law>::impulses(const ContactProblem& problem, const ContactSolution& solution,
                                        SolverMemory& any_memory, std::vector<Vec3<double>>& impulses) const {
  const Settings settings = settings_of(problem);
  auto& memory = static_cast<InteriorPointMemory<Law>&>(any_memory);
  // Of a hard contact, velocities that are right to the tolerance say little of the impulse.
  const GrowableVector v = to_all_digits(problem, solution, memory);
  impulses.clear();
  for (const ContactRow& row : problem.rows.rows) {
    ContactIterate<Law> c = iterate_of<Law>(problem, row, settings);
    interior_point::centre(c, relative_velocity(row, v), c.relaxation);
    impulses.push_back(c.impulse());
  }
}

template <typename Law>
int InteriorPointSolver<Law>::contacts_near_kink(const ContactProblem& problem,
                                                 const ContactSolution& solution,
                                                 std::vector<bool>& near_kink) const {
  constexpr double k_share = 1e-3;
  const Settings settings = settings_of(problem);
  near_kink.assign(problem.rows.rows.size(), false);
  for (std::size_t i = 0; i < near_kink.size(); ++i) {
    const ContactRow& row = problem.rows.rows[i];
    ContactIterate<Law> c = iterate_of<Law>(problem, row, settings);
    interior_point::centre(c, relative_velocity(row, solution.velocity), c.relaxation);
    const double change = k_share * (relative_velocity(row, problem.v_free).norm() + speed_scale_);
    const bool is_open = row.inverse_mass * c.normal.impulse <= change;
    near_kink[i] =
        is_open ? complementarity::is_near_kink(c.normal, change, row.inverse_mass)
                : c.has_friction() && c.friction.is_near_kink(c.x, c.bound(), change, row.inverse_mass);
  }
  return static_cast<int>(std::count(near_kink.begin(), near_kink.end(), true));
}

template class InteriorPointSolver<lcp::Law>;
template class InteriorPointSolver<relaxed_complementarity::Law>;

}  // namespace abut
