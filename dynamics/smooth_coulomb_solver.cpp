#include "dynamics/smooth_coulomb_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "dynamics/contact_laws/friction.h"
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
  const std::size_t n = problem.rows.rows.size();
  scratch.targets.resize(n);
  scratch.resistances.resize(n);
  scratch.bounds.resize(n);
  scratch.normal_impulses.resize(n);
  scratch.normal_slopes.resize(n);
  scratch.u.resize(n);
  scratch.du.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Parameters c = parameters(problem, i);
    scratch.targets[i] = smooth_coulomb::normal_target(c.distance, c.dissipation_time, settings_).value;
    scratch.resistances[i] = smooth_coulomb::normal_resistance(c, settings_);
  }
}

void SmoothCoulombSolver::friction_bounds(const ContactProblem& problem, const Eigen::VectorXd& v,
                                          SolverScratch& scratch) const {
  for (std::size_t i = 0; i < problem.rows.rows.size(); ++i) {
    const ContactRow& row = problem.rows.rows[i];
    const double mu = problem.rows.pairs[static_cast<std::size_t>(row.pair)].material.friction;
    double impulse, slope;
    smooth_coulomb::normal_impulse(row.n.dot(relative_velocity(row, v)), scratch.targets[i],
                                   scratch.resistances[i], row.weight, settings_.velocity_smoothing, impulse,
                                   slope);
    scratch.bounds[i] = mu * impulse;
  }
}

/// Fills gradient, u and the normal impulses; returns the relative residual
/// rho = |grad L|_{M^-1} / sqrt(v*^T M v* + m_total g^2 h^2).
double SmoothCoulombSolver::gradient(const ContactProblem& problem, bool with_friction,
                                     const Eigen::VectorXd& v, SolverScratch& scratch) const {
  scratch.direction = v - problem.v_free;
  problem.mass.multiply(scratch.direction, scratch.gradient);
  for (std::size_t i = 0; i < problem.rows.rows.size(); ++i) {
    const ContactRow& row = problem.rows.rows[i];
    const Vec3<double> u = relative_velocity(row, v);
    scratch.u[i] = u;
    smooth_coulomb::normal_impulse(row.n.dot(u), scratch.targets[i], scratch.resistances[i], row.weight,
                                   settings_.velocity_smoothing, scratch.normal_impulses[i],
                                   scratch.normal_slopes[i]);
    Vec3<double> impulse = scratch.normal_impulses[i] * row.n;
    if (with_friction) impulse += Friction(u, row.n, settings_.stiction_speed).impulse(scratch.bounds[i]);
    add_impulse(row, -impulse, scratch.gradient);
  }
  problem.mass.multiply(problem.v_free, scratch.momentum);
  const double gravity_speed = acceleration_scale_ * settings_.h;
  const double scale = std::sqrt(scratch.momentum.dot(problem.v_free) +
                                 problem.mass.total_mass() * gravity_speed * gravity_speed);
  return problem.mass.inverse_norm(scratch.gradient) / scale;
}

/// H = M + sum J^T K J, K = -d impulse/du, accumulated per pair about the centre of one of its bodies. False
/// if H is not positive definite (which only non-finite numbers can bring about).
bool SmoothCoulombSolver::factorize(const ContactProblem& problem, bool with_friction,
                                    SolverScratch& scratch) const {
  const MassMatrix& mass = problem.mass;
  Eigen::MatrixXd& H = scratch.hessian;
  H.setZero(mass.size(), mass.size());
  for (int s = 0; s < mass.slot_count(); ++s) {
    H.block<3, 3>(6 * s, 6 * s) = mass.inertia_W(s);
    H.block<3, 3>(6 * s + 3, 6 * s + 3).diagonal().setConstant(mass.mass(s));
  }
  for (const RowPair& pair : problem.rows.pairs) {
    const bool about_A = pair.slot_A >= 0;
    Mat3<double> S0 = Mat3<double>::Zero(), S1 = S0, S2 = S0;  // sums of K, [r]K, -[r]K[r]
    for (int k = pair.begin; k < pair.end; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const ContactRow& row = problem.rows.rows[i];
      Mat3<double> K = -scratch.normal_slopes[i] * (row.n * row.n.transpose());
      if (with_friction)
        K += Friction(scratch.u[i], row.n, settings_.stiction_speed).resistance(scratch.bounds[i]);
      const Mat3<double> r = skew<double>(about_A ? row.r_A : row.r_B);
      const Mat3<double> rK = r * K;
      S0 += K;
      S1 += rK;
      S2.noalias() -= rK * r;
    }
    const auto add_diagonal = [&](int slot, const Mat3<double>& ww, const Mat3<double>& wv) {
      H.block<3, 3>(6 * slot, 6 * slot) += ww;
      H.block<3, 3>(6 * slot + 3, 6 * slot) += wv.transpose();
      H.block<3, 3>(6 * slot + 3, 6 * slot + 3) += S0;
    };
    add_diagonal(about_A ? pair.slot_A : pair.slot_B, S2, S1);
    if (pair.slot_A < 0 || pair.slot_B < 0) continue;
    const ContactRow& first = problem.rows.rows[static_cast<std::size_t>(pair.begin)];
    const Mat3<double> shift = skew<double>(first.r_B - first.r_A);  // r_B = r_A + p_A - p_B
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

/// The minimiser a of L(v + a dv): a full step where the slope there is small, a bracketed Newton search
/// elsewhere.
double SmoothCoulombSolver::line_search(const ContactProblem& problem, bool with_friction,
                                        const Eigen::VectorXd& v, SolverScratch& scratch) const {
  const Eigen::VectorXd& dv = scratch.direction;
  problem.mass.multiply(dv, scratch.mass_direction);
  const double constant = scratch.mass_direction.dot(v - problem.v_free),
               linear = scratch.mass_direction.dot(dv);
  const std::size_t n = problem.rows.rows.size();
  for (std::size_t i = 0; i < n; ++i) scratch.du[i] = relative_velocity(problem.rows.rows[i], dv);

  const auto slope = [&](double a, double* curvature) {
    double value = constant + a * linear;
    if (curvature) *curvature = linear;
    for (std::size_t i = 0; i < n; ++i) {
      const ContactRow& row = problem.rows.rows[i];
      const Vec3<double> u = scratch.u[i] + a * scratch.du[i];
      const double du_n = row.n.dot(scratch.du[i]);
      double impulse, impulse_slope;
      smooth_coulomb::normal_impulse(row.n.dot(u), scratch.targets[i], scratch.resistances[i], row.weight,
                                     settings_.velocity_smoothing, impulse, impulse_slope);
      value -= impulse * du_n;
      if (curvature) *curvature -= impulse_slope * du_n * du_n;
      if (!with_friction) continue;
      const Friction friction(u, row.n, settings_.stiction_speed);
      value -= friction.impulse(scratch.bounds[i]).dot(scratch.du[i]);
      if (curvature) *curvature += scratch.du[i].dot(friction.resistance(scratch.bounds[i]) * scratch.du[i]);
    }
    return value;
  };

  const double slope_at_0 = std::abs(scratch.gradient.dot(dv));
  if (slope(1.0, nullptr) <= 0.5 * slope_at_0) return 1.0;
  double low = 0.0, high = 1.0, a = 0.5;
  for (int k = 0; k < 40; ++k) {
    double curvature;
    const double s = slope(a, &curvature);
    if (std::abs(s) <= 0.1 * slope_at_0) break;
    (s > 0.0 ? high : low) = a;
    a -= s / curvature;
    if (!(a > low && a < high)) a = 0.5 * (low + high);
  }
  return a;
}

bool SmoothCoulombSolver::newton(const ContactProblem& problem, bool with_friction, Eigen::VectorXd& v,
                                 SolverScratch& scratch, ContactSolution& solution) const {
  // Below this residual rounding alone decides; stop once it no longer falls.
  constexpr double k_rounding = 1e-10;
  double previous = std::numeric_limits<double>::infinity();
  for (int iteration = 0;; ++iteration) {
    const double residual = gradient(problem, with_friction, v, scratch);
    const bool stalled = iteration > 3 && residual < k_rounding && residual > 0.5 * previous;
    if (residual <= config_.tolerance || stalled || iteration == config_.max_iterations ||
        !std::isfinite(residual)) {
      solution.residual = std::isfinite(residual) ? std::max(solution.residual, residual) : residual;
      return residual <= config_.tolerance || stalled;
    }
    previous = residual;
    if (!factorize(problem, with_friction, scratch)) return false;
    scratch.direction = -scratch.gradient;
    scratch.factor.solveInPlace(scratch.direction);
    v += line_search(problem, with_friction, v, scratch) * scratch.direction;
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
    if (pass > 0) friction_bounds(problem, solution.passes[pass - 1], scratch);
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
    if (with_friction) friction_bounds(problem, solution.passes[pass - 1], scratch);
    gradient(problem, with_friction, v, scratch);
    factorize(problem, with_friction, scratch);
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
      const Vec3<double> u_w = relative_velocity(row, w), &u = scratch.u[i], &n_W = row.n;

      // u_w . (gamma_n n)
      const double u_w_n = n_W.dot(u_w);
      const NormalImpulse gamma = smooth_coulomb::normal_impulse_derivatives(n_W.dot(u), c, settings_);
      row_bar.n += gamma.value * u_w;
      normal_impulse_vjp(gamma, u_w_n, u, row_bar, material_bar);
      add_arm_bar(row, gamma.value * n_W, w, row_bar);
      add_arm_bar(row, u_w_n * gamma.d_velocity * n_W, v, row_bar);
      if (!with_friction) continue;

      // u_w . gamma_t
      const Friction friction(u, n_W, settings_.stiction_speed);
      const double bound = scratch.bounds[i];
      const Friction::Bar friction_bar = friction.vjp(bound, u, u_w);
      row_bar.n += friction_bar.n;
      add_arm_bar(row, friction.impulse(bound), w, row_bar);
      add_arm_bar(row, friction_bar.u, v, row_bar);

      // b = mu gamma_n of the pass before
      const Eigen::VectorXd& v_before = solution.passes[pass - 1];
      const Vec3<double> u_before = relative_velocity(row, v_before);
      const NormalImpulse before =
          smooth_coulomb::normal_impulse_derivatives(n_W.dot(u_before), c, settings_);
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
  SolverScratch scratch;
  prepare(problem, scratch);
  const bool with_friction = solution.passes.size() > 1;
  if (with_friction) friction_bounds(problem, solution.passes[solution.passes.size() - 2], scratch);
  impulses.resize(problem.rows.rows.size());
  for (std::size_t i = 0; i < impulses.size(); ++i) {
    const ContactRow& row = problem.rows.rows[i];
    const Vec3<double> u = relative_velocity(row, solution.velocity());
    double value, slope;
    smooth_coulomb::normal_impulse(row.n.dot(u), scratch.targets[i], scratch.resistances[i], row.weight,
                                   settings_.velocity_smoothing, value, slope);
    impulses[i] = value * row.n;
    if (with_friction) impulses[i] += Friction(u, row.n, settings_.stiction_speed).impulse(scratch.bounds[i]);
  }
}

}  // namespace abut
