/// How far the motions that a choice of the unknowns makes are off those that were measured, and the
/// derivatives of that.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "apps/identification/experiment.h"
#include "apps/identification/rollout_jacobian.h"
#include "apps/identification/unknown_space.h"

namespace abut {

/// Residuals that belong together: a robust loss weighs them as one.
struct ResidualBlock {
  enum class Kind { measurement, joint, prior };  ///< joint: where two segments are to meet
  Kind kind = Kind::measurement;
  int segment = -1;      ///< index into UnknownSpace::segments(); -1 of a prior
  int measurement = -1;  ///< of the motion
  int variable = -1;     ///< of a prior: itself; of a joint: where the next segment starts
  int begin = 0, count = 0;
};

/// What a robust loss makes of a block whose residuals have the sum of squares s: rho(s) with rho(s) = s for
/// few standard deviations; and rho'(s).
struct RobustLoss {
  enum class Kind { square, huber, cauchy } kind = Kind::square;
  double width = 3.0;  ///< a [standard deviations], > 0
  /// square: s; huber: s, from a^2 on 2 a sqrt(s) - a^2; cauchy: a^2 log(1 + s/a^2)
  [[nodiscard]] double value(double s) const;
  [[nodiscard]] double slope(double s) const;
  [[nodiscard]] double curvature(double s) const;  ///< rho''(s)
};

class MotionFit {
 public:
  /// Throws std::invalid_argument for an experiment that makes no sense. The experiment must outlive it.
  ///
  /// @param threads  segments are simulated on so many at a time, >= 1; results do not depend on it
  explicit MotionFit(const Experiment& experiment, int threads = 1);

  [[nodiscard]] const Experiment& experiment() const { return experiment_; }
  [[nodiscard]] const UnknownSpace& unknowns() const { return unknowns_; }
  /// Of the measurements of one segment after another, each followed by its joint, then of priors.
  [[nodiscard]] const std::vector<ResidualBlock>& blocks() const { return blocks_; }
  [[nodiscard]] int residual_count() const { return residual_count_; }
  /// The cheapest by the counts of steps, unknowns and residuals.
  [[nodiscard]] JacobianMethod method() const { return method_; }
  void set_method(JacobianMethod method) { method_ = method; }
  /// Adds every time step that is simulated from now on to a number, which must outlive it; null: to none.
  void count_steps(std::atomic<std::int64_t>* steps) { steps_ = steps; }
  /// What a Jacobian takes by a method, in passes of an adjoint through all steps.
  [[nodiscard]] double cost(JacobianMethod method) const;

  struct Evaluation {
    bool ok = false;
    std::string failure;                ///< of a motion that could not be simulated
    Eigen::VectorXd residuals;          ///< in standard deviations
    Eigen::MatrixXd jacobian;           ///< (residuals, tangent entries), if asked for
    Eigen::VectorXd gradient;           ///< of half the loss (tangent entries), if that was asked for
    double contacts = 0;                ///< of a step, on average
    std::vector<std::string> warnings;  ///< of the adjoint, if there was one
  };
  enum class Want { residuals, jacobian, gradient };
  struct SegmentMotion;
  /// The motions of the last evaluation it was given to: they are not simulated again at the same x.
  struct Memory {
    Eigen::VectorXd x;
    std::vector<std::shared_ptr<const SegmentMotion>> segments;
  };
  /// At x, whose numbers have to be allowed.
  [[nodiscard]] Evaluation evaluate(const Eigen::VectorXd& x, Want want, const RobustLoss& loss = {},
                                    Memory* memory = nullptr) const;
  /// Half the sum of rho over all blocks; priors and joints are not robust.
  [[nodiscard]] double cost_of(const Eigen::VectorXd& residuals, const RobustLoss& loss) const;

 private:
  struct SegmentResult;
  /// @param prepared  at x, if at all
  [[nodiscard]] std::shared_ptr<const SegmentMotion> simulate(
      int segment, const Eigen::VectorXd& x, const std::optional<UnknownSpace::Prepared>& prepared) const;
  void evaluate_segment(const SegmentMotion& motion, Want want, const RobustLoss& loss,
                        SegmentResult& result) const;
  [[nodiscard]] std::vector<Eigen::VectorXd> weights_of(const SegmentMotion& motion,
                                                        const RobustLoss& loss) const;
  /// The Jacobian by forward differences, at residuals that are known.
  void add_differences(const Eigen::VectorXd& x, Evaluation& evaluation) const;
  /// Residuals of priors, and what joints make of the starts of the next segments.
  void add_priors_and_starts(const Eigen::VectorXd& x, Want want, Evaluation& evaluation) const;

  const Experiment& experiment_;
  UnknownSpace unknowns_;
  int threads_;
  std::vector<ResidualBlock> blocks_;
  std::vector<int> first_block_;                // of each segment
  std::vector<std::vector<int>> measurements_;  // of each segment, of its motion's
  int residual_count_ = 0;
  JacobianMethod method_ = JacobianMethod::forward;
  std::atomic<std::int64_t>* steps_ = nullptr;
};

}  // namespace abut
