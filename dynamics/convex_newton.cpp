#include "dynamics/convex_newton.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/instruction_set.h"
#include "engine/lie.h"

namespace abut {

void ConvexNewton::evaluate(const Eigen::VectorXd& v) {
  scratch_.momentum = v - problem_.v_free;
  problem_.mass.multiply(scratch_.momentum, scratch_.gradient);
  for (const BlockPair& pair : scratch_.rows.pairs) {
    const Vec6<double> V = relative_twist(pair, v) - pair.carried;
    Vec6<double> wrench;
    chosen_kernels<RowKernels>().sum_impulses(input(pair, V), scratch_.rows.of(pair), wrench.data());
    add_wrench(pair, -wrench, scratch_.gradient);
  }
  problem_.joints.add_gradient(v, scratch_.gradient);
}

/// K summed up per pair about its centre.
bool ConvexNewton::factorize(const Eigen::VectorXd& v) {
  const MassMatrix& mass = problem_.mass;
  scratch_.couplings.clear();
  for (const BlockPair& pair : scratch_.rows.pairs) {
    if (pair.both_move()) scratch_.couplings.push_back({pair.slot_A, pair.slot_B});
  }
  problem_.joints.add_couplings(scratch_.couplings);
  BlockCholesky& H = scratch_.hessian;
  H.reset(mass.slot_count(), scratch_.couplings);
  for (int s = 0; s < mass.slot_count(); ++s) {
    H.diagonal(s).topLeftCorner<3, 3>() = mass.inertia_W(s);
    H.diagonal(s).bottomRightCorner<3, 3>().diagonal().setConstant(mass.mass(s));
  }
  std::size_t coupling = 0;
  for (const BlockPair& pair : scratch_.rows.pairs) {
    const Vec6<double> V = relative_twist(pair, v) - pair.carried;
    ResistanceSums sums;
    chosen_kernels<RowKernels>().sum_resistances(input(pair, V), scratch_.rows.of(pair), sums);
    const Eigen::Map<const Mat3<double>> S0(sums.S0), S1(sums.S1), S2(sums.S2);
    const auto add_diagonal = [&](int slot, const Mat3<double>& ww, const Mat3<double>& wv) {
      Mat6<double>& block = H.diagonal(slot);
      block.topLeftCorner<3, 3>() += ww;
      block.bottomLeftCorner<3, 3>() += wv.transpose();
      block.bottomRightCorner<3, 3>() += S0;
    };
    add_diagonal(pair.slot_A >= 0 ? pair.slot_A : pair.slot_B, S2, S1);
    if (!pair.both_move()) continue;
    const Mat3<double> shift = skew<double>(pair.shift);
    const Mat3<double> S1_B = S1 + shift * S0;
    const Mat3<double> S2_BA = S2 + shift * S1.transpose();
    add_diagonal(pair.slot_B, S2_BA - S1_B * shift, S1_B);
    Mat6<double> block;  // -J_B^T K J_A
    block << -S2_BA, -S1_B, -S1.transpose(), -S0;
    H.add_coupling(coupling++, block);
  }
  problem_.joints.add_hessian(v, coupling, H);
  return H.factorize();
}

double ConvexNewton::line_search(const Eigen::VectorXd& v, double slope_at_0) {
  const Eigen::VectorXd& dv = scratch_.direction;
  problem_.mass.multiply(dv, scratch_.mass_direction);
  const double constant = scratch_.mass_direction.dot(v - problem_.v_free),
               linear = scratch_.mass_direction.dot(dv);
  double low = 0.0, high = 1.0, a = 0.5;
  for (int k = 0; k < 40; ++k) {
    double slope = constant + a * linear, curvature = linear;
    for (const BlockPair& pair : scratch_.rows.pairs) {
      const Vec6<double> V = relative_twist(pair, v) - pair.carried, dV = relative_twist_change(pair, dv);
      LineSums sums;
      chosen_kernels<RowKernels>().sum_line(input(pair, V), dV.data(), a, scratch_.rows.of(pair), sums);
      slope += sums.slope;
      curvature += sums.curvature;
    }
    problem_.joints.add_line(v, dv, a, slope, curvature);
    if (std::abs(slope) <= 0.1 * slope_at_0) break;
    (slope > 0.0 ? high : low) = a;
    a -= slope / curvature;
    if (!(a > low && a < high)) a = 0.5 * (low + high);
  }
  return a;
}

bool ConvexNewton::minimise(double tolerance, int max_iterations, Eigen::VectorXd& v,
                            ContactSolution& solution) {
  // Below this residual rounding alone decides; stop once it no longer falls.
  constexpr double k_rounding = 1e-10;
  problem_.mass.multiply(problem_.v_free, scratch_.momentum);
  const double scale = std::sqrt(scratch_.momentum.dot(problem_.v_free) +
                                 problem_.mass.total_mass() * speed_scale_ * speed_scale_);
  double previous = std::numeric_limits<double>::infinity();
  evaluate(v);
  for (int iteration = 0;; ++iteration) {
    const double residual = problem_.mass.inverse_norm(scratch_.gradient) / scale;
    const bool stalled = iteration > 3 && residual < k_rounding && residual > 0.5 * previous;
    if (residual <= tolerance || stalled || iteration == max_iterations || !std::isfinite(residual)) {
      solution.residual = std::isfinite(residual) ? std::max(solution.residual, residual) : residual;
      return residual <= tolerance || stalled;
    }
    previous = residual;
    if (!factorize(v)) return false;
    scratch_.direction = -scratch_.gradient;
    scratch_.hessian.solve_in_place(scratch_.direction);
    // A full step if that brings the slope down: the usual case, and what it takes to know is what the next
    // iteration starts with.
    const double slope_at_0 = std::abs(scratch_.gradient.dot(scratch_.direction));
    scratch_.trial = v + scratch_.direction;
    evaluate(scratch_.trial);
    if (!(scratch_.gradient.dot(scratch_.direction) <= 0.5 * slope_at_0)) {
      scratch_.trial = v + line_search(v, slope_at_0) * scratch_.direction;
      evaluate(scratch_.trial);
    }
    v.swap(scratch_.trial);
    ++solution.iterations;
  }
}

void mass_vjp(const ContactProblem& problem, const Eigen::VectorXd& w, const Eigen::VectorXd& v,
              ContactProblemBar& bar) {
  for (int s = 0; s < problem.mass.slot_count(); ++s) {
    const auto k = static_cast<std::size_t>(s);
    const Vec6<double> dv = v.segment<6>(6 * s) - problem.v_free.segment<6>(6 * s);
    bar.inertia_W[k].noalias() -= w.segment<3>(6 * s) * dv.head<3>().transpose();
    bar.mass[k] -= w.segment<3>(6 * s + 3).dot(dv.tail<3>());
  }
}

}  // namespace abut
