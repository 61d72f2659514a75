#include "dynamics/smooth_coulomb_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "dynamics/contact_laws/friction.h"
#include "dynamics/kernel/row_kernels.h"
#include "engine/lie.h"

namespace abut {

using smooth_coulomb::NormalImpulse;
using smooth_coulomb::Parameters;

SmoothCoulombSolver::SmoothCoulombSolver(const StepConfig& config, double acceleration_scale)
    : config_(config), acceleration_scale_(acceleration_scale) {
  const double speed = acceleration_scale * config.h;
  settings_.h = config.h;
  settings_.near_rigid =
      config.near_rigid_factor * config.near_rigid_factor / (4.0 * std::numbers::pi * std::numbers::pi);
  settings_.velocity_smoothing = config.normal_smoothing_factor * speed;
  settings_.stiction_speed = config.stiction_factor * speed;
  settings_.push_out_speed = config.push_out_factor * speed;
}

Parameters SmoothCoulombSolver::parameters(const ContactProblem& problem, std::size_t i) const {
  const ContactRow& row = problem.rows.rows[i];
  const PairMaterial& material = problem.rows.pairs[static_cast<std::size_t>(row.pair)].material;
  return {row.distance, row.weight, row.inverse_mass, material.compliance, material.dissipation_time};
}

void SmoothCoulombSolver::prepare(const ContactProblem& problem, SolverScratch& scratch) const {
  scratch.rows.assign(problem.rows);
  for (const BlockPair& pair : scratch.rows.pairs)
    row_kernels().set_law(settings_, pair.compliance, pair.dissipation_time, scratch.rows.of(pair));
}

/// Fills gradient = dL/dv, and the normal impulses and slopes of all rows.
void SmoothCoulombSolver::evaluate(const ContactProblem& problem, bool with_friction,
                                   const Eigen::VectorXd& v, SolverScratch& scratch) const {
  scratch.momentum = v - problem.v_free;
  problem.mass.multiply(scratch.momentum, scratch.gradient);
  for (const BlockPair& pair : scratch.rows.pairs) {
    const Vec6<double> V = relative_twist(pair, v);
    Vec6<double> wrench;
    row_kernels().sum_impulses({settings_, with_friction, V.data()}, scratch.rows.of(pair), wrench.data());
    add_wrench(pair, -wrench, scratch.gradient);
  }
}

/// H = M + sum J^T K J, K = -d impulse/du, accumulated per pair about its centre, at the v of the last
/// evaluate(). False if H is not positive definite (which only non-finite numbers can bring about).
bool SmoothCoulombSolver::factorize(const ContactProblem& problem, bool with_friction,
                                    const Eigen::VectorXd& v, SolverScratch& scratch) const {
  const MassMatrix& mass = problem.mass;
  Eigen::MatrixXd& H = scratch.hessian;
  H.setZero(mass.size(), mass.size());
  for (int s = 0; s < mass.slot_count(); ++s) {
    H.block<3, 3>(6 * s, 6 * s) = mass.inertia_W(s);
    H.block<3, 3>(6 * s + 3, 6 * s + 3).diagonal().setConstant(mass.mass(s));
  }
  for (const BlockPair& pair : scratch.rows.pairs) {
    const Vec6<double> V = relative_twist(pair, v);
    ResistanceSums sums;
    row_kernels().sum_resistances({settings_, with_friction, V.data()}, scratch.rows.of(pair), sums);
    const Eigen::Map<const Mat3<double>> S0(sums.S0), S1(sums.S1), S2(sums.S2);
    const auto add_diagonal = [&](int slot, const Mat3<double>& ww, const Mat3<double>& wv) {
      H.block<3, 3>(6 * slot, 6 * slot) += ww;
      H.block<3, 3>(6 * slot + 3, 6 * slot) += wv.transpose();
      H.block<3, 3>(6 * slot + 3, 6 * slot + 3) += S0;
    };
    add_diagonal(pair.slot_A >= 0 ? pair.slot_A : pair.slot_B, S2, S1);
    if (!pair.both_move()) continue;
    const Mat3<double> shift = skew<double>(pair.shift);
    const Mat3<double> S1_B = S1 + shift * S0;
    const Mat3<double> S2_BA = S2 + shift * S1.transpose();
    add_diagonal(pair.slot_B, S2_BA - S1_B * shift, S1_B);
    // Rows of the larger slot: only the lower triangle is read.
    const bool B_below = pair.slot_B > pair.slot_A;
    Mat6<double> coupling;  // -J_B^T K J_A
    coupling << -S2_BA, -S1_B, -S1.transpose(), -S0;
    const int low = 6 * std::max(pair.slot_A, pair.slot_B), high = 6 * std::min(pair.slot_A, pair.slot_B);
    if (B_below) {
      H.block<6, 6>(low, high) += coupling;
    } else {
      H.block<6, 6>(low, high) += coupling.transpose();
    }
  }
  scratch.factor.compute(H);
  return scratch.factor.info() == Eigen::Success;
}

/// The minimiser a in (0, 1) of L(v + a direction), by a bracketed Newton search.
double SmoothCoulombSolver::line_search(const ContactProblem& problem, bool with_friction,
                                        const Eigen::VectorXd& v, double slope_at_0,
                                        SolverScratch& scratch) const {
  const Eigen::VectorXd& dv = scratch.direction;
  problem.mass.multiply(dv, scratch.mass_direction);
  const double constant = scratch.mass_direction.dot(v - problem.v_free),
               linear = scratch.mass_direction.dot(dv);
  double low = 0.0, high = 1.0, a = 0.5;
  for (int k = 0; k < 40; ++k) {
    double slope = constant + a * linear, curvature = linear;
    for (const BlockPair& pair : scratch.rows.pairs) {
      const Vec6<double> V = relative_twist(pair, v), dV = relative_twist(pair, dv);
      LineSums sums;
      row_kernels().sum_line({settings_, with_friction, V.data()}, dV.data(), a, scratch.rows.of(pair), sums);
      slope += sums.slope;
      curvature += sums.curvature;
    }
    if (std::abs(slope) <= 0.1 * slope_at_0) break;
    (slope > 0.0 ? high : low) = a;
    a -= slope / curvature;
    if (!(a > low && a < high)) a = 0.5 * (low + high);
  }
  return a;
}

/// Minimises from v on, and leaves there what evaluate() found at the answer. Stops at a relative residual
/// rho = |grad L|_{M^-1} / sqrt(v*^T M v* + m_total g^2 h^2).
bool SmoothCoulombSolver::newton(const ContactProblem& problem, bool with_friction, Eigen::VectorXd& v,
                                 SolverScratch& scratch, ContactSolution& solution) const {
  // Below this residual rounding alone decides; stop once it no longer falls.
  constexpr double k_rounding = 1e-10;
  problem.mass.multiply(problem.v_free, scratch.momentum);
  const double gravity_speed = acceleration_scale_ * settings_.h;
  const double scale = std::sqrt(scratch.momentum.dot(problem.v_free) +
                                 problem.mass.total_mass() * gravity_speed * gravity_speed);
  double previous = std::numeric_limits<double>::infinity();
  evaluate(problem, with_friction, v, scratch);
  for (int iteration = 0;; ++iteration) {
    const double residual = problem.mass.inverse_norm(scratch.gradient) / scale;
    const bool stalled = iteration > 3 && residual < k_rounding && residual > 0.5 * previous;
    if (residual <= config_.tolerance || stalled || iteration == config_.max_iterations ||
        !std::isfinite(residual)) {
      solution.residual = std::isfinite(residual) ? std::max(solution.residual, residual) : residual;
      return residual <= config_.tolerance || stalled;
    }
    previous = residual;
    if (!factorize(problem, with_friction, v, scratch)) return false;
    scratch.direction = -scratch.gradient;
    scratch.factor.solveInPlace(scratch.direction);
    // A full step if that brings the slope down: the usual case, and what it takes to know is what the next
    // iteration starts with.
    const double slope_at_0 = std::abs(scratch.gradient.dot(scratch.direction));
    scratch.trial = v + scratch.direction;
    evaluate(problem, with_friction, scratch.trial, scratch);
    if (!(scratch.gradient.dot(scratch.direction) <= 0.5 * slope_at_0)) {
      scratch.trial = v + line_search(problem, with_friction, v, slope_at_0, scratch) * scratch.direction;
      evaluate(problem, with_friction, scratch.trial, scratch);
    }
    v.swap(scratch.trial);
    ++solution.iterations;
  }
}

void SmoothCoulombSolver::solve(const ContactProblem& problem, SolverScratch& scratch,
                                ContactSolution& solution) const {
  const auto passes = static_cast<std::size_t>(config_.friction_repeats + 1);
  solution.passes.resize(passes);
  solution.iterations = 0;
  solution.residual = 0.0;
  solution.converged = true;
  if (problem.rows.rows.empty()) {
    for (Eigen::VectorXd& v : solution.passes) v = problem.v_free;
    scratch.previous_passes.clear();
    return;
  }
  const bool warm =
      scratch.previous_passes.size() == passes && scratch.previous_start.size() == problem.v_free.size();
  prepare(problem, scratch);
  for (std::size_t pass = 0; pass < passes; ++pass) {
    Eigen::VectorXd& v = solution.passes[pass];
    if (warm) {
      v = scratch.previous_passes[pass] + problem.v_start - scratch.previous_start;
    } else {
      v = pass == 0 ? problem.v_free : solution.passes[pass - 1];
    }
    if (pass > 0) scratch.rows.set_bounds();
    solution.converged = newton(problem, pass > 0, v, scratch, solution) && solution.converged;
  }
  scratch.previous_passes = solution.passes;
  scratch.previous_start = problem.v_start;
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
  prepare(problem, scratch);
  Eigen::VectorXd pass_bar = v_bar, w, w_total = Eigen::VectorXd::Zero(v_bar.size());
  for (std::size_t pass = solution.passes.size(); pass-- > 0;) {
    const bool with_friction = pass > 0;
    const Eigen::VectorXd& v = solution.passes[pass];
    if (with_friction) {
      evaluate(problem, false, solution.passes[pass - 1], scratch);
      scratch.rows.set_bounds();
    }
    evaluate(problem, with_friction, v, scratch);
    factorize(problem, with_friction, v, scratch);
    w = scratch.factor.solve(pass_bar);
    w_total += w;
    for (int s = 0; s < problem.mass.slot_count(); ++s) {  // -w^T M (v - v*)
      const auto dv = (v - problem.v_free).segment<6>(6 * s);
      bar.inertia_W[static_cast<std::size_t>(s)].noalias() -= w.segment<3>(6 * s) * dv.head<3>().transpose();
      bar.mass[static_cast<std::size_t>(s)] -= w.segment<3>(6 * s + 3).dot(dv.tail<3>());
    }
    pass_bar.setZero();
    for (std::size_t i = 0; i < n; ++i) {
      const ContactRow& row = problem.rows.rows[i];
      ContactRowBar& row_bar = bar.rows[i];
      PairMaterialBar& material_bar = bar.pairs[static_cast<std::size_t>(row.pair)];
      const double mu = problem.rows.pairs[static_cast<std::size_t>(row.pair)].material.friction;
      const Parameters c = parameters(problem, i);
      const Vec3<double> u = relative_velocity(row, v), u_w = relative_velocity(row, w), &n_W = row.n;

      // u_w . (gamma_n n)
      const double u_w_n = n_W.dot(u_w);
      const NormalImpulse gamma = smooth_coulomb::normal_impulse_derivatives(n_W.dot(u), c, settings_);
      row_bar.n += gamma.value * u_w;
      normal_impulse_vjp(gamma, u_w_n, u, row_bar, material_bar);
      add_arm_bar(row, gamma.value * n_W, w, row_bar);
      add_arm_bar(row, u_w_n * gamma.d_velocity * n_W, v, row_bar);
      if (!with_friction) continue;

      // b = mu gamma_n of the pass before
      const Eigen::VectorXd& v_before = solution.passes[pass - 1];
      const Vec3<double> u_before = relative_velocity(row, v_before);
      const NormalImpulse before =
          smooth_coulomb::normal_impulse_derivatives(n_W.dot(u_before), c, settings_);
      const double bound = mu * before.value;

      // u_w . gamma_t
      const Friction friction(u, n_W, settings_.stiction_speed);
      const Friction::Bar friction_bar = friction.vjp(bound, u, u_w);
      row_bar.n += friction_bar.n;
      add_arm_bar(row, friction.impulse(bound), w, row_bar);
      add_arm_bar(row, friction_bar.u, v, row_bar);

      // ... by b
      material_bar.friction += before.value * friction_bar.bound;
      const double impulse_bar = mu * friction_bar.bound;
      normal_impulse_vjp(before, impulse_bar, u_before, row_bar, material_bar);
      const Vec3<double> reaction = impulse_bar * before.d_velocity * n_W;
      add_arm_bar(row, reaction, v_before, row_bar);
      add_impulse(row, reaction, pass_bar);
    }
  }
  problem.mass.multiply(w_total, w);
  bar.v_free += w;
}

void SmoothCoulombSolver::impulses(const ContactProblem& problem, const ContactSolution& solution,
                                   std::vector<Vec3<double>>& impulses) const {
  impulses.resize(problem.rows.rows.size());
  for (std::size_t i = 0; i < impulses.size(); ++i) {
    const ContactRow& row = problem.rows.rows[i];
    const Parameters c = parameters(problem, i);
    const auto normal_impulse_at = [&](const Vec3<double>& u) {
      return smooth_coulomb::normal_impulse_derivatives(row.n.dot(u), c, settings_).value;
    };
    const Vec3<double> u = relative_velocity(row, solution.velocity());
    impulses[i] = normal_impulse_at(u) * row.n;
    if (solution.passes.size() < 2) continue;
    const Eigen::VectorXd& v_before = solution.passes[solution.passes.size() - 2];
    const double mu = problem.rows.pairs[static_cast<std::size_t>(row.pair)].material.friction;
    const double bound = mu * normal_impulse_at(relative_velocity(row, v_before));
    impulses[i] += Friction(u, row.n, settings_.stiction_speed).impulse(bound);
  }
}

}  // namespace abut
