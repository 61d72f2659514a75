/// The way back of the smooth Coulomb solver, by the implicit function theorem.
#include <algorithm>

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

/// Of the rows that act as one; impacts are differentiated one by one.
std::span<RowBarBlock> row_bars_of(const BlockPair& pair, SmoothCoulombMemory& memory) {
  return std::span(memory.row_bars)
      .subspan(static_cast<std::size_t>(pair.begin), static_cast<std::size_t>(pair.end - pair.begin));
}

void prepare_row_bars(const ContactProblem& problem, const SmoothCoulombRows& rows,
                      SmoothCoulombMemory& memory) {
  memory.row_bars.assign(rows.blocks.blocks.size(), RowBarBlock{});
  for (RowBarBlock& block : memory.row_bars) std::fill(block.is_smooth, std::end(block.is_smooth), 1.0);
  for (std::size_t i = 0; i < rows.impacts.size(); ++i) {
    if (rows.impacts[i].share == 0.0) continue;
    const auto p = static_cast<std::size_t>(problem.rows.rows[i].pair);
    const int row = static_cast<int>(i) - problem.rows.pairs[p].begin;
    row_bars_of(rows.blocks.pairs[p], memory)[static_cast<std::size_t>(row / k_row_lanes)]
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
                  const SmoothCoulombRows& rows, SmoothCoulombMemory& memory, ContactProblemBar& bar) {
  for (std::size_t p = 0; p < problem.rows.pairs.size(); ++p) {
    const BlockPair& pair = rows.blocks.pairs[p];
    const std::span<RowBarBlock> blocks = row_bars_of(pair, memory);
    PairLawBar law;
    chosen_kernels<RowKernels>().law_vjp(settings, pair.compliance, pair.dissipation_time,
                                         rows.blocks.of(pair), blocks, law);
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
                              const SolutionLinearization& linearization, const EndMotionBar& solution_bar,
                              SolverMemory& any_memory, ContactProblemBar& bar) const {
  const auto& at = static_cast<const SmoothCoulombLinearization&>(linearization);
  const SmoothCoulombRows& rows = at.rows;
  auto& memory = static_cast<SmoothCoulombMemory&>(any_memory);
  const std::size_t n = problem.rows.rows.size();
  const smooth_coulomb::Settings settings = settings_of(problem);
  const Eigen::VectorXd& v = solution.velocity;
  std::vector<impact::ImpactBar>& impact_bar = memory.impact_bars;
  impact_bar.assign(n, {});
  prepare_row_bars(problem, rows, memory);

  // delta_bar . delta = sum s gamma . (t_c J y + c J y'),   y = -M^-1 delta_bar,   y' = y without rotations
  // Where joints answer an impact it acts from the start on, whatever other islands do.
  const bool displaces = solution.displacement.size() > 0 && problem.joints.empty();
  const auto displaces_by = [&](std::size_t i) { return displaces && rows.impact(i).hit; };
  Eigen::VectorXd &w = memory.multiplier, &y = memory.shift_turn, &y_translation = memory.shift;
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
  mass_vjp(problem, w, v, bar);
  problem.joints.vjp(v, w, bar.joints);
  problem.mass.multiply(w, memory.momentum);
  bar.v_free += memory.momentum;
  for (std::size_t p = 0; p < rows.blocks.pairs.size(); ++p) {
    const BlockPair& pair = rows.blocks.pairs[p];
    PairImpulseBar of_pair = impulse_bar_of(pair, v, w);
    chosen_kernels<RowKernels>().impulse_vjp(settings, of_pair, rows.blocks.of(pair),
                                             row_bars_of(pair, memory));
    if (has_friction_) bar.pairs[p].friction += of_pair.friction_bar;
  }
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
  add_row_bars(problem, settings, rows, memory, bar);

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

}  // namespace abut
