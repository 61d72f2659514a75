#include "dynamics/smooth_coulomb_solver.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "dynamics/contact_laws/friction.h"
#include "dynamics/convex_newton.h"
#include "dynamics/coupled_newton.h"
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

SmoothCoulombSolver::SmoothCoulombSolver(const StepConfig& config, double acceleration_scale, Without without)
    : config_(config),
      has_friction_(without != Without::friction),
      speed_scale_(acceleration_scale * config.h),
      settings_(smooth_coulomb_settings(config, speed_scale_)) {
  settings_.pushes_out = without != Without::push_out;
}

smooth_coulomb::Settings SmoothCoulombSolver::settings_of(const ContactProblem& problem) const {
  smooth_coulomb::Settings settings = settings_;
  settings.h = problem.h;
  return settings;
}

void SmoothCoulombSolver::prepare(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                                  SolverScratch& scratch) const {
  scratch.rows.assign(problem.rows);
  for (BlockPair& pair : scratch.rows.pairs) {
    if (!has_friction_) pair.friction = 0.0;
    chosen_kernels<RowKernels>().set_law(settings, pair.compliance, pair.dissipation_time,
                                         scratch.rows.of(pair));
  }
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

/// Reads the impulses that the solution left in the lanes.
void SmoothCoulombSolver::displace(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                                   SolverScratch& scratch, ContactSolution& solution) const {
  const Eigen::VectorXd& v = solution.velocity;
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
    const double bound = scratch.rows.pairs[p].friction * block.impulse[lane];
    const Vec3<double> impulse = impact.share * (block.impulse[lane] * row.n + friction.impulse(bound));
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
  solution.reset();
  const smooth_coulomb::Settings settings = settings_of(problem);
  prepare(problem, settings, scratch);
  solution.converged = solve_coupled(problem, settings, speed_scale_, config_.tolerance,
                                     config_.max_iterations, scratch, solution.velocity, solution);
  if (!solution.converged) solve_in_passes(problem, settings, scratch, solution);
  displace(problem, settings, scratch, solution);
}

void SmoothCoulombSolver::solve_in_passes(const ContactProblem& problem,
                                          const smooth_coulomb::Settings& settings, SolverScratch& scratch,
                                          ContactSolution& solution) const {
  constexpr int k_passes_with_friction = 2;
  Eigen::VectorXd& v = solution.velocity;
  v = problem.v_free;
  MomentumBalance balance(problem, settings, speed_scale_, scratch);
  for (int pass = 0; pass <= k_passes_with_friction; ++pass) {
    if (pass > 0) scratch.rows.set_bounds();
    (void)minimise(balance, pass == 0 ? RowLaw::frictionless : RowLaw::bounded, config_.tolerance,
                   config_.max_iterations, v, solution);
  }
}

/// Leaves A, factorized, in scratch.jacobian.
void SmoothCoulombSolver::linearize(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                                    const Eigen::VectorXd& v, SolverScratch& scratch) const {
  prepare(problem, settings, scratch);
  MomentumBalance balance(problem, settings, speed_scale_, scratch);
  balance.evaluate(v, RowLaw::coupled);
  if (!balance.factorize_coupled(v)) throw std::logic_error("a step that is not finite has no derivative");
}

namespace {

/// What is known of a row only after all that depends on it has been seen.
struct RowSums {
  ContactRowBar& row;
  PairMaterialBar& material;
  impact::ImpactBar& impact;
  double& h;

  /// By what the normal impulse is made of, the velocity and the normal apart.
  void add(const RowImpulse::Bar& by) {
    const NormalImpulse& gamma = by.normal;
    const double impulse_bar = by.normal_impulse;
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

PairImpulseBar impulse_bar_of(const BlockPair& pair, const Eigen::VectorXd& v, const Eigen::VectorXd& w) {
  PairImpulseBar bar;
  bar.friction = pair.friction;
  Eigen::Map<Vec6<double>>{bar.V} = relative_twist(pair, v);
  Eigen::Map<Vec6<double>>{bar.W} = relative_twist_change(pair, w);
  const Eigen::VectorXd* const velocities[2] = {&v, &w};
  for (int k = 0; k < 2; ++k) {
    const auto turn = [&](int slot) {
      return slot < 0 ? Vec3<double>::Zero().eval() : velocities[k]->segment<3>(6 * slot).eval();
    };
    Eigen::Map<Vec3<double>>{bar.turn_A[k]} = turn(pair.slot_A);
    Eigen::Map<Vec3<double>>{bar.turn_B[k]} = turn(pair.slot_B);
  }
  return bar;
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
  const Eigen::VectorXd& v = solution.velocity;
  linearize(problem, settings, v, scratch);
  std::vector<impact::ImpactBar>& impact_bar = scratch.impact_bars;
  impact_bar.assign(n, {});
  prepare_row_bars(problem, scratch);

  // delta_bar . delta = sum s gamma . (t_c J y + c J y'),   y = -M^-1 delta_bar,   y' = y without rotations
  const bool displaces = solution.displacement.size() > 0;
  const auto displaces_by = [&](std::size_t i) { return displaces && impact_of_row(scratch, i).hit; };
  Eigen::VectorXd &w = scratch.multiplier, &y = scratch.shift_turn, &y_translation = scratch.shift;
  w = solution_bar.velocity;
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
  const auto displacing = [&](const RowImpulse& law) -> Vec3<double> {
    return law.impact.share * (law.impact.time * relative_change(law.row, y) +
                               problem.lag.time * relative_change(law.row, y_translation));
  };
  for (std::size_t i = 0; displaces && i < n; ++i) {  // by the velocity
    if (!displaces_by(i)) continue;
    const RowImpulse law(problem, settings, scratch, i);
    add_impulse(law.row, law.vjp(relative_velocity(law.row, v), displacing(law)).u, w);
  }

  scratch.jacobian.solve_transposed_in_place(w);
  mass_vjp(problem, w, v, bar);
  problem.joints.vjp(v, w, bar.joints);
  problem.mass.multiply(w, scratch.momentum);
  bar.v_free += scratch.momentum;
  for (std::size_t p = 0; p < scratch.rows.pairs.size(); ++p) {
    const BlockPair& pair = scratch.rows.pairs[p];
    PairImpulseBar of_pair = impulse_bar_of(pair, v, w);
    chosen_kernels<RowKernels>().impulse_vjp(settings, of_pair, scratch.rows.of(pair),
                                             row_bars_of(pair, scratch));
    if (has_friction_) bar.pairs[p].friction += of_pair.friction_bar;
  }
  for (std::size_t i = 0; i < scratch.impacts.size(); ++i) {
    if (scratch.impacts[i].share == 0.0) continue;
    const RowImpulse law(problem, settings, scratch, i);
    const ContactRow& row = law.row;
    ContactRowBar& row_bar = bar.rows[i];
    const Vec3<double> u = relative_velocity(row, v);
    Vec3<double> u_w = relative_change(row, w);
    if (displaces_by(i)) u_w += displacing(law);

    // u_w . gamma
    const RowImpulse::Bar by = law.vjp(u, u_w);
    row_bar.n += by.n;
    RowSums{row_bar, bar.pairs[static_cast<std::size_t>(row.pair)], impact_bar[i], bar.h}.add(by);
    if (has_friction_) bar.pairs[static_cast<std::size_t>(row.pair)].friction += by.friction;
    add_velocity_bar(row, by.u, v, row_bar);
    add_arm_bar(row, by.impulse, w, row_bar);
    if (!displaces_by(i)) continue;
    const impact::Impact& impact = law.impact;
    const Vec3<double> u_turn = relative_change(row, y), u_shift = relative_change(row, y_translation);
    add_arm_bar(row, impact.share * impact.time * by.impulse, y, row_bar);
    impact_bar[i].share += by.impulse.dot(impact.time * u_turn + problem.lag.time * u_shift);
    impact_bar[i].time += impact.share * by.impulse.dot(u_turn);
    bar.h += problem.lag.by_h * impact.share * by.impulse.dot(u_shift);
  }
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
    const auto by_velocity = [&](double u_n_bar, const Eigen::VectorXd& at, Eigen::VectorXd& at_bar) {
      row_bar.n += u_n_bar * relative_velocity(row, at);
      add_velocity_bar(row, u_n_bar * row.n, at, row_bar);
      add_impulse(row, u_n_bar * row.n, at_bar);
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
    impulses[i] = law.impulse(relative_velocity(row, solution.velocity));
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
