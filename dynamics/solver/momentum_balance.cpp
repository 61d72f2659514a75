#include "dynamics/solver/momentum_balance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/instruction_set.h"
#include "engine/lie.h"

namespace abut {

MomentumBalance::MomentumBalance(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                                 double speed_scale, RowBlocks& rows, NewtonMemory& memory,
                                 const NewtonConstants& constants)
    : problem_(problem), settings_(settings), rows_(rows), memory_(memory), constants_(constants) {
  problem.mass.multiply(problem.v_free, memory.momentum);
  momentum_scale_ =
      std::sqrt(memory.momentum.dot(problem.v_free) + problem.mass.total_mass() * speed_scale * speed_scale);
  memory.norm.update(problem.mass);
}

void MomentumBalance::evaluate(const GrowableVector& v, RowLaw law, const GrowableVector* v_before) {
  memory_.momentum = v - problem_.v_free;
  problem_.mass.multiply(memory_.momentum, memory_.gradient);
  for (const BlockPair& pair : rows_.pairs) {
    const Vec6<double> V = relative_twist(pair, v) - pair.carried;
    Vec6<double> wrench, V_before;
    RowKernelInput in = input(pair, law, V);
    if (v_before != nullptr) {
      V_before = relative_twist(pair, *v_before) - pair.carried;
      in.V_before = V_before.data();
    }
    chosen_kernels<RowKernels>().sum_impulses(in, rows_.of(pair), wrench.data());
    add_wrench(pair, -wrench, memory_.gradient);
  }
  problem_.joints.add_gradient(v, memory_.gradient);
}

namespace {

void set_blocks(const Mat3<double>& ww, const Mat3<double>& wv, const Mat3<double>& vw,
                const Mat3<double>& vv, Mat6<double>& block) {
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) {
      block(i, j) = ww(i, j);
      block(i, 3 + j) = wv(i, j);
      block(3 + i, j) = vw(i, j);
      block(3 + i, 3 + j) = vv(i, j);
    }
  }
}

}  // namespace

void MomentumBalance::find_blocks(const BlockPair& pair, RowLaw law, const Vec6<double>& V,
                                  PairBlocks& out) const {
  ResistanceSums sums;
  chosen_kernels<RowKernels>().sum_resistances(input(pair, law, V), rows_.of(pair), sums);
  const Eigen::Map<const Mat3<double>> S0(sums.S0), S1(sums.S1), T1(sums.T1), S2(sums.S2);
  // Of J = [-[r], I] about the pair's centre; B's arms are r + shift.
  set_blocks(S2, S1, -T1, S0, out.AA);
  if (!pair.both_move()) return;
  const Mat3<double> shift = skew<double>(pair.shift);
  const Mat3<double> S1_B = S1 + shift * S0, T1_B = T1 + S0 * shift, S2_BA = S2 - shift * T1,
                     S2_AB = S2 - S1 * shift;
  set_blocks(S2_BA - S1_B * shift, S1_B, -T1_B, S0, out.BB);
  set_blocks(-S2_BA, -S1_B, T1, -S0, out.BA);
  set_blocks(-S2_AB, -S1, T1_B, -S0, out.AB);
}

/// M and the diagonal blocks of pairs; add_pair(k, BA, AB) adds the blocks of the k-th coupling.
template <typename Matrix, typename AddPair>
void MomentumBalance::assemble(const GrowableVector& v, RowLaw law, bool multiplies, Matrix& matrix,
                               const AddPair& add_pair) {
  const MassMatrix& mass = problem_.mass;
  memory_.couplings.clear();
  for (const BlockPair& pair : rows_.pairs) {
    if (pair.both_move()) memory_.couplings.push_back({pair.slot_A, pair.slot_B});
  }
  for (const JointGroup& group : problem_.joints.groups) {
    problem_.joints.each_two(group, [&](int a, int b) { memory_.couplings.push_back({a, b}); });
  }
  matrix.reset(mass.slot_count(), memory_.couplings, mass.links(), multiplies);
  for (int s = 0; s < mass.slot_count(); ++s) matrix.diagonal(s) = mass.block(s);
  std::size_t coupling = 0;
  PairBlocks blocks;
  for (const BlockPair& pair : rows_.pairs) {
    find_blocks(pair, law, relative_twist(pair, v) - pair.carried, blocks);
    matrix.diagonal(pair.slot_A >= 0 ? pair.slot_A : pair.slot_B) += blocks.AA;
    if (!pair.both_move()) continue;
    matrix.diagonal(pair.slot_B) += blocks.BB;
    add_pair(coupling++, blocks.BA, blocks.AB);
  }
  for (const JointGroup& group : problem_.joints.groups) {
    problem_.joints.each_hessian_block(
        group, v, [&](int slot, const Mat6<double>& block) { matrix.diagonal(slot) += block; },
        [&](int, int, const Mat6<double>& block) { add_pair(coupling++, block, block.transpose()); });
  }
}

double MomentumBalance::rounding(const GrowableVector& v, RowLaw law) {
  constexpr double k_unit_roundoff = 0.5 * std::numeric_limits<double>::epsilon();
  const MassMatrix& mass = problem_.mass;
  GrowableVector& sizes = memory_.rounding;
  sizes.resize(mass.size());
  for (int s = 0; s < mass.slot_count(); ++s) {
    const auto size = [&](Eigen::Index k) -> Vec3<double> {
      return v.segment<3>(k).cwiseAbs() + problem_.v_free.segment<3>(k).cwiseAbs();
    };
    sizes.segment<3>(6 * s) = mass.inertia_W(s).cwiseAbs() * size(6 * s);
    sizes.segment<3>(6 * s + 3) = mass.mass(s) * size(6 * s + 3);
  }
  PairBlocks blocks;
  for (const BlockPair& pair : rows_.pairs) {
    find_blocks(pair, law, relative_twist(pair, v) - pair.carried, blocks);
    double turning = pair.drift.head<3>().norm() + pair.carried.head<3>().norm(),
           speed = pair.drift.tail<3>().norm() + pair.carried.tail<3>().norm() + pair.turning.norm(),
           target = 0.0;
    for (const int slot : {pair.slot_A, pair.slot_B}) {
      if (slot < 0) continue;
      turning += v.segment<3>(6 * slot).norm();
      speed += v.segment<3>(6 * slot + 3).norm();
    }
    if (pair.both_move()) speed += v.segment<3>(6 * pair.slot_B).norm() * pair.shift.norm();
    for (const RowBlock& block : rows_.of(pair)) {
      for (const double of_row : block.target) target = std::max(target, std::abs(of_row));
    }
    const Vec6<double> of_A = blocks.AA.diagonal().cwiseAbs();
    const double energy =
        std::sqrt(of_A.tail<3>().sum()) * (speed + target) + std::sqrt(of_A.head<3>().sum()) * turning;
    sizes.segment<6>(6 * (pair.slot_A >= 0 ? pair.slot_A : pair.slot_B)) += energy * of_A.cwiseSqrt();
    if (pair.both_move())
      sizes.segment<6>(6 * pair.slot_B) += energy * blocks.BB.diagonal().cwiseAbs().cwiseSqrt();
  }
  problem_.joints.add_gradient_sizes(v, sizes);
  // Of what joints do not allow as well: not less than the norm of residual().
  return k_unit_roundoff * mass.inverse_norm(sizes) / momentum_scale_;
}

bool MomentumBalance::factorize(const GrowableVector& v, RowLaw law, BlockCholesky& H, bool multiplies) {
  assemble(v, law, multiplies, H,
           [&](std::size_t k, const Mat6<double>& BA, const Mat6<double>&) { H.add_coupling(k, BA); });
  return H.factorize();
}

bool MomentumBalance::factorize_coupled(const GrowableVector& v, BlockLu& A, bool multiplies, RowLaw law) {
  assemble(v, law, multiplies, A,
           [&](std::size_t k, const Mat6<double>& BA, const Mat6<double>& AB) { A.add_coupling(k, BA, AB); });
  return A.factorize();
}

void MomentumBalance::set_direction(const GrowableVector& v, const GrowableVector& direction) {
  memory_.line_twists.clear();
  for (const BlockPair& pair : rows_.pairs)
    memory_.line_twists.push_back(
        {relative_twist(pair, v) - pair.carried, relative_twist_change(pair, direction)});
  line_start_ = &v;
  line_direction_ = &direction;
  problem_.mass.multiply(direction, memory_.mass_direction);
  line_constant_ = memory_.mass_direction.dot(v - problem_.v_free);
  line_linear_ = memory_.mass_direction.dot(direction);
}

LineSums MomentumBalance::along(double a, RowLaw law) {
  LineSums total{line_constant_ + a * line_linear_, line_linear_};
  std::size_t next = 0;
  for (const BlockPair& pair : rows_.pairs) {
    const auto& [V, dV] = memory_.line_twists[next++];
    LineSums sums;
    chosen_kernels<RowKernels>().sum_line(input(pair, law, V), dV.data(), a, rows_.of(pair), sums);
    total.slope += sums.slope;
    total.curvature += sums.curvature;
  }
  problem_.joints.add_line(*line_start_, *line_direction_, a, total.slope, total.curvature);
  return total;
}

double MomentumBalance::root_along(double low, double high, double slope_at_0, RowLaw law) {
  double a = 0.5 * (low + high);
  for (int k = 0; k < constants_.line_iterations && high - low > constants_.line_interval * high; ++k) {
    const LineSums at_a = along(a, law);
    if (std::abs(at_a.slope) <= constants_.line_slope * std::abs(slope_at_0)) break;
    (at_a.slope > 0.0 ? high : low) = a;
    a -= at_a.slope / at_a.curvature;
    if (!(a > low && a < high)) a = 0.5 * (low + high);
  }
  return a;
}

}  // namespace abut
