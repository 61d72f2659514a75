#include "apps/identification/solve.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <ceres/ceres.h>
#include <glog/logging.h>
#include <spdlog/fmt/fmt.h>

#include "apps/abut/stopwatch.h"
#include "apps/identification/orientation_manifold.h"

namespace abut {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Null for plain numbers.
std::unique_ptr<OrientationManifold> manifold_of(const Variable& variable) {
  if (variable.kind == Variable::Kind::number) return nullptr;
  return std::make_unique<OrientationManifold>(variable.size - 4);
}

// Least squares ---------------------------------------------------------------------------------------------

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
      Eigen::Map<RowMajor> out(jacobians[v], block_.count, variable.size);
      if (const auto manifold = manifold_of(variable)) {
        RowMajor minus(variable.tangent_size, variable.size);
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

/// Passes iterations on, and what the user says to them.
class Progress : public ceres::IterationCallback {
 public:
  Progress(const SolveOptions& options, const Eigen::VectorXd& x, const SharedEvaluation& shared,
           std::vector<Iteration>& iterations)
      : options_(options), x_(x), shared_(shared), iterations_(iterations) {}

  ceres::CallbackReturnType operator()(const ceres::IterationSummary& summary) override {
    Iteration iteration;
    iteration.number = summary.iteration;
    iteration.cost = summary.cost;
    iteration.step = summary.step_norm;
    iteration.accepted = summary.step_is_successful;
    if (iteration.accepted) {
      gradient_ = shared_.gradient();
      contacts_ = shared_.evaluation().contacts;
    }
    iteration.gradient = gradient_;
    iteration.contacts = contacts_;
    iteration.seconds = stopwatch_.seconds();
    iteration.trust_region = summary.trust_region_radius;
    iteration.x = x_;
    iterations_.push_back(iteration);
    const bool go_on = !options_.progress || options_.progress(iteration);
    return go_on ? ceres::SOLVER_CONTINUE : ceres::SOLVER_TERMINATE_SUCCESSFULLY;
  }

 private:
  const SolveOptions& options_;
  const Eigen::VectorXd& x_;
  const SharedEvaluation& shared_;
  std::vector<Iteration>& iterations_;
  double gradient_ = 0.0, contacts_ = 0.0;  // where the search is: a step taken back has others
  Stopwatch stopwatch_;
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

Solution::Status status_of(ceres::TerminationType type) {
  switch (type) {
    case ceres::CONVERGENCE:
      return Solution::Status::converged;
    case ceres::NO_CONVERGENCE:
      return Solution::Status::max_iterations;
    case ceres::USER_SUCCESS:
      return Solution::Status::stopped;
    default:
      return Solution::Status::failed;
  }
}

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
  Progress progress(options, x, shared, solution.iterations);
  ceres_options.callbacks.push_back(&progress);
  ceres::Solver::Summary summary;
  ceres::Solve(ceres_options, &problem, &summary);
  solution.initial_cost = summary.initial_cost;
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
  if (solution.status == Solution::Status::failed && !shared.evaluation().failure.empty())
    solution.message = shared.evaluation().failure;
  return solution;
}

// Gradient --------------------------------------------------------------------------------------------------

/// A number within bounds by a number without, and back:
///   both ends   x = middle + half width * sin(y)
///   lower       x = lower - 1 + sqrt(1 + y^2), and the mirror image for upper
class BoundedNumber {
 public:
  BoundedNumber(double lower, double upper) : lower_(lower), upper_(upper) {}
  [[nodiscard]] double value(double y) const {
    if (has_both()) return middle() + half_width() * std::sin(y);
    if (std::isfinite(lower_)) return lower_ - 1.0 + std::hypot(1.0, y);
    if (std::isfinite(upper_)) return upper_ + 1.0 - std::hypot(1.0, y);
    return y;
  }
  [[nodiscard]] double slope(double y) const {
    if (has_both()) return half_width() * std::cos(y);
    if (std::isfinite(lower_)) return y / std::hypot(1.0, y);
    if (std::isfinite(upper_)) return -y / std::hypot(1.0, y);
    return 1.0;
  }
  /// Just inside, where the slope is not 0.
  [[nodiscard]] double free(double x) const {
    constexpr double k_most = 0.999;
    if (has_both()) return std::asin(std::clamp((x - middle()) / half_width(), -k_most, k_most));
    const double beyond = std::isfinite(lower_) ? x - lower_ : upper_ - x;
    if (std::isfinite(lower_) || std::isfinite(upper_))
      return std::sqrt(std::max(1e-6, (beyond + 2.0) * beyond));
    return x;
  }

 private:
  [[nodiscard]] bool has_both() const { return std::isfinite(lower_) && std::isfinite(upper_); }
  [[nodiscard]] double middle() const { return 0.5 * (lower_ + upper_); }
  [[nodiscard]] double half_width() const { return 0.5 * (upper_ - lower_); }
  double lower_, upper_;
};

/// The loss as a function of free numbers: steps from the guess in units of what each entry is worth.
class LossOfTangent : public ceres::FirstOrderFunction {
 public:
  LossOfTangent(const MotionFit& fit, const RobustLoss& loss, const Eigen::VectorXd& guess)
      : fit_(fit), loss_(loss), guess_(guess), scale_(Eigen::VectorXd::Ones(fit.unknowns().tangent_size())) {
    for (const Variable& variable : fit.unknowns().variables()) {
      const auto [lower, upper] = fit.unknowns().bounds(variable);
      bounded_.emplace_back(lower, upper);
    }
    const Eigen::VectorXd slope = slope_at(start());
    const MotionFit::Evaluation first = fit.evaluate(guess, MotionFit::Want::gradient, loss);
    evaluations = jacobians = 1;
    contacts = first.contacts;
    failure = first.failure;
    if (!first.ok) return;
    // Entries of very different units: the first step is to change each by what its size allows.
    for (const Variable& variable : fit.unknowns().variables()) {
      const Unknown* unknown = fit.unknowns().unknown_of(variable);
      if (variable.kind != Variable::Kind::number) continue;
      const int e = variable.tangent_begin;
      if (std::isfinite(fit.unknowns().bounds(variable).first) &&
          std::isfinite(fit.unknowns().bounds(variable).second))
        continue;  // an angle already
      double size = std::abs(guess[variable.begin]);
      if (unknown->prior) size = std::max(size, unknown->prior->deviation);
      if (size > 0.0) scale_[e] = size / std::max(slope[e], 1e-3);
    }
  }

  /// y at the guess.
  [[nodiscard]] Eigen::VectorXd start() const {
    Eigen::VectorXd y = Eigen::VectorXd::Zero(scale_.size());
    for_each_number([&](const Variable& variable, const BoundedNumber& bounded) {
      y[variable.tangent_begin] = bounded.free(guess_[variable.begin]) / scale_[variable.tangent_begin];
    });
    return y;
  }
  [[nodiscard]] Eigen::VectorXd x_of(const Eigen::VectorXd& y) const {
    Eigen::VectorXd x = fit_.unknowns().plus(guess_, scale_.cwiseProduct(y));
    for_each_number([&](const Variable& variable, const BoundedNumber& bounded) {
      const int e = variable.tangent_begin;
      x[variable.begin] = bounded.value(scale_[e] * y[e]);
    });
    return x;
  }

  bool Evaluate(const double* parameters, double* cost, double* gradient) const override {
    const Eigen::VectorXd y = Eigen::Map<const Eigen::VectorXd>(parameters, scale_.size());
    const Eigen::VectorXd x = x_of(y);
    const bool with_gradient = gradient != nullptr;
    ++evaluations;
    jacobians += with_gradient;
    const MotionFit::Evaluation evaluation =
        fit_.evaluate(x, with_gradient ? MotionFit::Want::gradient : MotionFit::Want::residuals, loss_);
    if (!evaluation.ok) {
      failure = evaluation.failure;
      return false;
    }
    contacts = evaluation.contacts;
    *cost = fit_.cost_of(evaluation.residuals, loss_);
    if (!with_gradient) return true;
    // d(turn at x)/d(turn from the guess) is J_l of the turn so far.
    Eigen::VectorXd by_tangent = evaluation.gradient;
    const Eigen::VectorXd tangent = scale_.cwiseProduct(y);
    for (const Variable& variable : fit_.unknowns().variables()) {
      if (variable.kind == Variable::Kind::number) continue;
      const Vec3<double> turn = tangent.segment<3>(variable.tangent_begin);
      const Vec3<double> bar = by_tangent.segment<3>(variable.tangent_begin);
      by_tangent.segment<3>(variable.tangent_begin) = left_jacobian_so3(turn).transpose() * bar;
    }
    Eigen::Map<Eigen::VectorXd>(gradient, scale_.size()) = by_tangent.cwiseProduct(slope_at(y));
    return true;
  }
  [[nodiscard]] int NumParameters() const override { return static_cast<int>(scale_.size()); }

  mutable int evaluations = 0, jacobians = 0;
  mutable double contacts = 0.0;
  mutable std::string failure;

 private:
  template <typename Use>
  void for_each_number(const Use& use) const {
    const auto& variables = fit_.unknowns().variables();
    for (std::size_t v = 0; v < variables.size(); ++v) {
      if (variables[v].kind == Variable::Kind::number) use(variables[v], bounded_[v]);
    }
  }
  /// d(x)/d(y).
  [[nodiscard]] Eigen::VectorXd slope_at(const Eigen::VectorXd& y) const {
    Eigen::VectorXd slope = scale_;
    for_each_number([&](const Variable& variable, const BoundedNumber& bounded) {
      const int e = variable.tangent_begin;
      slope[e] *= bounded.slope(scale_[e] * y[e]);
    });
    return slope;
  }

  const MotionFit& fit_;
  RobustLoss loss_;
  Eigen::VectorXd guess_, scale_;
  std::vector<BoundedNumber> bounded_;
};

class GradientProgress : public ceres::IterationCallback {
 public:
  GradientProgress(const SolveOptions& options, const LossOfTangent& loss, const Eigen::VectorXd& y,
                   std::vector<Iteration>& iterations)
      : options_(options), loss_(loss), y_(y), iterations_(iterations) {}

  ceres::CallbackReturnType operator()(const ceres::IterationSummary& summary) override {
    Iteration iteration;
    iteration.number = summary.iteration;
    iteration.cost = summary.cost;
    iteration.gradient = summary.gradient_max_norm;
    iteration.step = summary.step_norm;
    iteration.contacts = loss_.contacts;
    iteration.seconds = stopwatch_.seconds();
    iteration.x = loss_.x_of(y_);
    iterations_.push_back(iteration);
    const bool go_on = !options_.progress || options_.progress(iteration);
    return go_on ? ceres::SOLVER_CONTINUE : ceres::SOLVER_TERMINATE_SUCCESSFULLY;
  }

 private:
  const SolveOptions& options_;
  const LossOfTangent& loss_;
  const Eigen::VectorXd& y_;
  std::vector<Iteration>& iterations_;
  Stopwatch stopwatch_;
};

Solution solve_by_gradient(const MotionFit& fit, const Eigen::VectorXd& guess, const SolveOptions& options) {
  Solution solution;
  auto* loss = new LossOfTangent(fit, options.loss, guess);  // which the problem owns
  const ceres::GradientProblem problem(loss);
  solution.x = guess;
  if (!loss->failure.empty()) {
    solution.message = loss->failure;
    return solution;
  }
  Eigen::VectorXd y = loss->start();
  ceres::GradientProblemSolver::Options ceres_options;
  ceres_options.max_num_iterations = options.max_iterations;
  ceres_options.function_tolerance = options.tolerance;
  ceres_options.parameter_tolerance = options.tolerance;
  ceres_options.gradient_tolerance = 0.0;
  ceres_options.logging_type = ceres::SILENT;
  ceres_options.update_state_every_iteration = true;
  GradientProgress progress(options, *loss, y, solution.iterations);
  ceres_options.callbacks.push_back(&progress);
  ceres::GradientProblemSolver::Summary summary;
  ceres::Solve(ceres_options, problem, y.data(), &summary);
  solution.x = loss->x_of(y);
  solution.initial_cost = summary.initial_cost;
  solution.cost = summary.final_cost;
  solution.message = summary.message;
  solution.evaluations = loss->evaluations;
  solution.jacobians = loss->jacobians;
  solution.status = status_of(summary.termination_type);
  // A line search that finds no lower place has found the lowest that the digits of the loss allow.
  const bool improved = summary.final_cost < summary.initial_cost;
  if (solution.status == Solution::Status::failed && improved) solution.status = Solution::Status::converged;
  if (solution.status == Solution::Status::failed && !loss->failure.empty()) solution.message = loss->failure;
  return solution;
}

}  // namespace

const char* to_string(Solution::Status status) {
  switch (status) {
    case Solution::Status::converged:
      return "converged";
    case Solution::Status::max_iterations:
      return "max_iterations";
    case Solution::Status::stopped:
      return "stopped";
    case Solution::Status::failed:
      return "failed";
  }
  return "unknown";
}

Solution solve(const MotionFit& fit, const Eigen::VectorXd& guess, const SolveOptions& options) {
  FLAGS_minloglevel = google::GLOG_FATAL;  // what Ceres logs as errors, the solution tells its caller
  const Stopwatch stopwatch;
  Solution solution = options.method == SearchMethod::least_squares ? solve_least_squares(fit, guess, options)
                                                                    : solve_by_gradient(fit, guess, options);
  solution.seconds = stopwatch.seconds();
  return solution;
}

}  // namespace abut
