#include "dynamics/smooth_coulomb_solver.h"

#include <numbers>
#include <stdexcept>

#include "dynamics/contact_laws/friction.h"
#include "dynamics/convex_newton.h"

namespace abut {

using smooth_coulomb::NormalImpulse;
using smooth_coulomb::Parameters;

SmoothCoulombSolver::SmoothCoulombSolver(const StepConfig& config, double acceleration_scale)
    : config_(config), speed_scale_(acceleration_scale * config.h) {
  settings_.h = config.h;
  settings_.near_rigid =
      config.near_rigid_factor * config.near_rigid_factor / (4.0 * std::numbers::pi * std::numbers::pi);
  settings_.velocity_smoothing = config.normal_smoothing_factor * speed_scale_;
  settings_.stiction_speed = config.stiction_factor * speed_scale_;
  settings_.push_out_speed = config.push_out_factor * speed_scale_;
}

Parameters SmoothCoulombSolver::parameters(const ContactProblem& problem, std::size_t i) const {
  const ContactRow& row = problem.rows.rows[i];
  const PairMaterial& material = problem.rows.pairs[static_cast<std::size_t>(row.pair)].material;
  return {row.distance, row.weight, row.inverse_mass, material.compliance, material.dissipation_time};
}

smooth_coulomb::Settings SmoothCoulombSolver::settings_of(const ContactProblem& problem) const {
  smooth_coulomb::Settings settings = settings_;
  settings.h = problem.h;
  return settings;
}

void SmoothCoulombSolver::prepare(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                                  SolverScratch& scratch) {
  scratch.rows.assign(problem.rows);
  for (const BlockPair& pair : scratch.rows.pairs)
    row_kernels().set_law(settings, pair.compliance, pair.dissipation_time, scratch.rows.of(pair));
}

void SmoothCoulombSolver::solve(const ContactProblem& problem, SolverScratch& scratch,
                                ContactSolution& solution) const {
  const auto passes = static_cast<std::size_t>(pass_count());
  solution.passes.resize(passes);
  solution.iterations = 0;
  solution.residual = 0.0;
  solution.converged = true;
  const bool warm =
      scratch.previous_passes.size() == passes && scratch.previous_start.size() == problem.v_free.size();
  const smooth_coulomb::Settings settings = settings_of(problem);
  prepare(problem, settings, scratch);
  for (std::size_t pass = 0; pass < passes; ++pass) {
    Eigen::VectorXd& v = solution.passes[pass];
    if (pass > 0 && problem.rows.rows.empty()) {  // joints alone: every pass is the same
      v = solution.passes[0];
      continue;
    }
    if (warm) {
      v = scratch.previous_passes[pass] + problem.v_start - scratch.previous_start;
    } else {
      v = pass == 0 ? problem.v_free : solution.passes[pass - 1];
    }
    if (pass > 0) scratch.rows.set_bounds();
    ConvexNewton newton(problem, settings, pass > 0, speed_scale_, scratch);
    solution.converged =
        newton.minimise(config_.tolerance, config_.max_iterations, v, solution) && solution.converged;
  }
}

namespace {

/// Adds impulse_bar * d(gamma_n)/d(everything but the lever arms) at relative velocity u.
void normal_impulse_vjp(const NormalImpulse& gamma, double impulse_bar, const Vec3<double>& u,
                        ContactRowBar& bar, PairMaterialBar& material) {
  bar.n += impulse_bar * gamma.d_velocity * u;
  bar.distance += impulse_bar * gamma.d_distance;
  bar.weight += impulse_bar * gamma.d_weight;
  bar.inverse_mass += impulse_bar * gamma.d_inverse_mass;
  material.compliance += impulse_bar * gamma.d_compliance;
  material.dissipation_time += impulse_bar * gamma.d_dissipation_time;
}

}  // namespace

void SmoothCoulombSolver::vjp(const ContactProblem& problem, const ContactSolution& solution,
                              const Eigen::VectorXd& v_bar, SolverScratch& scratch,
                              ContactProblemBar& bar) const {
  const std::size_t n = problem.rows.rows.size();
  const smooth_coulomb::Settings settings = settings_of(problem);
  prepare(problem, settings, scratch);
  Eigen::VectorXd pass_bar = v_bar, w, w_total = Eigen::VectorXd::Zero(v_bar.size());
  for (std::size_t pass = solution.passes.size(); pass-- > 0;) {
    const bool with_friction = pass > 0;
    const Eigen::VectorXd& v = solution.passes[pass];
    if (with_friction) {
      ConvexNewton(problem, settings, false, speed_scale_, scratch).evaluate(solution.passes[pass - 1]);
      scratch.rows.set_bounds();
    }
    ConvexNewton newton(problem, settings, with_friction, speed_scale_, scratch);
    newton.evaluate(v);
    if (!newton.factorize(v)) throw std::logic_error("a step that is not finite has no gradient");
    w = pass_bar;
    scratch.hessian.solve_in_place(w);
    w_total += w;
    mass_vjp(problem, w, v, bar);
    problem.joints.vjp(v, w, bar.joints);
    if (n == 0) break;  // no pass depends on the one before
    pass_bar.setZero();
    for (std::size_t i = 0; i < n; ++i) {
      const ContactRow& row = problem.rows.rows[i];
      ContactRowBar& row_bar = bar.rows[i];
      PairMaterialBar& material_bar = bar.pairs[static_cast<std::size_t>(row.pair)];
      const double mu = problem.rows.pairs[static_cast<std::size_t>(row.pair)].material.friction;
      const Parameters c = parameters(problem, i);
      const Vec3<double> u = relative_velocity(row, v), u_w = relative_change(row, w), &n_W = row.n;

      // u_w . (gamma_n n)
      const double u_w_n = n_W.dot(u_w);
      const NormalImpulse gamma = smooth_coulomb::normal_impulse_derivatives(n_W.dot(u), c, settings);
      row_bar.n += gamma.value * u_w;
      normal_impulse_vjp(gamma, u_w_n, u, row_bar, material_bar);
      add_arm_bar(row, gamma.value * n_W, w, row_bar);
      add_velocity_bar(row, u_w_n * gamma.d_velocity * n_W, v, row_bar);
      if (!with_friction) continue;

      // b = mu gamma_n of the pass before
      const Eigen::VectorXd& v_before = solution.passes[pass - 1];
      const Vec3<double> u_before = relative_velocity(row, v_before);
      const NormalImpulse before = smooth_coulomb::normal_impulse_derivatives(n_W.dot(u_before), c, settings);
      const double bound = mu * before.value;

      // u_w . gamma_t
      const Friction friction(u, n_W, settings.stiction_speed);
      const Friction::Bar friction_bar = friction.vjp(bound, u, u_w);
      row_bar.n += friction_bar.n;
      add_arm_bar(row, friction.impulse(bound), w, row_bar);
      add_velocity_bar(row, friction_bar.u, v, row_bar);

      // ... by b
      material_bar.friction += before.value * friction_bar.bound;
      const double impulse_bar = mu * friction_bar.bound;
      normal_impulse_vjp(before, impulse_bar, u_before, row_bar, material_bar);
      const Vec3<double> reaction = impulse_bar * before.d_velocity * n_W;
      add_velocity_bar(row, reaction, v_before, row_bar);
      add_impulse(row, reaction, pass_bar);
    }
  }
  problem.mass.multiply(w_total, w);
  bar.v_free += w;
}

void SmoothCoulombSolver::impulses(const ContactProblem& problem, const ContactSolution& solution,
                                   std::vector<Vec3<double>>& impulses) const {
  const smooth_coulomb::Settings settings = settings_of(problem);
  impulses.resize(problem.rows.rows.size());
  for (std::size_t i = 0; i < impulses.size(); ++i) {
    const ContactRow& row = problem.rows.rows[i];
    const Parameters c = parameters(problem, i);
    const auto normal_impulse_at = [&](const Vec3<double>& u) {
      return smooth_coulomb::normal_impulse_derivatives(row.n.dot(u), c, settings).value;
    };
    const Vec3<double> u = relative_velocity(row, solution.velocity());
    impulses[i] = normal_impulse_at(u) * row.n;
    if (solution.passes.size() < 2) continue;
    const Eigen::VectorXd& v_before = solution.passes[solution.passes.size() - 2];
    const double mu = problem.rows.pairs[static_cast<std::size_t>(row.pair)].material.friction;
    const double bound = mu * normal_impulse_at(relative_velocity(row, v_before));
    impulses[i] += Friction(u, row.n, settings.stiction_speed).impulse(bound);
  }
}

}  // namespace abut
