#include <algorithm>
#include <cmath>

#include <ceres/ceres.h>

#include "apps/identification/solvers.h"
#include "engine/lie.h"

namespace abut {
namespace {

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

class GradientProgress : public Progress {
 public:
  GradientProgress(const SolveOptions& options, const LossOfTangent& loss, const Eigen::VectorXd& y,
                   std::vector<Iteration>& iterations)
      : Progress(options, iterations), loss_(loss), y_(y) {}

 private:
  void complete(const ceres::IterationSummary& summary, Iteration& iteration) override {
    iteration.gradient = summary.gradient_max_norm;
    iteration.contacts = loss_.contacts;
    iteration.x = loss_.x_of(y_);
  }

  const LossOfTangent& loss_;
  const Eigen::VectorXd& y_;
};

}  // namespace

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

}  // namespace abut
