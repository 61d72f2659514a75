#include <algorithm>
#include <cmath>
#include <memory>

#include <ceres/ceres.h>

#include "apps/identification/orientation_manifold.h"
#include "apps/identification/solvers.h"

namespace abut {
namespace {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Null for plain numbers.
std::unique_ptr<OrientationManifold> manifold_of(const Variable& variable) {
  if (variable.kind == Variable::Kind::number) return nullptr;
  return std::make_unique<OrientationManifold>(variable.size - 4);
}

/// The residuals of all measurements at the point Ceres looks at, computed once for all of its blocks.
class SharedEvaluation : public ceres::EvaluationCallback {
 public:
  SharedEvaluation(const MotionFit& fit, const Eigen::VectorXd& x) : fit_(fit), x_(x) {}

  /// What is called a new point may be the last one again: with bounds, Ceres looks along its step first.
  void PrepareForEvaluation(bool with_jacobian, bool /*is_new_point*/) override {
    const bool is_known = last_.size() == x_.size() && last_ == x_ && (has_jacobian_ || !with_jacobian);
    if (is_known) return;
    last_.resize(0);
    evaluation_ = fit_.evaluate(x_, with_jacobian ? MotionFit::Want::jacobian : MotionFit::Want::residuals,
                                {}, &memory_);
    last_ = x_;
    has_jacobian_ = with_jacobian;
    if (with_jacobian && evaluation_.ok)
      gradient_ = (evaluation_.jacobian.transpose() * evaluation_.residuals).lpNorm<Eigen::Infinity>();
    ++evaluations;
    jacobians += with_jacobian;
  }
  [[nodiscard]] const MotionFit::Evaluation& evaluation() const { return evaluation_; }
  /// Largest component of J^T r where J was last asked for; that of Ceres is cut off by bounds.
  [[nodiscard]] double gradient() const { return gradient_; }

  int evaluations = 0, jacobians = 0;

 private:
  const MotionFit& fit_;
  const Eigen::VectorXd& x_;
  MotionFit::Evaluation evaluation_;
  MotionFit::Memory memory_;
  Eigen::VectorXd last_;  // where it is
  bool has_jacobian_ = false;
  double gradient_ = 0.0;
};

/// The part of them that belongs together, by the variables that it depends on.
class ResidualsOfBlock : public ceres::CostFunction {
 public:
  ResidualsOfBlock(const SharedEvaluation& shared, const ResidualBlock& block,
                   std::vector<const Variable*> variables)
      : shared_(shared), block_(block), variables_(std::move(variables)) {
    set_num_residuals(block.count);
    for (const Variable* variable : variables_) mutable_parameter_block_sizes()->push_back(variable->size);
  }

  bool Evaluate(double const* const* parameters, double* residuals, double** jacobians) const override {
    const MotionFit::Evaluation& evaluation = shared_.evaluation();
    if (!evaluation.ok) return false;
    Eigen::Map<Eigen::VectorXd>(residuals, block_.count) =
        evaluation.residuals.segment(block_.begin, block_.count);
    if (jacobians == nullptr) return true;
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      if (jacobians[v] == nullptr) continue;
      const Variable& variable = *variables_[v];
      const auto by_tangent = evaluation.jacobian.block(block_.begin, variable.tangent_begin, block_.count,
                                                        variable.tangent_size);
      Eigen::Map<RowMajorMatrix> out(jacobians[v], block_.count, variable.size);
      if (const auto manifold = manifold_of(variable)) {
        RowMajorMatrix minus(variable.tangent_size, variable.size);
        manifold->MinusJacobian(parameters[v], minus.data());
        out = by_tangent * minus;
      } else {
        out = by_tangent;
      }
    }
    return true;
  }

 private:
  const SharedEvaluation& shared_;
  ResidualBlock block_;
  std::vector<const Variable*> variables_;
};

/// RobustLoss for Ceres.
class CeresLoss : public ceres::LossFunction {
 public:
  explicit CeresLoss(const RobustLoss& loss) : loss_(loss) {}
  void Evaluate(double s, double rho[3]) const override {
    rho[0] = loss_.value(s);
    rho[1] = loss_.slope(s);
    rho[2] = loss_.curvature(s);
  }

 private:
  RobustLoss loss_;
};

class LeastSquaresProgress : public Progress {
 public:
  LeastSquaresProgress(const SolveOptions& options, const Eigen::VectorXd& x, const SharedEvaluation& shared,
                       std::vector<Iteration>& iterations)
      : Progress(options, iterations), x_(x), shared_(shared) {}

 private:
  void complete(const ceres::IterationSummary& summary, Iteration& iteration) override {
    iteration.accepted = summary.step_is_successful;
    if (iteration.accepted) {
      gradient_ = shared_.gradient();
      contacts_ = shared_.evaluation().contacts;
    }
    iteration.gradient = gradient_;
    iteration.contacts = contacts_;
    iteration.trust_region = summary.trust_region_radius;
    iteration.x = x_;
  }

  const Eigen::VectorXd& x_;
  const SharedEvaluation& shared_;
  double gradient_ = 0.0, contacts_ = 0.0;  // where the search is: a step taken back has others
};

/// What a block of residuals depends on.
std::vector<const Variable*> variables_of(const UnknownSpace& unknowns, const ResidualBlock& block) {
  std::vector<const Variable*> found;
  for (std::size_t v = 0; v < unknowns.variables().size(); ++v) {
    const Variable& variable = unknowns.variables()[v];
    const bool is_named = static_cast<int>(v) == block.variable;
    const bool is_used = block.segment >= 0 &&
                         unknowns.concerns(variable.tangent_begin, unknowns.segments()[at(block.segment)]);
    if (is_named || is_used) found.push_back(&variable);
  }
  return found;
}

/// Null if there is none.
const Iteration* last_accepted(const std::vector<Iteration>& iterations) {
  const auto found = std::find_if(iterations.rbegin(), iterations.rend(),
                                  [](const Iteration& iteration) { return iteration.accepted; });
  return found == iterations.rend() ? nullptr : &*found;
}

/// Which variables lie at a bound across which the loss falls.
std::vector<bool> pressed_against_bounds(const MotionFit& fit, const Eigen::VectorXd& x,
                                         const RobustLoss& loss) {
  const UnknownSpace& unknowns = fit.unknowns();
  std::vector<bool> pressed(unknowns.variables().size(), false);
  std::vector<bool> is_lower = pressed, is_upper = pressed;
  for (std::size_t v = 0; v < pressed.size(); ++v) {
    const Variable& variable = unknowns.variables()[v];
    if (variable.kind != Variable::Kind::number) continue;
    const auto [lower, upper] = unknowns.bounds(variable);
    const double value = x[variable.begin], near = 1e-9 * std::max(1.0, std::abs(value));
    is_lower[v] = value - lower <= near;
    is_upper[v] = upper - value <= near;
  }
  if (std::find(is_lower.begin(), is_lower.end(), true) == is_lower.end() &&
      std::find(is_upper.begin(), is_upper.end(), true) == is_upper.end())
    return pressed;
  const MotionFit::Evaluation evaluation = fit.evaluate(x, MotionFit::Want::gradient, loss);
  if (!evaluation.ok) return pressed;
  for (std::size_t v = 0; v < pressed.size(); ++v) {
    const double slope = evaluation.gradient[unknowns.variables()[v].tangent_begin];
    pressed[v] = (is_lower[v] && slope > 0.0) || (is_upper[v] && slope < 0.0);
  }
  return pressed;
}

}  // namespace

Solution solve_least_squares(const MotionFit& fit, const Eigen::VectorXd& guess,
                             const SolveOptions& options) {
  const UnknownSpace& unknowns = fit.unknowns();
  Solution solution;
  Eigen::VectorXd x = guess;
  SharedEvaluation shared(fit, x);
  ceres::Problem::Options problem_options;
  problem_options.evaluation_callback = &shared;
  ceres::Problem problem(problem_options);
  for (const Variable& variable : unknowns.variables()) {
    double* block = x.data() + variable.begin;
    problem.AddParameterBlock(block, variable.size, manifold_of(variable).release());  // Ceres owns it
    if (variable.kind != Variable::Kind::number) continue;
    const auto [lower, upper] = unknowns.bounds(variable);
    *block = std::clamp(*block, lower, upper);
    if (std::isfinite(lower)) problem.SetParameterLowerBound(block, 0, lower);
    if (std::isfinite(upper)) problem.SetParameterUpperBound(block, 0, upper);
  }
  const bool is_robust = options.loss.kind != RobustLoss::Kind::square;
  for (const ResidualBlock& block : fit.blocks()) {
    const std::vector<const Variable*> variables = variables_of(unknowns, block);
    if (variables.empty()) continue;
    std::vector<double*> places;
    places.reserve(variables.size());
    for (const Variable* variable : variables) places.push_back(x.data() + variable->begin);
    const bool is_measured = block.kind == ResidualBlock::Kind::measurement;
    problem.AddResidualBlock(new ResidualsOfBlock(shared, block, variables),  // which Ceres owns
                             is_robust && is_measured ? new CeresLoss(options.loss) : nullptr, places);
  }

  constexpr int k_dense_entries = 100;
  ceres::Solver::Options ceres_options;
  ceres_options.max_num_iterations = options.max_iterations;
  ceres_options.function_tolerance = options.tolerance;
  ceres_options.parameter_tolerance = options.tolerance;
  ceres_options.gradient_tolerance = 0.0;
  ceres_options.initial_trust_region_radius = options.trust_region;
  ceres_options.linear_solver_type =
      unknowns.tangent_size() <= k_dense_entries ? ceres::DENSE_QR : ceres::SPARSE_NORMAL_CHOLESKY;
  ceres_options.logging_type = ceres::SILENT;
  ceres_options.update_state_every_iteration = true;
  LeastSquaresProgress progress(options, x, shared, solution.iterations);
  ceres_options.callbacks.push_back(&progress);
  ceres::Solver::Summary summary;
  ceres::Solve(ceres_options, &problem, &summary);
  solution.initial_cost = summary.initial_cost;
  // Ceres gives up where a step that it has taken ends without a finite Jacobian: that was a step too far, too.
  constexpr int k_most_retreats = 5;
  for (int retreat = 0; retreat < k_most_retreats && summary.termination_type == ceres::FAILURE; ++retreat) {
    const Iteration* last = last_accepted(solution.iterations);
    if (last == nullptr) break;
    x = last->x;
    ceres_options.initial_trust_region_radius = 0.1 * last->trust_region;
    ceres::Solve(ceres_options, &problem, &summary);
  }
  // Ceres only projects its steps onto bounds, and stalls where one is active: what the loss presses against
  // a bound is held there while the rest is searched for, until nothing more is pressed or set free.
  constexpr int k_most_rounds = 10;
  std::vector<bool> held(unknowns.variables().size(), false);
  for (int round = 0; round < k_most_rounds && summary.termination_type == ceres::CONVERGENCE; ++round) {
    const std::vector<bool> pressed = pressed_against_bounds(fit, x, options.loss);
    if (pressed == held || std::all_of(pressed.begin(), pressed.end(), [](bool p) { return p; })) break;
    held = pressed;
    for (std::size_t v = 0; v < held.size(); ++v) {
      double* block = x.data() + unknowns.variables()[v].begin;
      held[v] ? problem.SetParameterBlockConstant(block) : problem.SetParameterBlockVariable(block);
    }
    ceres::Solve(ceres_options, &problem, &summary);
  }

  solution.x = x;
  solution.cost = summary.final_cost;
  solution.message = summary.message;
  solution.evaluations = shared.evaluations;
  solution.jacobians = shared.jacobians;
  solution.status = status_of(summary.termination_type);
  if (solution.status != Solution::Status::failed) return solution;
  if (!shared.evaluation().failure.empty()) solution.message = shared.evaluation().failure;
  if (const Iteration* last = last_accepted(solution.iterations)) {
    solution.x = last->x;
    solution.cost = last->cost;
  }
  return solution;
}

}  // namespace abut
