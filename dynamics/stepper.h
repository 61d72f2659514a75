/// One time step of a model, and the same step backwards.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "collision/manifold/contact_detector.h"
#include "dynamics/contact_forces.h"
#include "dynamics/fixed_motion.h"
#include "dynamics/free_motion.h"
#include "dynamics/gradient.h"
#include "dynamics/island_solver.h"
#include "dynamics/rollout_direction.h"
#include "engine/config.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

/// How a step ended. Anything but ok is a failure: its end state is not to be used, and has no gradient.
///   not_converged  the velocities do not solve the contact problem, or the free rotation, to the tolerance
///   non_finite     a number overflowed, or is none
///   too_deep       a contact lies deeper than StepConfig::penetration_limit at the start of the step
///   too_fast       a body is faster than StepConfig::speed_limit at its end
enum class StepStatus { ok, not_converged, non_finite, too_deep, too_fast };

[[nodiscard]] const char* to_string(StepStatus status);

/// Why a step that ended well may not be the motion that the scene means: see step_warnings.h.
struct StepWarning {
  /// heavy_on_light  `body` sinks into the at least 10^4 times lighter `other`; `value` is how deep [m]
  /// long_step       forces take `body` too far from or into `other` in one step; `value` is how far, in
  ///                 sizes of the smaller of the two
  /// parted_joint    what a rigid joint of `body` with `other` (-1: the world) holds together is apart;
  /// `value`
  ///                 is by how much, in sizes of the smaller of the two
  /// left_out        Body::selected_vertices or selected_edges of `body` and `other` take the activity
  /// `value` from a
  ///                 contact
  enum class Kind { heavy_on_light, long_step, parted_joint, left_out };
  int body = -1, other = -1;  ///< body -1: there is no warning
  double value = 0.0;

  [[nodiscard]] bool is_given() const { return body >= 0; }
};
inline constexpr std::array k_step_warnings{StepWarning::Kind::heavy_on_light, StepWarning::Kind::long_step,
                                            StepWarning::Kind::parted_joint, StepWarning::Kind::left_out};
/// One of each kind, in that order.
using StepWarnings = std::array<StepWarning, k_step_warnings.size()>;

/// Keeps the worse of each kind.
inline void keep_worse(const StepWarnings& others, StepWarnings& worst) {
  for (std::size_t k = 0; k < worst.size(); ++k) {
    if (others[k].value > worst[k].value) worst[k] = others[k];
  }
}

/// What a step did. `body` and `contact` point at the culprit of a failure, -1 where there is none.
struct StepReport {
  StepStatus status = StepStatus::ok;
  int contacts = 0;                          ///< with a weight > 0
  double max_penetration = 0.0;              ///< of those contacts, at the start of the step [m], >= 0
  int iterations = 0;                        ///< Newton iterations of the island that took most
  double residual = 0.0;                     ///< relative residual of the worst island
  SolutionPath path = SolutionPath::newton;  ///< of the island that was hardest to solve
  bool has_negative_determinant = false;     ///< see ContactSolution
  double max_speed = 0.0;    ///< of the points of any body at the end of the step, a bound [m/s]
  double penetration = 0.0;  ///< of `contact` after too_deep [sizes of the smaller body]
  int step = -1;             ///< number in its rollout, from 0; -1 of a step by itself
  ContactLaw law = ContactLaw::smooth_coulomb;
  int body = -1;
  ContactFeature contact;   ///< the one that is too deep, or the deepest of `body`, if it has any
  StepWarnings warnings{};  ///< the worst of each kind, of a step that ended well

  [[nodiscard]] StepWarning& warning(StepWarning::Kind kind) {
    return warnings[static_cast<std::size_t>(kind)];
  }
};

/// What the adjoint needs of one solve, besides the states before and after it.
struct SubstepRecord {
  /// How its length came about: `given`, or what `others` left of the step, or up to an `impact`.
  enum class Length { given, remainder, impact } length = Length::remainder;
  double h = 0;                           ///< [s]
  ContactFeature impact;                  ///< the contact that closes at its end, where that is its length
  std::vector<ContactFeature> features;   ///< of the contacts with a weight > 0
  std::vector<ContactClusters> clusters;  ///< of each pair that has such, if any pair is reduced
  Eigen::VectorXd velocity;               ///< see ContactSolution, as the next two
  Eigen::VectorXd push_out;
  Eigen::VectorXd displacement;
  State end;  ///< none of the last one: it is that of the step
};

/// What the adjoint needs of a step besides the states before and after it: mostly a single substep.
struct StepRecord {
  std::vector<SubstepRecord> substeps;
  StepReport report;
};

/// How many contacts of a step's solves lie near a kink of the law: see ContactSolver::contacts_near_kink().
struct KinkCount {
  int contacts = 0;  ///< rows of all solves
  int near_kink = 0;
  int body = -1;  ///< of finite mass, that has most of those near a kink; -1: there are none
};

/// A loss behind a step: dL/d(its end), and where what follows from that is put.
struct StepBar {
  const StateTangent* next = nullptr;
  StateTangent* state = nullptr;   ///< overwritten; may not be `next`
  std::span<Vec6<double>> wrench;  ///< of this step, one per body, added to
  ModelGradient* model = nullptr;  ///< added to
};

/// A direction of what a step depends on, and where the change of its end is put.
struct StepDirection {
  const StateTangent* state = nullptr;
  std::span<const Vec6<double>> wrench;  ///< one per body
  Vec3<double> gravity = Vec3<double>::Zero();
  std::span<const BodyDirection> bodies;  ///< one per body
  StateTangent* next = nullptr;           ///< overwritten; may not be `state`
};

/// Working memory of one thread, for steps of one model after another. What it holds changes no result.
struct StepScratch {
  DetectorScratch detector;
  ContactManifold manifold;
  MassMatrix mass;
  FreeMotion free;
  ContactRows rows;
  JointRows joints;
  IslandScratch solver;
  ContactSolution solution;
  std::vector<double> margins;
  ManifoldLinearization linearization;
  std::vector<ContactBar> contact_bars;
  ContactProblemBar problem_bar;
  EndMotionBar end_bar;
  std::vector<Vec3<double>> momentum_bar;
  std::vector<FreeMotionParameterBar> parameter_bar;
  std::vector<GeometryGradient> geometry;
  std::vector<BodyMotionDerivative> motion;
  std::vector<StateTangent> between;  ///< at the ends of substeps, of each loss or direction
  std::vector<double> later_bar;      ///< of each loss: see step_vjp()
  FreeMotionTangent free_dot;
  std::vector<FreeMotionParameterBar> parameters_dot;
  ContactProblemDot problem_dot;
  EndMotionBar end_dot;
  std::vector<bool> near_kink;
  std::vector<int> kinks_of_body;
  State start, end;  ///< of a substep
};

/// Prepared once for a model, const afterwards; the model must outlive it.
class Stepper {
 public:
  /// Throws std::invalid_argument for a bad config or model, and for settings that the law ignores
  /// (law_settings.h).
  ///
  /// @param prepared  whose detector shares what it can, see ContactDetector
  Stepper(const Model& model, const StepConfig& config, const Stepper* prepared = nullptr);

  /// One step of h seconds under the wrenches of `control`. `next` may not be `state`. Never throws; a failed
  /// step leaves `next` as far as it got. With `record`, what the way back needs.
  StepReport step(const State& state, const Control& control, State& next, StepScratch& scratch,
                  StepRecord* record = nullptr) const;

  /// The step backwards, for one loss or several, which share what does not depend on them: from dL/d(next)
  /// to dL/d(state), the wrenches of this step and the model, whose geometry is complete after
  /// ContactDetector::finish_geometry() only. Throws std::logic_error for a record of a failed step.
  KinkCount step_vjp(const State& state, const Control& control, const State& next, const StepRecord& record,
                     std::span<const StepBar> bars, StepScratch& scratch) const;

  /// The JVPs of a step that was recorded, along one direction or several: from changes of the state, the
  /// wrenches and the model to d(next). Throws std::logic_error for a record of a failed step;
  /// std::invalid_argument for a step that an impact divided, whose time's derivative is known backwards
  /// only, and for push-out of kind "split".
  void step_jvp(const State& state, const Control& control, const State& next, const StepRecord& record,
                std::span<const StepDirection> directions, StepScratch& scratch) const;

  /// Whether step_jvp() knows the step; step_vjp() does either way.
  [[nodiscard]] bool has_jvp(const StepRecord& record) const;

  /// Contacts of a state whose activity is not zero, reduced where pairs ask for it. None if the state is not
  /// finite.
  void contacts(const State& state, StepScratch& scratch, ContactManifold& manifold) const;

  /// What the contacts of a recorded step did, overwritten; contacts of the state that it started from.
  /// Throws std::logic_error for a record of a failed step.
  void contact_forces(const State& state, const Control& control, const StepRecord& record,
                      StepScratch& scratch, std::vector<ContactForce>& forces) const;

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] const StepConfig& config() const { return config_; }
  [[nodiscard]] const ContactDetector& detector() const { return detector_; }
  /// tau_d [s] of materials that give none.
  [[nodiscard]] double default_dissipation_time() const { return solver_.law().default_dissipation_time(); }
  [[nodiscard]] double acceleration_scale() const { return acceleration_scale_; }
  /// For a substep of h seconds; all smoothing is that of the config's time step.
  [[nodiscard]] RowSettings row_settings(double h) const;
  [[nodiscard]] RowSettings row_settings() const { return row_settings(config_.h); }

  /// Of the whole step, substeps included: errors are taken back over that.
  [[nodiscard]] JointSettings joint_settings() const;

 private:
  using Impacts = ContactProblem::Impacts;
  [[nodiscard]] MotionLag lag_of(double h) const;
  using TimeBar = StepTimeBar;

  /// One solve over h seconds, as step().
  StepReport substep(const State& state, const Control& control, double h, Impacts impacts, State& next,
                     StepScratch& scratch, SubstepRecord* record) const;
  /// Fills the scratch with what a recorded substep was made of, derivatives of its contacts included.
  void restore(const State& state, const Control& control, const SubstepRecord& record, LinearizeFor what_for,
               StepScratch& scratch) const;
  /// As step_vjp(), after restore() and linearize_motion(); returns dL/d(its start, its length).
  TimeBar substep_vjp(const State& state, const Control& control, const State& next,
                      const SubstepRecord& record, const StepBar& bar, StepScratch& scratch) const;
  /// As step_jvp(), after restore(), linearize_motion() and IslandSolver::prepare_jvp().
  void substep_jvp(const State& state, const Control& control, const State& next, const SubstepRecord& record,
                   const StepDirection& direction, StepScratch& scratch) const;
  void linearize_motion(const State& state, const State& next, const SubstepRecord& record,
                        StepScratch& scratch) const;
  /// Its contact problem, when the scratch holds it: after restore().
  [[nodiscard]] ContactProblem problem_of(const SubstepRecord& record, const StepScratch& scratch) const;

  // substeps.cpp
  StepReport divided_step(const State& state, const Control& control, State& next, StepScratch& scratch,
                          StepRecord* record) const;
  bool stop_at_impact(const State& state, const Control& control, State& next, StepScratch& scratch,
                      double& h, StepReport& report, SubstepRecord* record) const;
  double impact_time_vjp(const State& state, const Control& control, const State& next,
                         const SubstepRecord& record, double h_bar, const StepBar& bar,
                         StepScratch& scratch) const;
  /// Adds those of the substep that was the last to be restored.
  void count_kinks(const SubstepRecord& record, StepScratch& scratch, KinkCount& kinks) const;
  bool find_impact_time(const State& state, const Control& control, const ContactFeature& feature,
                        StepScratch& scratch, double& h) const;
  [[nodiscard]] bool divides_steps() const { return config_.impact_substeps || config_.adaptive_substeps; }
  [[nodiscard]] Impacts impacts_of(SubstepRecord::Length length) const;
  /// [m/s] of any point of a body that others may touch, at the twist V.
  [[nodiscard]] double largest_speed(const State& state, int body, const Vec6<double>& V) const;

  const Model* model_;
  StepConfig config_;
  double acceleration_scale_;
  ContactDetector detector_;
  IslandSolver solver_;
};

/// Kinetic plus potential energy [J] of the bodies of finite mass (gravity and constant forces; not that of
/// contacts and joints).
[[nodiscard]] double mechanical_energy(const Model& model, const State& state);

}  // namespace abut
