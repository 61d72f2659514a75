/// The way back of the smooth Coulomb solver, by the implicit function theorem.
#include <algorithm>
#include <span>
#include <vector>

#include "dynamics/solver/smooth_coulomb_solver.h"
#include "engine/instruction_set.h"

namespace abut {
namespace {

/// What is known of a row only after all that depends on it has been seen.
struct RowSums {
  ContactRowBar& row;
  PairMaterialBar& material;
  impact::ImpactBar& impact;
  double& h;

  /// By what the normal impulse is made of, the velocity and the normal apart.
  void add(const RowImpulse::Bar& by) {
    const smooth_coulomb::NormalImpulse& gamma = by.normal;
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

/// Twists [w; v] of the multiplier w.
struct MultiplierTwists {
  Vec6<double> relative;        ///< of B, about the pair's centre
  Vec3<double> turn_A, turn_B;  ///< angular velocities of A and of B, 0 if fixed

  MultiplierTwists(const BlockPair& pair, const GrowableVector& w)
      : relative(relative_twist_change(pair, w)),
        turn_A(turn_of(pair.slot_A, w)),
        turn_B(turn_of(pair.slot_B, w)) {}
  /// Of one body.
  MultiplierTwists(const BlockPair& pair, const Vec6<double>& W)
      : relative(W), turn_A(Vec3<double>::Zero()), turn_B(Vec3<double>::Zero()) {
    if (pair.slot_B >= 0) {
      turn_B = W.head<3>();
    } else {
      turn_A = -W.head<3>();
    }
  }

  [[nodiscard]] static Vec3<double> turn_of(int slot, const GrowableVector& velocities) {
    if (slot < 0) return Vec3<double>::Zero();
    return velocities.segment<3>(6 * slot);
  }
};

/// Of the rows of a pair that are no impacts; adds to their bars and the pair's. Returns the sum of their
/// impulses on B.
Vec3<double> pair_rows_vjp(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                           const SmoothCoulombRows& rows, std::size_t p, const GrowableVector& v,
                           const MultiplierTwists& w, bool has_friction, SmoothCoulombMemory& memory,
                           ContactProblemBar& bar) {
  const BlockPair& pair = rows.blocks.pairs[p];
  const RowPair& of_rows = problem.rows.pairs[p];
  const std::span<const RowBlock> blocks = rows.blocks.of(pair);
  std::vector<RowBarBlock>& bars = memory.row_bars;
  bars.assign(blocks.size(), RowBarBlock{});
  for (RowBarBlock& block : bars) std::fill(block.is_smooth, std::end(block.is_smooth), 1.0);
  for (int i = of_rows.begin; i < of_rows.end && !rows.impacts.empty(); ++i) {
    const int row = i - of_rows.begin;
    if (rows.impacts[at(i)].share != 0.0) bars[at(row / k_row_lanes)].is_smooth[row % k_row_lanes] = 0.0;
  }

  PairImpulseBar impulses;
  impulses.friction = pair.friction;
  Eigen::Map<Vec6<double>>{impulses.V} = relative_twist(pair, v);
  Eigen::Map<Vec6<double>>{impulses.W} = w.relative;
  Eigen::Map<Vec3<double>>{impulses.turn_A[0]} = MultiplierTwists::turn_of(pair.slot_A, v);
  Eigen::Map<Vec3<double>>{impulses.turn_B[0]} = MultiplierTwists::turn_of(pair.slot_B, v);
  Eigen::Map<Vec3<double>>{impulses.turn_A[1]} = w.turn_A;
  Eigen::Map<Vec3<double>>{impulses.turn_B[1]} = w.turn_B;
  const RowKernels& kernels = chosen_kernels<RowKernels>();
  kernels.impulse_vjp(settings, impulses, blocks, bars);
  PairLawBar law;
  kernels.law_vjp(settings, pair.compliance, pair.dissipation_time, blocks, bars, law);

  PairMaterialBar& material = bar.pairs[p];
  if (has_friction) material.friction += impulses.friction_bar;
  material.compliance += law.compliance;
  material.dissipation_time += law.dissipation_time;
  bar.h += law.h;
  for (int i = of_rows.begin; i < of_rows.end; ++i) {
    const int row = i - of_rows.begin, lane = row % k_row_lanes;
    const RowBarBlock& block = bars[at(row / k_row_lanes)];
    ContactRowBar& to = bar.rows[at(i)];
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
  return Eigen::Map<const Vec3<double>>(impulses.impulse);
}

/// What w contributes beside the rows.
void balance_vjp(const ContactProblem& problem, const GrowableVector& w, const GrowableVector& v,
                 GrowableVector& momentum, ContactProblemBar& bar) {
  mass_vjp(problem, w, v, bar);
  problem.joints.vjp(v, w, bar.joints);
  problem.mass.multiply(w, momentum);
  bar.v_free += momentum;
}

}  // namespace

void SmoothCoulombSolver::vjp(const ContactProblem& problem, const ContactSolution& solution,
                              const SolutionLinearization& linearization, const EndMotionBar& solution_bar,
                              SolverMemory& any_memory, ContactProblemBar& bar) const {
  const auto& at = static_cast<const SmoothCoulombLinearization&>(linearization);
  const SmoothCoulombRows& rows = at.rows;
  auto& memory = static_cast<SmoothCoulombMemory&>(any_memory);
  const std::size_t n = problem.rows.rows.size();
  const smooth_coulomb::Settings settings = settings_of(problem);
  const GrowableVector& v = solution.velocity;
  std::vector<impact::ImpactBar>& impact_bar = memory.impact_bars;
  impact_bar.assign(rows.impacts.empty() ? 0 : n, {});

  // delta_bar . delta = sum s gamma . (t_c J y + c J y'),   y = -M^-1 delta_bar,   y' = y without rotations
  // Where joints answer an impact it acts from the start on, whatever other islands do.
  const bool displaces = solution.displacement.size() > 0 && problem.joints.empty();
  const auto displaces_by = [&](std::size_t i) { return displaces && rows.impact(i).hit; };
  GrowableVector &w = memory.multiplier, &y = memory.shift_turn, &y_translation = memory.shift;
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
    const RowImpulse law(problem, settings, rows, i);
    add_impulse(law.row, law.vjp(relative_velocity(law.row, v), displacing(law)).u, w);
  }

  at.jacobian.solve_transposed_in_place(w);
  balance_vjp(problem, w, v, memory.momentum, bar);
  for (std::size_t p = 0; p < rows.blocks.pairs.size(); ++p)
    (void)pair_rows_vjp(problem, settings, rows, p, v, MultiplierTwists(rows.blocks.pairs[p], w),
                        has_friction_, memory, bar);
  for (std::size_t i = 0; i < rows.impacts.size(); ++i) {
    if (rows.impacts[i].share == 0.0) continue;
    const RowImpulse law(problem, settings, rows, i);
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
  for (std::size_t i = 0; i < rows.impacts.size(); ++i) {
    const impact::Impact& impact = rows.impacts[i];
    if (impact.share == 0.0) continue;
    const ContactRow& row = problem.rows.rows[i];
    PairMaterialBar& material_bar = bar.pairs[static_cast<std::size_t>(row.pair)];
    const impact::Settings of_impact = impact_settings(problem, settings);
    if (impact.hit && row.is_moved()) {  // as impact_of_row()
      const RowApproach approach(problem, i, row);
      const impact::TargetBar by =
          impact::target_vjp(approach.value, of_impact, impact.time, impact.target, impact_bar[i].target);
      approach.vjp(by.approach, bar.rows[i], material_bar, bar);
      bar.rows[i].impact_time += impact_bar[i].time + by.time;
      impact_bar[i].time = impact_bar[i].target = 0.0;
    }
    const RowApproach approach(problem, i, problem.start_row(i));
    approach.vjp(impact::impact_vjp(approach.value, of_impact, impact, impact_bar[i]), bar.start_row(i),
                 material_bar, bar);
  }
}

bool SmoothCoulombSolver::has_pair_vjp(const SolutionLinearization& linearization) const {
  return static_cast<const SmoothCoulombLinearization&>(linearization).rows.impacts.empty();
}

void SmoothCoulombSolver::multiplier_vjp(const ContactProblem& problem, const ContactSolution& solution,
                                         const SolutionLinearization& linearization,
                                         const EndMotionBar& solution_bar, SolverMemory& memory,
                                         ContactProblemBar& bar, GrowableVector& w) const {
  w = solution_bar.velocity;
  static_cast<const SmoothCoulombLinearization&>(linearization).jacobian.solve_transposed_in_place(w);
  balance_vjp(problem, w, solution.velocity, static_cast<SmoothCoulombMemory&>(memory).momentum, bar);
}

Vec3<double> SmoothCoulombSolver::pair_vjp(const ContactProblem& problem, const ContactSolution& solution,
                                           const SolutionLinearization& linearization, std::size_t pair,
                                           const Vec6<double>& W, SolverMemory& memory,
                                           ContactProblemBar& bar) const {
  const SmoothCoulombRows& rows = static_cast<const SmoothCoulombLinearization&>(linearization).rows;
  return pair_rows_vjp(problem, settings_of(problem), rows, pair, solution.velocity,
                       MultiplierTwists(rows.blocks.pairs[pair], W), has_friction_,
                       static_cast<SmoothCoulombMemory&>(memory), bar);
}

}  // namespace abut
