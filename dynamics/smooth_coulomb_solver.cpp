#include "dynamics/smooth_coulomb_solver.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "dynamics/contact_laws/friction.h"
#include "dynamics/convex_newton.h"
#include "dynamics/smooth_coulomb_row.h"
#include "engine/instruction_set.h"

namespace abut {

using smooth_coulomb::NormalImpulse;
using smooth_coulomb::Parameters;

namespace {

bool may_have_impacts(const ContactProblem& problem, const RowPair& pair) {
  return problem.impacts != ContactProblem::Impacts::with_restitution || pair.material.restitution > 0.0;
}

/// Open contacts are no impacts of a substep that ends where the first of them closes.
bool is_left_for_later(const ContactProblem& problem, const ContactRow& row) {
  return problem.impacts == ContactProblem::Impacts::closed && row.distance > 0.0;
}

}  // namespace

smooth_coulomb::Settings smooth_coulomb_settings(const StepConfig& config, double speed_scale) {
  smooth_coulomb::Settings s;
  s.h = config.h;
  s.near_rigid =
      config.near_rigid_factor * config.near_rigid_factor / (4.0 * std::numbers::pi * std::numbers::pi);
  s.velocity_smoothing = config.normal_smoothing_factor * speed_scale;
  s.stiction_speed = config.stiction_factor * speed_scale;
  s.push_out_speed = config.push_out_factor * speed_scale;
  s.impact_speed = std::max(config.impact_speed, 3.0 * speed_scale);
  return s;
}

Parameters smooth_coulomb_parameters(const ContactRows& rows, std::size_t i) {
  const ContactRow& row = rows.rows[i];
  const PairMaterial& material = rows.pairs[static_cast<std::size_t>(row.pair)].material;
  return {row.distance, row.weight, row.inverse_mass, material.compliance, material.dissipation_time};
}

SmoothCoulombSolver::SmoothCoulombSolver(const StepConfig& config, double acceleration_scale, bool pushes_out)
    : config_(config),
      speed_scale_(acceleration_scale * config.h),
      settings_(smooth_coulomb_settings(config, speed_scale_)) {
  settings_.pushes_out = pushes_out;
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
    chosen_kernels<RowKernels>().set_law(settings, pair.compliance, pair.dissipation_time,
                                         scratch.rows.of(pair));
  prepare_impacts(problem, settings, scratch);
}

void SmoothCoulombSolver::prepare_impacts(const ContactProblem& problem,
                                          const smooth_coulomb::Settings& settings, SolverScratch& scratch) {
  scratch.impacts.clear();
  for (std::size_t p = 0; p < problem.rows.pairs.size(); ++p) {
    const RowPair& pair = problem.rows.pairs[p];
    if (!may_have_impacts(problem, pair)) continue;
    scratch.impacts.resize(problem.rows.rows.size());
    for (int r = pair.begin; r < pair.end; ++r) {
      const auto i = static_cast<std::size_t>(r);
      impact::Impact& impact = scratch.impacts[i];
      impact = impact::make_impact(approach_of_row(problem, problem.rows.rows[i]),
                                   impact_settings(problem, settings));
      if (is_left_for_later(problem, problem.rows.rows[i])) impact = {false, impact.share};
      if (impact.share == 0.0) continue;
      const smooth_coulomb::NormalLaw law =
          smooth_coulomb::normal_law(smooth_coulomb_parameters(problem.rows, i), settings, impact);
      const auto [block, lane] = scratch.rows.place(pair, p, r);
      block.target[lane] = law.target;
      block.scale[lane] = law.scale;
      block.width[lane] = law.width;
    }
  }
}

/// Reads the impulses that the last pass left in the lanes.
void SmoothCoulombSolver::displace(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                                   SolverScratch& scratch, ContactSolution& solution) const {
  const Eigen::VectorXd& v = solution.velocity();
  const bool is_free = problem.joints.empty();  // joints answer an impact: it then acts from the start on
  for (std::size_t i = 0; i < scratch.impacts.size(); ++i) {
    const impact::Impact& impact = scratch.impacts[i];
    if (!impact.hit) continue;
    if (solution.impact_row < 0 && is_free) scratch.impulse.setZero(problem.mass.size());
    if (solution.impact_row < 0 || impact.time < solution.impact_time) {
      solution.impact_row = static_cast<int>(i);
      solution.impact_time = impact.time;
    }
    if (!is_free) continue;
    const ContactRow& row = problem.rows.rows[i];
    const auto p = static_cast<std::size_t>(row.pair);
    const auto [block, lane] = scratch.rows.place(problem.rows.pairs[p], p, static_cast<int>(i));
    const Friction friction(relative_velocity(row, v), row.n, settings.stiction_speed);
    const Vec3<double> impulse =
        impact.share * (block.impulse[lane] * row.n + friction.impulse(block.bound[lane]));
    add_impulse(row, -impact.time * impulse, scratch.impulse);
    const auto add_force = [&](int slot, double sign) {
      if (slot >= 0) scratch.impulse.segment<3>(6 * slot + 3) -= sign * problem.lag.time * impulse;
    };
    add_force(row.slot_B, 1.0);
    add_force(row.slot_A, -1.0);
  }
  if (solution.impact_row >= 0 && is_free) problem.mass.solve(scratch.impulse, solution.displacement);
}

void SmoothCoulombSolver::solve(const ContactProblem& problem, SolverScratch& scratch,
                                ContactSolution& solution) const {
  const auto passes = static_cast<std::size_t>(pass_count());
  solution.reset(passes);
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
    if (!warm) {
      v = pass == 0 ? problem.v_free : solution.passes[pass - 1];
    } else if (pass > 0 && solution.iterations <= static_cast<int>(pass)) {
      // Near rest what the pass before got wrong is wrong here too; where bodies slide it says little.
      v = scratch.previous_passes[pass] + solution.passes[pass - 1] - scratch.previous_passes[pass - 1];
    } else {
      v = scratch.previous_passes[pass] + problem.v_start - scratch.previous_start;
    }
    if (pass > 0) scratch.rows.set_bounds();
    ConvexNewton newton(problem, settings, law_of_pass(pass), speed_scale_, scratch);
    solution.converged =
        newton.minimise(config_.tolerance, config_.max_iterations, v, solution) && solution.converged;
  }
  displace(problem, settings, scratch, solution);
}

namespace {

/// What is known of a row only after all that depends on it has been seen.
struct RowSums {
  ContactRowBar& row;
  PairMaterialBar& material;
  impact::ImpactBar& impact;
  double& h;

  /// Adds impulse_bar * d(gamma_n)/d(everything but the lever arms) at relative velocity u.
  void add_normal_impulse(const NormalImpulse& gamma, double impulse_bar, const Vec3<double>& u) {
    row.n += impulse_bar * gamma.d_velocity * u;
    row.distance += impulse_bar * gamma.d_distance;
    row.weight += impulse_bar * gamma.d_weight;
    row.inverse_mass += impulse_bar * gamma.d_inverse_mass;
    material.compliance += impulse_bar * gamma.d_compliance;
    material.dissipation_time += impulse_bar * gamma.d_dissipation_time;
    impact.share += impulse_bar * gamma.d_impact.share;
    impact.target += impulse_bar * gamma.d_impact.target;
    h += impulse_bar * gamma.d_h;
  }
};

/// Of the rows that act as one; impacts are differentiated one by one.
std::span<RowBarBlock> row_bars_of(const BlockPair& pair, SolverScratch& scratch) {
  return std::span(scratch.row_bars)
      .subspan(static_cast<std::size_t>(pair.begin), static_cast<std::size_t>(pair.end - pair.begin));
}

void prepare_row_bars(const ContactProblem& problem, SolverScratch& scratch) {
  scratch.row_bars.assign(scratch.rows.blocks.size(), RowBarBlock{});
  for (RowBarBlock& block : scratch.row_bars) std::fill(block.is_smooth, std::end(block.is_smooth), 1.0);
  for (std::size_t i = 0; i < scratch.impacts.size(); ++i) {
    if (scratch.impacts[i].share == 0.0) continue;
    const auto p = static_cast<std::size_t>(problem.rows.rows[i].pair);
    const int row = static_cast<int>(i) - problem.rows.pairs[p].begin;
    row_bars_of(scratch.rows.pairs[p], scratch)[static_cast<std::size_t>(row / k_row_lanes)]
        .is_smooth[row % k_row_lanes] = 0.0;
  }
}

RowPassBar pass_of(const BlockPair& pair, const Eigen::VectorXd& v, const Eigen::VectorXd& v_before,
                   const Eigen::VectorXd& w, bool has_friction) {
  RowPassBar pass;
  pass.friction = pair.friction;
  pass.has_friction = has_friction;
  const Eigen::VectorXd* const velocities[3] = {&v, &v_before, &w};
  double* const twists[3] = {pass.V, pass.V_before, pass.W};
  for (int k = 0; k < 3; ++k) {
    const bool is_change = k == 2;
    Eigen::Map<Vec6<double>>{twists[k]} =
        is_change ? relative_twist_change(pair, *velocities[k]) : relative_twist(pair, *velocities[k]);
    const auto turn = [&](int slot) {
      return slot < 0 ? Vec3<double>::Zero().eval() : velocities[k]->segment<3>(6 * slot).eval();
    };
    Eigen::Map<Vec3<double>>{pass.turn_A[k]} = turn(pair.slot_A);
    Eigen::Map<Vec3<double>>{pass.turn_B[k]} = turn(pair.slot_B);
  }
  return pass;
}

void add_row_bars(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                  SolverScratch& scratch, ContactProblemBar& bar) {
  for (std::size_t p = 0; p < problem.rows.pairs.size(); ++p) {
    const BlockPair& pair = scratch.rows.pairs[p];
    const std::span<RowBarBlock> blocks = row_bars_of(pair, scratch);
    PairLawBar law;
    chosen_kernels<RowKernels>().law_vjp(settings, pair.compliance, pair.dissipation_time,
                                         scratch.rows.of(pair), blocks, law);
    bar.pairs[p].compliance += law.compliance;
    bar.pairs[p].dissipation_time += law.dissipation_time;
    bar.h += law.h;
    for (int i = problem.rows.pairs[p].begin; i < problem.rows.pairs[p].end; ++i) {
      const int row = i - problem.rows.pairs[p].begin, lane = row % k_row_lanes;
      const RowBarBlock& block = blocks[static_cast<std::size_t>(row / k_row_lanes)];
      ContactRowBar& to = bar.rows[static_cast<std::size_t>(i)];
      for (int k = 0; k < 3; ++k) {
        to.n[k] += block.n[k][lane];
        to.r_A[k] += block.r_A[k][lane];
        to.r_B[k] += block.r_B[k][lane];
        to.drift[k] += block.drift[k][lane];
      }
      to.distance += block.distance[lane];
      to.weight += block.weight[lane];
      to.inverse_mass += block.inverse_mass[lane];
    }
  }
}

}  // namespace

void SmoothCoulombSolver::vjp(const ContactProblem& problem, const ContactSolution& solution,
                              const EndMotionBar& solution_bar, SolverScratch& scratch,
                              ContactProblemBar& bar) const {
  const std::size_t n = problem.rows.rows.size();
  const smooth_coulomb::Settings settings = settings_of(problem);
  prepare(problem, settings, scratch);
  std::vector<impact::ImpactBar>& impact_bar = scratch.impact_bars;
  impact_bar.assign(n, {});
  Eigen::VectorXd &pass_bar = scratch.pass_bar, &w = scratch.multiplier, &w_total = scratch.multiplier_sum;
  pass_bar = solution_bar.velocity;
  w_total.setZero(pass_bar.size());
  prepare_row_bars(problem, scratch);

  // delta_bar . delta = sum s gamma . (t_c J y + c J y'),   y = -M^-1 delta_bar,   y' = y without rotations
  const bool displaces = solution.displacement.size() > 0;
  Eigen::VectorXd &y = scratch.shift_turn, &y_translation = scratch.shift;
  if (displaces) {
    problem.mass.solve(solution_bar.displacement, y);
    y = -y;
    y_translation = y;
    for (int s = 0; s < problem.mass.slot_count(); ++s) {
      const auto k = static_cast<std::size_t>(s);
      const auto delta = solution.displacement.segment<6>(6 * s);
      bar.inertia_W[k].noalias() += y.segment<3>(6 * s) * delta.head<3>().transpose();
      bar.mass[k] += y.segment<3>(6 * s + 3).dot(delta.tail<3>());
      y_translation.segment<3>(6 * s).setZero();
    }
  }

  for (std::size_t pass = solution.passes.size(); pass-- > 0;) {
    const bool with_friction = pass > 0;
    const Eigen::VectorXd& v = solution.passes[pass];
    const Eigen::VectorXd& v_before = solution.passes[with_friction ? pass - 1 : 0];
    if (with_friction) {
      ConvexNewton(problem, settings, RowLaw::frictionless, speed_scale_, scratch).evaluate(v_before);
      scratch.rows.set_bounds();
    }
    const bool acts_on_displacement = displaces && pass + 1 == solution.passes.size();
    const auto displaces_by = [&](std::size_t i) {
      return acts_on_displacement && impact_of_row(scratch, i).hit;
    };
    if (acts_on_displacement) {  // by the velocity of the last pass
      for (std::size_t i = 0; i < n; ++i) {
        if (!displaces_by(i)) continue;
        const RowImpulse law(problem, settings, scratch, i);
        const Vec3<double> u = relative_velocity(law.row, v),
                           u_y = law.impact.share *
                                 (law.impact.time * relative_change(law.row, y) +
                                  problem.lag.time * relative_change(law.row, y_translation));
        const NormalImpulse gamma = law.normal_impulse(u);
        const double bound =
            law.friction_coefficient * law.normal_impulse(relative_velocity(law.row, v_before)).value;
        const Friction friction(u, law.row.n, settings.stiction_speed);
        add_impulse(law.row,
                    gamma.d_velocity * law.row.n.dot(u_y) * law.row.n + friction.vjp(bound, u, u_y).u,
                    pass_bar);
      }
    }
    ConvexNewton newton(problem, settings, law_of_pass(pass), speed_scale_, scratch);
    newton.evaluate(v);
    if (!newton.factorize(v)) throw std::logic_error("a step that is not finite has no gradient");
    w = pass_bar;
    scratch.hessian.solve_in_place(w);
    w_total += w;
    mass_vjp(problem, w, v, bar);
    problem.joints.vjp(v, w, bar.joints);
    if (n == 0) break;  // no pass depends on the one before
    pass_bar.setZero();
    for (std::size_t p = 0; p < scratch.rows.pairs.size(); ++p) {
      const BlockPair& pair = scratch.rows.pairs[p];
      RowPassBar pass_of_pair = pass_of(pair, v, v_before, w, with_friction);
      chosen_kernels<RowKernels>().pass_vjp(settings, pass_of_pair, scratch.rows.of(pair),
                                            row_bars_of(pair, scratch));
      bar.pairs[p].friction += pass_of_pair.friction_bar;
      if (with_friction) add_wrench(pair, Eigen::Map<const Vec6<double>>(pass_of_pair.reaction), pass_bar);
    }
    for (std::size_t i = 0; i < scratch.impacts.size(); ++i) {
      if (scratch.impacts[i].share == 0.0) continue;
      const RowImpulse law(problem, settings, scratch, i);
      const ContactRow& row = law.row;
      const Vec3<double>& n_W = row.n;
      ContactRowBar& row_bar = bar.rows[i];
      RowSums sums{row_bar, bar.pairs[static_cast<std::size_t>(row.pair)], impact_bar[i], bar.h};
      const double mu = law.friction_coefficient;
      const Vec3<double> u = relative_velocity(row, v);
      Vec3<double> u_w = relative_change(row, w), u_turn = Vec3<double>::Zero(), u_shift = u_turn;
      if (displaces_by(i)) {
        u_turn = relative_change(row, y);
        u_shift = relative_change(row, y_translation);
        u_w += law.impact.share * (law.impact.time * u_turn + problem.lag.time * u_shift);
      }

      // u_w . (gamma_n n)
      const double u_w_n = n_W.dot(u_w);
      const NormalImpulse gamma = law.normal_impulse(u);
      Vec3<double> impulse = gamma.value * n_W;
      row_bar.n += gamma.value * u_w;
      sums.add_normal_impulse(gamma, u_w_n, u);
      add_velocity_bar(row, u_w_n * gamma.d_velocity * n_W, v, row_bar);
      if (with_friction) {
        // b = mu gamma_n of the pass before
        const Vec3<double> u_before = relative_velocity(row, v_before);
        const NormalImpulse before = law.normal_impulse(u_before);
        const double bound = mu * before.value;

        // u_w . gamma_t
        const Friction friction(u, n_W, settings.stiction_speed);
        const Friction::Bar friction_bar = friction.vjp(bound, u, u_w);
        impulse += friction.impulse(bound);
        row_bar.n += friction_bar.n;
        add_velocity_bar(row, friction_bar.u, v, row_bar);

        // ... by b
        sums.material.friction += before.value * friction_bar.bound;
        const double impulse_bar = mu * friction_bar.bound;
        sums.add_normal_impulse(before, impulse_bar, u_before);
        const Vec3<double> reaction = impulse_bar * before.d_velocity * n_W;
        add_velocity_bar(row, reaction, v_before, row_bar);
        add_impulse(row, reaction, pass_bar);
      }
      add_arm_bar(row, impulse, w, row_bar);
      if (!displaces_by(i)) continue;
      const impact::Impact& impact = law.impact;
      add_arm_bar(row, impact.share * impact.time * impulse, y, row_bar);
      impact_bar[i].share += impulse.dot(impact.time * u_turn + problem.lag.time * u_shift);
      impact_bar[i].time += impact.share * impulse.dot(u_turn);
      bar.h += problem.lag.by_h * impact.share * impulse.dot(u_shift);
    }
  }
  problem.mass.multiply(w_total, w);
  bar.v_free += w;
  add_row_bars(problem, settings, scratch, bar);

  for (std::size_t i = 0; i < scratch.impacts.size(); ++i) {
    const impact::Impact& impact = scratch.impacts[i];
    if (impact.share == 0.0) continue;
    const ContactRow& row = problem.rows.rows[i];
    ContactRowBar& row_bar = bar.rows[i];
    const impact::ApproachBar approach = impact::impact_vjp(
        approach_of_row(problem, row), impact_settings(problem, settings), impact, impact_bar[i]);
    row_bar.distance += approach.distance;
    bar.pairs[static_cast<std::size_t>(row.pair)].restitution += approach.restitution;
    bar.h += approach.h;
    const auto by_velocity = [&](double u_n_bar, const Eigen::VectorXd& v, Eigen::VectorXd& v_bar) {
      row_bar.n += u_n_bar * relative_velocity(row, v);
      add_velocity_bar(row, u_n_bar * row.n, v, row_bar);
      add_impulse(row, u_n_bar * row.n, v_bar);
    };
    by_velocity(approach.u_start, problem.v_start, bar.v_start);
    by_velocity(approach.u_free, problem.v_free, bar.v_free);
  }
}

void SmoothCoulombSolver::impulses(const ContactProblem& problem, const ContactSolution& solution,
                                   std::vector<Vec3<double>>& impulses) const {
  const smooth_coulomb::Settings settings = settings_of(problem);
  SolverScratch scratch;
  prepare(problem, settings, scratch);
  impulses.resize(problem.rows.rows.size());
  for (std::size_t i = 0; i < impulses.size(); ++i) {
    const RowImpulse law(problem, settings, scratch, i);
    const ContactRow& row = law.row;
    const Vec3<double> u = relative_velocity(row, solution.velocity());
    impulses[i] = law.normal_impulse(u).value * row.n;
    if (solution.passes.size() < 2) continue;
    const Eigen::VectorXd& v_before = solution.passes[solution.passes.size() - 2];
    const double bound =
        law.friction_coefficient * law.normal_impulse(relative_velocity(row, v_before)).value;
    impulses[i] += Friction(u, row.n, settings.stiction_speed).impulse(bound);
  }
}

int SmoothCoulombSolver::contacts_near_kink(const ContactProblem& problem, const ContactSolution&,
                                            std::vector<bool>& near_kink) const {
  constexpr double k_share = 1e-3;
  near_kink.assign(problem.rows.rows.size(), false);
  const impact::Settings settings = impact_settings(problem, settings_);
  for (const RowPair& pair : problem.rows.pairs) {
    if (!may_have_impacts(problem, pair)) continue;
    for (int r = pair.begin; r < pair.end; ++r) {
      const auto i = static_cast<std::size_t>(r);
      const ContactRow& row = problem.rows.rows[i];
      if (is_left_for_later(problem, row)) continue;
      const impact::Approach approach = approach_of_row(problem, row);
      const impact::Impact impact = impact::make_impact(approach, settings);
      if (impact.share == 0.0) continue;
      // Closed just by the end of the step, or just from its start on.
      const double near = k_share * problem.h * -approach.u_free;
      near_kink[i] = std::abs(impact::gap_at_end(approach, settings)) <= near ||
                     (impact.hit && std::abs(row.distance) <= near);
    }
  }
  return static_cast<int>(std::count(near_kink.begin(), near_kink.end(), true));
}

}  // namespace abut
