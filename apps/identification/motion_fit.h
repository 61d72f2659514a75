/// How far the motions that a set of numbers makes are off those that were measured, and the derivatives of
/// that.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "apps/identification/experiment.h"
#include "dynamics/rollout.h"

namespace abut {

/// Which way derivatives go. Both are exact; the first takes a rollout's time for each unknown, the second
/// for each residual.
///   forward  a tangent of every unknown through all steps (rollout_jvp.h)
///   adjoint  every residual back through all steps (adjoint.h)
enum class JacobianMethod { forward, adjoint };

/// One entry of the vector x of all unknowns.
struct UnknownEntry {
  std::size_t unknown = 0;  ///< of the experiment
  int motion = -1;          ///< whose own value it is, -1: of all
};

/// Where the residuals of a measurement stand among all.
struct ResidualBlock {
  int motion = 0, measurement = 0;  ///< -1, -1 of a prior
  int begin = 0, count = 0;
};

class MotionFit {
 public:
  /// Throws std::invalid_argument for an experiment that makes no sense. The experiment must outlive it.
  ///
  /// @param threads  motions are simulated on so many at a time, >= 1; results do not depend on it
  explicit MotionFit(const Experiment& experiment, int threads = 1);

  [[nodiscard]] const std::vector<UnknownEntry>& entries() const { return entries_; }
  [[nodiscard]] std::string entry_name(std::size_t entry) const;
  [[nodiscard]] Eigen::VectorXd initial() const;
  /// Of the measurements of one motion after another, then of priors, in standard deviations.
  [[nodiscard]] const std::vector<ResidualBlock>& blocks() const { return blocks_; }
  [[nodiscard]] int residual_count() const { return residual_count_; }
  [[nodiscard]] JacobianMethod method() const { return method_; }
  void set_method(
      JacobianMethod method);  ///< std::invalid_argument for forward where an unknown has no direction

  struct Evaluation {
    bool ok = false;
    std::string failure;  ///< of a motion that could not be simulated
    Eigen::VectorXd residuals;
    Eigen::MatrixXd jacobian;                  ///< (residuals, entries), if asked for
    int contacts_near_kink = 0, contacts = 0;  ///< known with the adjoint only
  };
  /// At values x of the entries, which have to be allowed.
  [[nodiscard]] Evaluation evaluate(const Eigen::VectorXd& x, bool with_jacobian) const;

  /// The scene of a motion at values x.
  [[nodiscard]] Scene scene_of(int motion, const Eigen::VectorXd& x) const;
  /// How many steps lead past its last measurement.
  [[nodiscard]] int steps_of(int motion) const;

 private:
  struct MotionResult;
  [[nodiscard]] MotionResult evaluate_motion(int motion, const Eigen::VectorXd& x, bool with_jacobian) const;

  const Experiment& experiment_;
  int threads_;
  std::vector<UnknownEntry> entries_;
  std::vector<ResidualBlock> blocks_;
  std::vector<int> first_block_;  // of each motion
  int residual_count_ = 0;
  JacobianMethod method_ = JacobianMethod::forward;
};

}  // namespace abut
