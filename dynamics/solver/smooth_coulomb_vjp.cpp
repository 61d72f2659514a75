/// The way back of the smooth Coulomb solver, by the implicit function theorem.
#include <algorithm>
#include <span>
#include <vector>

#include "dynamics/solver/linear_solve.h"
#include "dynamics/solver/smooth_coulomb_solver.h"
#include "engine/instruction_set.h"

namespace abut {
namespace {

/// What is known of a row only after all that depends on it has been seen.
struct RowSums {
  ContactRowBar& row;
  PairMaterialBar& material;

  /// By what the normal impulse is made of, the velocity and the normal apart.
  void add(const RowImpulse::Bar& by) {
    const smooth_coulomb::NormalImpulse& gamma = by.normal;
    const double impulse_bar = by.normal_impulse;
    row.distance += impulse_bar * gamma.d_distance;
    row.weight += impulse_bar * gamma.d_weight;
    row.inverse_mass += impulse_bar * gamma.d_inverse_mass;
    material.compliance += impulse_bar * gamma.d_compliance;
    material.dissipation_time += impulse_bar * gamma.d_dissipation_time;
    row.answers += impulse_bar * gamma.d_answers;
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

/// Of the ordinary rows of a pair; adds to their bars and the pair's. Returns the sum of their
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
  for (int i = of_rows.begin; i < of_rows.end && !rows.are_ordinary; ++i) {
    const int row = i - of_rows.begin;
    if (!problem.rows.rows[at(i)].is_ordinary())
      bars[at(row / k_row_lanes)].is_smooth[row % k_row_lanes] = 0.0;
  }

  PairImpulseBar impulses;
  impulses.friction = pair.friction;
  Eigen::Map<Vec6<double>>{impulses.V} = relative_twist(pair, v);
  Eigen::Map<Vec6<double>>{impulses.W} = w.relative;
  Eigen::Map<Vec3<double>>{impulses.turning} = pair.turning;
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

}  // namespace

void SmoothCoulombSolver::vjp(const ContactProblem& problem, const ContactSolution& solution,
                              const SolutionLinearization& linearization, const EndMotionBar& solution_bar,
                              SolverMemory& any_memory, ContactProblemBar& bar) const {
  const auto& at = static_cast<const SmoothCoulombLinearization&>(linearization);
  const SmoothCoulombRows& rows = at.rows;
  auto& memory = static_cast<SmoothCoulombMemory&>(any_memory);
  const smooth_coulomb::Settings settings = settings_of(problem);
  const GrowableVector& v = solution.velocity;
  GrowableVector& w = memory.multiplier;
  w = solution_bar.velocity;
  solve_vjp(problem, at.jacobian, at.reaction, v, w, bar);
  balance_vjp(problem, w, v, memory.momentum, bar);
  for (std::size_t p = 0; p < rows.blocks.pairs.size(); ++p)
    (void)pair_rows_vjp(problem, settings, rows, p, v, MultiplierTwists(rows.blocks.pairs[p], w),
                        has_friction_, memory, bar);
  if (rows.are_ordinary) return;
  for (std::size_t i = 0; i < problem.rows.rows.size(); ++i) {
    if (problem.rows.rows[i].is_ordinary()) continue;
    const RowImpulse law(problem, settings, rows, i);
    const ContactRow& row = law.row;
    ContactRowBar& row_bar = bar.rows[i];
    PairMaterialBar& material_bar = bar.pairs[static_cast<std::size_t>(row.pair)];
    const Vec3<double> u = relative_velocity(row, v), u_w = relative_change(row, w);

    // u_w . gamma
    const RowImpulse::Bar by = law.vjp(u, u_w);
    row_bar.n += by.n;
    RowSums{row_bar, material_bar}.add(by);
    if (has_friction_) material_bar.friction += by.friction;
    add_velocity_bar(row, by.u, v, row_bar);
    add_arm_bar(row, by.impulse, w, row_bar);
    if (!row.hits) continue;
    const ImpactTargetSlopes slopes(problem, row, settings.impact_speed);
    const double target_bar = by.normal_impulse * by.normal.d_target;
    row_bar.rebound += slopes.by_rebound * target_bar;
    row_bar.settle += slopes.by_settle * target_bar;
  }
}

bool SmoothCoulombSolver::has_pair_vjp(const SolutionLinearization& linearization) const {
  return static_cast<const SmoothCoulombLinearization&>(linearization).rows.are_ordinary;
}

void SmoothCoulombSolver::multiplier_vjp(const ContactProblem& problem, const ContactSolution& solution,
                                         const SolutionLinearization& linearization,
                                         const EndMotionBar& solution_bar, SolverMemory& memory,
                                         ContactProblemBar& bar, GrowableVector& w) const {
  const auto& at = static_cast<const SmoothCoulombLinearization&>(linearization);
  w = solution_bar.velocity;
  solve_vjp(problem, at.jacobian, at.reaction, solution.velocity, w, bar);
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
