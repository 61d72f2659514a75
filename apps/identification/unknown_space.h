/// The vector x of everything that is unknown, and what it does to rollouts.
///
/// x is made of variables: a number is one entry, an orientation a quaternion (w, x, y, z) whose tangent is a
/// rotation [rad] from the left, the state at the start of a segment (MultipleShooting) the orientation,
/// position and twist of each moving body. Tangents of x have an entry for each degree of freedom.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "apps/identification/experiment.h"
#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/rollout/shape_change.h"
#include "dynamics/simulator.h"
#include "dynamics/step/rollout_direction.h"

namespace abut {

/// A part of a motion that is simulated in one go.
struct Segment {
  int motion = 0, number = 0;  ///< number 0 starts at the scene's initial state
  int first_step = 0, step_count = 0;
};

/// A block of entries of x.
struct Variable {
  enum class Kind { number, orientation, position_and_twist };
  Kind kind = Kind::number;
  int unknown = -1;                         ///< of the experiment; -1: state of a segment
  int motion = -1;                          ///< whose own it is, -1: of all
  int segment = -1, body = -1;              ///< of such a state; the body of an orientation, too
  int piece = 0;                            ///< of a control
  int begin = 0, size = 1;                  ///< in x
  int tangent_begin = 0, tangent_size = 1;  ///< in its tangents
};

class UnknownSpace {
 public:
  /// The experiment must be valid, and outlive it.
  explicit UnknownSpace(const Experiment& experiment);

  [[nodiscard]] const Experiment& experiment() const { return experiment_; }
  [[nodiscard]] const std::vector<Variable>& variables() const { return variables_; }
  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int tangent_size() const { return tangent_size_; }
  /// "body.ball.mass", with motion, piece or component where there are several.
  [[nodiscard]] std::string name(int tangent_entry) const;
  [[nodiscard]] const Variable& variable_of(int tangent_entry) const {
    return variables_[static_cast<std::size_t>(variable_of_entry_[static_cast<std::size_t>(tangent_entry)])];
  }
  /// Null for the state of a segment.
  [[nodiscard]] const Unknown* unknown_of(const Variable& variable) const;

  /// The guesses; segments start where the motion of the guesses is, or was measured.
  [[nodiscard]] Eigen::VectorXd initial() const;
  /// What is called true, guesses elsewhere.
  [[nodiscard]] Eigen::VectorXd truth() const;
  [[nodiscard]] Eigen::VectorXd plus(const Eigen::VectorXd& x, const Eigen::VectorXd& tangent) const;
  /// The tangent from x to y.
  [[nodiscard]] Eigen::VectorXd minus(const Eigen::VectorXd& y, const Eigen::VectorXd& x) const;
  /// Within which an entry of x has to stay, just inside of what is allowed.
  [[nodiscard]] std::pair<double, double> bounds(const Variable& variable) const;
  /// The number itself, where x holds its logarithm.
  [[nodiscard]] double value(const Variable& variable, double x) const;
  /// d(that number)/d(its entry of x).
  [[nodiscard]] double slope(int tangent_entry, const Eigen::VectorXd& x) const;

  /// What a segment is simulated with at x. Throws std::invalid_argument for a shape that cannot be, or an
  /// inertia whose coordinates are lost in rounding.
  struct Inputs {
    Scene scene;        ///< its initial state is that of the segment
    Controls controls;  ///< of its steps; none if there are no such unknowns
  };
  /// What all motions have alike at x and is made but once for them: bodies of unknown shape, ready for
  /// contact.
  struct Prepared {
    Scene scene;
    Simulator simulator;
  };
  /// None where there are no such bodies, but one segment, or a shape that cannot be (of which inputs()
  /// tells).
  [[nodiscard]] std::optional<Prepared> prepare(const Eigen::VectorXd& x) const;
  /// @param prepared  at x, if at all
  [[nodiscard]] Inputs inputs(const Eigen::VectorXd& x, const Segment& segment,
                              const std::optional<Prepared>& prepared = {}) const;
  /// Shares what it can with `prepared` or the scene's own. Throws std::invalid_argument as Simulator does.
  [[nodiscard]] Simulator simulator(const Inputs& inputs,
                                    const std::optional<Prepared>& prepared = {}) const {
    return {inputs.scene.model, inputs.scene.config.step, prepared ? &prepared->simulator : &prepared_};
  }
  /// A whole motion at x, whatever its segments. Throws as inputs().
  struct Simulation {
    Inputs inputs;
    Simulator simulator;
    Trajectory trajectory;
  };
  [[nodiscard]] Simulation simulate(const Eigen::VectorXd& x, int motion,
                                    const std::optional<Prepared>& prepared = {}) const;

  /// The variables that are the state at the start of a segment, one for each moving body.
  [[nodiscard]] std::vector<int> start_variables(int motion, int segment) const;

  /// Whether a segment depends on an entry.
  [[nodiscard]] bool concerns(int tangent_entry, const Segment& segment) const;

  // Derivatives by a tangent entry that concerns a segment; `inputs` are those at x. Of logarithms they are
  // by the number itself: slope() is the rest of the chain.

  /// Of its initial state.
  [[nodiscard]] StateTangent initial_direction(int tangent_entry, const Inputs& inputs) const;
  /// Whether all that the entry changes is the initial state.
  [[nodiscard]] bool is_initial(int tangent_entry) const;
  [[nodiscard]] bool has_direction(int tangent_entry) const;
  [[nodiscard]] RolloutDirection direction(int tangent_entry, const Segment& segment,
                                           const Inputs& inputs) const;
  /// Of each body whose shape is unknown: how it changes along the lines of the experiment's own body.
  using ShapeGradients = std::vector<std::optional<TotalShapeGradient>>;
  /// Both must outlive them.
  [[nodiscard]] ShapeGradients shape_gradients(const Inputs& inputs, const Stepper& stepper) const;
  /// Replaces gradient.model.bodies[].shape of these bodies, from its complete `geometry`.
  static void complete_shapes(ShapeGradients& shapes, Gradient& gradient);
  /// From the gradient of a rollout, after complete_shapes().
  [[nodiscard]] double derivative(int tangent_entry, const Segment& segment, const Inputs& inputs,
                                  const Gradient& gradient) const;
  /// Of a residual by the geometry of a body alone.
  [[nodiscard]] double derivative(int tangent_entry, const Inputs& inputs,
                                  const GeometryDependence& dependence) const;
  /// Whether `step` of a segment (from its first) feels a control.
  [[nodiscard]] bool acts(const Variable& variable, const Segment& segment, int step) const;

 private:
  void add(Variable variable);
  void find_shared();
  [[nodiscard]] Eigen::VectorXd assemble(bool true_values) const;
  void guess_segment_starts(Eigen::VectorXd& x) const;

  const Experiment& experiment_;
  Simulator prepared_;  // of the scene as it is
  std::vector<Variable> variables_;
  std::vector<int> variable_of_entry_;
  std::vector<Segment> segments_;
  std::vector<std::optional<ContactPointLines>> lines_;  // of each body whose shape is unknown
  std::vector<int> shared_;                              // variables of shapes that all motions have alike
  int size_ = 0, tangent_size_ = 0;
};

}  // namespace abut
